package stateful

// Deferred is a value that is taken when Read is called, not when the handle was
// made: later writes of the same call show (S7, X8). Valid during the call only.
type Deferred[T any] struct{ read func() T }

// Read takes the value.
func (d Deferred[T]) Read() T { return d.read() }

// ReadLater says that Read will follow. It returns the same handle and changes
// nothing (S8).
func (d Deferred[T]) ReadLater() Deferred[T] { return d }

// Grouping is what a cell that values are added to is under any type: a bag or a
// combining cell (S19).
type Grouping[V, O any] interface {
	Add(v V)
	Read() O
	IsEmpty() Deferred[bool]
	Clear()
}

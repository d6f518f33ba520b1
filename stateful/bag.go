package stateful

import (
	"fmt"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/store"
)

// BagCell holds any number of T for each key and window, duplicates included, in no
// promised order (S13). Its methods show the key and window of the call they are
// used in.
type BagCell[T any] struct {
	bag   *bags
	coder coder.Coder[T]
	empty Deferred[bool]
}

// Bag declares a cell that values of T are added to. A coder may be given; else it
// is inferred, see coder.For.
func Bag[T any](d Declarer, name string, given ...coder.Coder[T]) *BagCell[T] {
	decl := d.declared()
	c := &BagCell[T]{coder: declareCoder(decl, name, given)}
	decl.add(name, func(p place) cell {
		c.bag = &bags{place: p, kind: "bag(" + c.coder.Name + ")"}
		return c.bag
	})
	c.empty = Deferred[bool]{func() bool { return c.bag.shown().count == 0 }}
	return c
}

// Add puts v in. v without an encoding fails the call.
func (c *BagCell[T]) Add(v T) {
	s := c.bag.changed()
	all, err := c.coder.AppendSized(s.all, v)
	if err != nil {
		c.bag.scope.refuse(fmt.Errorf("cell %q: %w", c.bag.name, err))
		return
	}
	s.all = all
	s.count++
}

// Read returns all values; the slice is the caller's.
func (c *BagCell[T]) Read() []T {
	s := c.bag.shown()
	list := make([]T, 0, s.count)
	for rest := s.all; len(rest) > 0; {
		v, left, err := c.coder.ReadSized(rest)
		if err != nil {
			c.bag.scope.refuse(fmt.Errorf("cell %q: %w", c.bag.name, err))
			return nil
		}
		list, rest = append(list, v), left
	}
	return list
}

// ReadLater says that Read will follow; it changes nothing (S8).
func (c *BagCell[T]) ReadLater() *BagCell[T] { return c }

// IsEmpty is whether there is no value, when it is read.
func (c *BagCell[T]) IsEmpty() Deferred[bool] { return c.empty }

// Clear removes all values.
func (c *BagCell[T]) Clear() { c.bag.changed().bagContents = bagContents{whole: true} }

// bags is a bag cell over encoded values.
type bags struct {
	place
	kind string
}

// bagContents are the values, sized, one after another.
type bagContents struct {
	all   []byte
	count int
	// saved of all are in the row already; whole: the row must be written anew.
	saved int
	whole bool
}

type bagSlot struct {
	track
	bagContents
	cell *bags
	// was is from before the call.
	was bagContents
	// put and merges tell of the row: bytes put and operands merged since.
	put, merges int
}

func (c *bags) format() string { return c.kind }

func (c *bags) shown() *bagSlot { return c.of(c.scope.show(c.name)) }

func (c *bags) of(e *entry) *bagSlot {
	if s := e.slots[c.slot]; s != nil {
		return s.(*bagSlot)
	}
	s := &bagSlot{track: track{entry: e}, cell: c}
	e.slots[c.slot] = s
	return s
}

// changed is the slot, about to change.
func (c *bags) changed() *bagSlot {
	s := c.shown()
	if c.scope.change(s) {
		s.was = s.bagContents
	}
	return s
}

func (c *bags) load(e *entry, _ string, r store.Row) error {
	s := c.of(e)
	s.stored, s.put, s.merges = true, len(r.Value), len(r.Merges)
	s.all = append(s.all, r.Value...)
	for _, m := range r.Merges {
		s.all = append(s.all, m...)
	}
	s.saved = len(s.all)
	for rest := s.all; len(rest) > 0; s.count++ {
		var err error
		if _, rest, err = coder.ReadSized(rest); err != nil {
			return err
		}
	}
	return nil
}

func (s *bagSlot) undo() { s.bagContents = s.was }

func (s *bagSlot) check() error { return nil }

func (s *bagSlot) keep() { s.was = bagContents{} }

// mergesMax operands, and more bytes in them than were put, and the row is written
// anew: so a row does not grow into a long list, and a byte is written twice at most
// on average.
const mergesMax = 32

func (s *bagSlot) save(r *rows) error {
	r.begin(s.entry, s.cell.prefix, "")
	news := s.all[s.saved:]
	switch {
	case s.count == 0:
		r.remove(&s.track)
	case !s.stored, s.whole, s.merges >= mergesMax && len(s.all) >= 2*s.put:
		r.put(&s.track, s.all)
		s.put, s.merges = len(s.all), 0
	case len(news) > 0:
		r.merge(&s.track, news)
		s.merges++
	}
	s.saved, s.whole = len(s.all), false
	return nil
}

func (s *bagSlot) vacant() bool { return s.count == 0 }

package stateful

import (
	"fmt"
	"reflect"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/store"
)

// ValueCell holds one value of T for each key and window, or none. Its methods show
// the key and window of the call they are used in.
type ValueCell[T any] struct {
	// Exactly one is set: plain where assignment copies a T, packed elsewhere.
	plain  *values[T]
	packed *values[[]byte]
	coder  coder.Coder[T]
}

// Value declares a cell that holds one T. A coder may be given; else it is inferred,
// see coder.For.
func Value[T any](d Declarer, name string, given ...coder.Coder[T]) *ValueCell[T] {
	t, decl := reflect.TypeFor[T](), d.declared()
	c := &ValueCell[T]{coder: declareCoder(decl, name, given)}
	decl.add(name, func(p place) cell {
		kind := "value(" + c.coder.Name + ")"
		if copies(t) {
			c.plain = &values[T]{place: p, kind: kind, coder: c.coder, sure: encodes(t, len(given) > 0)}
			return c.plain
		}
		c.packed = &values[[]byte]{place: p, kind: kind, coder: coder.Bytes(), sure: true}
		return c.packed
	})
	return c
}

// Read returns the value; ok false if there is none (S11).
func (c *ValueCell[T]) Read() (v T, ok bool) {
	if c.plain != nil {
		s := c.plain.shown()
		return s.value, s.set
	}
	s := c.packed.shown()
	if !s.set {
		return v, false
	}
	v, err := c.coder.Read(s.value)
	if err != nil {
		c.packed.scope.refuse(fmt.Errorf("cell %q: %w", c.packed.name, err))
		return v, false
	}
	return v, true
}

// ReadLater says that Read will follow; it changes nothing (S8).
func (c *ValueCell[T]) ReadLater() *ValueCell[T] { return c }

// Write replaces the value. v without an encoding fails the call.
func (c *ValueCell[T]) Write(v T) {
	if c.plain != nil {
		c.plain.put(v, true)
		return
	}
	packed, err := c.coder.Append(nil, v)
	if err != nil {
		c.packed.scope.refuse(fmt.Errorf("cell %q: %w", c.packed.name, err))
		return
	}
	c.packed.put(packed, true)
}

// Clear removes the value.
func (c *ValueCell[T]) Clear() {
	if c.plain != nil {
		var none T
		c.plain.put(none, false)
		return
	}
	c.packed.put(nil, false)
}

// values is a value cell over what is kept: T itself, or its encoding.
type values[S any] struct {
	place
	kind  string
	coder coder.Coder[S]
	// sure: the coder takes every S.
	sure    bool
	scratch []byte
}

type valueSlot[S any] struct {
	track
	cell  *values[S]
	value S
	set   bool
	// was and wasSet are from before the call.
	was    S
	wasSet bool
}

func (c *values[S]) format() string { return c.kind }

func (c *values[S]) shown() *valueSlot[S] { return c.of(c.scope.show(c.name)) }

func (c *values[S]) of(e *entry) *valueSlot[S] {
	if s := e.slots[c.slot]; s != nil {
		return s.(*valueSlot[S])
	}
	s := &valueSlot[S]{track: track{entry: e}, cell: c}
	e.slots[c.slot] = s
	return s
}

func (c *values[S]) put(v S, set bool) {
	s := c.shown()
	if c.scope.change(s) {
		s.was, s.wasSet = s.value, s.set
	}
	s.value, s.set = v, set
}

func (c *values[S]) load(e *entry, _ string, r store.Row) (err error) {
	s := c.of(e)
	s.set, s.stored = true, true
	s.value, err = c.coder.Read(r.Value)
	return err
}

func (s *valueSlot[S]) undo() { s.value, s.set = s.was, s.wasSet }

func (s *valueSlot[S]) check() (err error) {
	if c := s.cell; s.set && !c.sure {
		if c.scratch, err = c.coder.Append(c.scratch[:0], s.value); err != nil {
			return fmt.Errorf("cell %q: %w", c.name, err)
		}
	}
	return nil
}

func (s *valueSlot[S]) keep() {
	var none S
	s.was = none
}

func (s *valueSlot[S]) save(r *rows) error {
	r.begin(s.entry, s.cell.prefix, "")
	return saveValue(r, &s.track, s.cell.coder, s.value, s.set)
}

func (s *valueSlot[S]) vacant() bool { return !s.set }

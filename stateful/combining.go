package stateful

import (
	"fmt"
	"reflect"

	"github.com/gosluice/sluice/core/coder"
)

// CombiningCell holds an accumulator of a CombineFn for each key and window. Its
// methods show the key and window of the call they are used in.
type CombiningCell[V, A, O any] struct {
	sums  *sums[A]
	fn    CombineFn[V, A, O]
	empty Deferred[bool]
}

// Combining declares a cell that aggregates what is added to it with fn.
func Combining[V, A, O any](d Declarer, name string, fn CombineFn[V, A, O]) *CombiningCell[V, A, O] {
	decl, t := d.declared(), reflect.TypeFor[A]()
	if missing := fn.missing(); len(missing) > 0 {
		decl.problem("cell %q: its CombineFn lacks %v", name, missing)
	}
	own := fn.Coder.Append != nil
	fn, err := fn.coded()
	if err != nil {
		decl.problem("cell %q: accumulator: %w", name, err)
	}
	c := &CombiningCell[V, A, O]{fn: fn}
	decl.add(name, func(p place) cell {
		c.sums = &sums[A]{
			place: p, coder: fn.Coder, zero: fn.Zero, merge: fn.Merge,
			direct: copies(t), sure: encodes(t, own),
		}
		return c.sums
	})
	c.empty = Deferred[bool]{func() bool { return !c.sums.shown().has() }}
	return c
}

// Add takes v in, without a read (S9). What v refers to must not change afterwards.
func (c *CombiningCell[V, A, O]) Add(v V) { c.fn.Add(c.sums.target(), v) }

// AddAccum takes an accumulator in. What a refers to must not change afterwards.
func (c *CombiningCell[V, A, O]) AddAccum(a A) { c.fn.Merge(c.sums.target(), a) }

// Read is the result of what was added; of nothing, that of an empty accumulator
// (S14).
func (c *CombiningCell[V, A, O]) Read() O { return c.fn.Out(c.GetAccum()) }

// ReadLater says that Read will follow; it changes nothing (S8).
func (c *CombiningCell[V, A, O]) ReadLater() *CombiningCell[V, A, O] { return c }

// GetAccum is the accumulator, an empty one if nothing was added (S15). It is the
// caller's.
func (c *CombiningCell[V, A, O]) GetAccum() A {
	a, err := c.sums.copy(c.sums.shown())
	if err != nil {
		c.sums.scope.refuse(fmt.Errorf("cell %q: %w", c.sums.name, err))
		return c.fn.Zero()
	}
	return a
}

// MergeAccumulators merges accumulators into a new one; the cell is not touched
// (S16).
func (c *CombiningCell[V, A, O]) MergeAccumulators(list ...A) A {
	merged := c.fn.Zero()
	for _, a := range list {
		c.fn.Merge(&merged, a)
	}
	return merged
}

// IsEmpty is whether nothing was added since the last Clear, whatever the result,
// when it is read (S17).
func (c *CombiningCell[V, A, O]) IsEmpty() Deferred[bool] { return c.empty }

// Clear forgets what was added.
func (c *CombiningCell[V, A, O]) Clear() { c.sums.clear() }

// sums is a combining cell over accumulators of A.
//
// Where an assignment copies an accumulator (direct), a call changes it in place and
// the old one is kept for undo. Elsewhere a copy for every call would cost as much
// as the accumulator is long: the call gathers what it adds in an accumulator of its
// own (fresh), which is merged when the call has succeeded; and a read takes a copy.
type sums[A any] struct {
	place
	coder   coder.Coder[A]
	zero    func() A
	merge   func(*A, A)
	direct  bool
	sure    bool // the coder takes every A
	scratch []byte
}

type sumSlot[A any] struct {
	track
	cell *sums[A]
	sumContents[A]
	// was is from before the call, where direct.
	was sumContents[A]
	// fresh and cleared are what the call did, elsewhere.
	fresh   sumContents[A]
	cleared bool
}

// sumContents is an accumulator; some: something was added.
type sumContents[A any] struct {
	acc  A
	some bool
}

func (c *sums[A]) format() string { return "combining(" + c.coder.Name + ")" }

func (c *sums[A]) shown() *sumSlot[A] { return c.of(c.scope.show(c.name)) }

func (c *sums[A]) of(e *entry) *sumSlot[A] {
	if s := e.slots[c.slot]; s != nil {
		return s.(*sumSlot[A])
	}
	s := &sumSlot[A]{track: track{entry: e}, cell: c, sumContents: sumContents[A]{acc: c.zero()}}
	e.slots[c.slot] = s
	return s
}

// changed is the slot, about to change.
func (c *sums[A]) changed() *sumSlot[A] {
	s := c.shown()
	if c.scope.change(s) {
		if c.direct {
			s.was = s.sumContents
		} else {
			s.fresh, s.cleared = sumContents[A]{acc: c.zero()}, false
		}
	}
	return s
}

// target is the accumulator that the call adds to.
func (c *sums[A]) target() *A {
	s := c.changed()
	if c.direct {
		s.some = true
		return &s.acc
	}
	s.fresh.some = true
	return &s.fresh.acc
}

func (c *sums[A]) clear() {
	s, none := c.changed(), sumContents[A]{acc: c.zero()}
	if c.direct {
		s.sumContents = none
	} else {
		s.fresh, s.cleared = none, true
	}
}

// has says that s is not empty, the call's changes included.
func (s *sumSlot[A]) has() bool { return s.fresh.some || s.some && !s.cleared }

// copy is s's accumulator with the call's changes, sharing nothing with it.
func (c *sums[A]) copy(s *sumSlot[A]) (A, error) {
	if c.direct {
		return s.acc, nil
	}
	parts := [2]sumContents[A]{s.sumContents, s.fresh}
	if s.cleared {
		parts[0].some = false
	}
	all := c.zero()
	for _, p := range parts {
		if !p.some {
			continue
		}
		var err error
		if c.scratch, err = c.coder.Append(c.scratch[:0], p.acc); err != nil {
			return all, err
		}
		part, err := c.coder.Read(c.scratch)
		if err != nil {
			return all, err
		}
		c.merge(&all, part)
	}
	return all, nil
}

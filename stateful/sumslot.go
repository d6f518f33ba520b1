package stateful

import (
	"fmt"

	"github.com/gosluice/sluice/core/store"
)

func (c *sums[A]) load(e *entry, _ string, r store.Row) (err error) {
	s := c.of(e)
	s.some, s.stored = true, true
	s.acc, err = c.coder.Read(r.Value)
	return err
}

func (s *sumSlot[A]) undo() {
	if s.cell.direct {
		s.sumContents = s.was
	}
	s.forget()
}

// forget drops what belongs to the call.
func (s *sumSlot[A]) forget() {
	s.was, s.fresh, s.cleared = sumContents[A]{}, sumContents[A]{}, false
}

// check sees that what the call has added can be encoded.
func (s *sumSlot[A]) check() (err error) {
	c, part := s.cell, &s.fresh
	if c.direct {
		part = &s.sumContents
	}
	if part.some && !c.sure {
		if c.scratch, err = c.coder.Append(c.scratch[:0], part.acc); err != nil {
			return fmt.Errorf("cell %q: %w", c.name, err)
		}
	}
	return nil
}

func (s *sumSlot[A]) keep() {
	if !s.cell.direct {
		if s.cleared {
			s.sumContents = sumContents[A]{acc: s.cell.zero()}
		}
		switch {
		case s.fresh.some && s.some:
			s.cell.merge(&s.acc, s.fresh.acc)
		case s.fresh.some:
			s.sumContents = s.fresh
		}
	}
	s.forget()
}

func (s *sumSlot[A]) save(r *rows) error {
	r.begin(s.entry, s.cell.prefix, "")
	return saveValue(r, &s.track, s.cell.coder, s.acc, s.some)
}

func (s *sumSlot[A]) vacant() bool { return !s.some }

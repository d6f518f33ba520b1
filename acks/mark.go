package acks

import (
	"errors"
	"fmt"
	"slices"
	"sort"
)

// Errors of marks.
var (
	// ErrMark says that a mark contradicts itself or that its bytes are not one.
	ErrMark = errors.New("acks: not a mark")
	// ErrRegress says that a mark would take back what an earlier one committed.
	ErrRegress = errors.New("acks: mark regresses")
)

// Span is the positions First to Last, both included.
type Span struct{ First, Last Position }

// Mark says which positions of one channel are committed: every position up to
// Floor except Holes, and beyond Floor only those in Ahead. A position at which
// the channel holds nothing counts as committed. The zero Mark commits nothing.
//
// Marks are values: those of a ledger are copies that the caller may keep.
type Mark struct {
	// Floor is at most MaxPosition.
	Floor Position
	// Holes are increasing, in 1..Floor.
	Holes []Position
	// Ahead are increasing and do not touch one another or Floor.
	Ahead []Span
}

// Has says whether pos is committed.
func (m Mark) Has(pos Position) bool {
	if pos <= m.Floor {
		return !m.hole(pos)
	}
	i := sort.Search(len(m.Ahead), func(i int) bool { return m.Ahead[i].Last >= pos })
	return i < len(m.Ahead) && m.Ahead[i].First <= pos
}

func (m Mark) hole(pos Position) bool {
	if len(m.Holes) == 0 {
		return false
	}
	_, found := slices.BinarySearch(m.Holes, pos)
	return found
}

// top is the highest committed position.
func (m Mark) top() Position {
	if n := len(m.Ahead); n > 0 {
		return m.Ahead[n-1].Last
	}
	return m.Floor
}

// Validate returns an [ErrMark] that says what is wrong, nil if nothing is.
func (m Mark) Validate() error {
	if m.Floor > MaxPosition {
		return fmt.Errorf("%w: floor %d is too high", ErrMark, m.Floor)
	}
	var last Position
	for _, h := range m.Holes {
		if h <= last || h > m.Floor {
			return fmt.Errorf("%w: hole %d after %d with floor %d", ErrMark, h, last, m.Floor)
		}
		last = h
	}
	last = m.Floor
	for _, s := range m.Ahead {
		if s.First <= last+1 || s.Last < s.First || s.Last > MaxPosition {
			return fmt.Errorf("%w: span %d-%d after %d", ErrMark, s.First, s.Last, last)
		}
		last = s.Last
	}
	return nil
}

// Follows returns an [ErrRegress] if anything that prev committed is not
// committed by m, nil otherwise. A store that replaces prev by m asks it first:
// an empty mark never replaces another.
func (m Mark) Follows(prev Mark) error {
	if m.Floor < prev.Floor {
		return fmt.Errorf("%w: floor %d after %d", ErrRegress, m.Floor, prev.Floor)
	}
	for _, h := range m.Holes {
		if prev.Has(h) {
			return fmt.Errorf("%w: position %d was committed", ErrRegress, h)
		}
	}
	for _, s := range prev.Ahead {
		if s.Last > m.Floor && !m.covers(max(s.First, m.Floor+1), s.Last) {
			return fmt.Errorf("%w: positions %d to %d were committed", ErrRegress, s.First, s.Last)
		}
	}
	return nil
}

// covers says whether first..last, beyond the floor, lies in one span.
func (m Mark) covers(first, last Position) bool {
	i := sort.Search(len(m.Ahead), func(i int) bool { return m.Ahead[i].Last >= last })
	return i < len(m.Ahead) && m.Ahead[i].First <= first
}

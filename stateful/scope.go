package stateful

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
)

// scope is the one entry that the cells of a worker show, with what the call that
// is running has done to it.
type scope struct {
	entry *entry
	// calls numbers the calls, attempts of one element included.
	calls   uint64
	touched []change
	// dirty are the changes whose rows are out of date, in the order they got so.
	dirty []change
	// finalizers were registered by the call: they count if it does (F4).
	finalizers []finalizer
	// err is the first thing the call asked for that was refused.
	err error
	moment
}

// moment is where a call stands in event time: what timers need to know.
type moment struct {
	// watermark is the input's: "now" of a relative timer (X2).
	watermark event.Time
	// at is the time of the element, or the output timestamp of the timer.
	at event.Time
	// expiry is gc(W).
	expiry event.Time
	// from says what is being called.
	from caller
}

type caller uint8

const (
	anElement caller = iota
	aTimer
	anExpiration
)

type finalizer struct {
	expiry time.Duration
	run    func(context.Context) error
}

// begin shows e to the cells for one attempt of a call; what an earlier attempt
// did is undone.
func (s *scope) begin(e *entry, m moment) {
	s.undo()
	s.entry, s.moment = e, m
	s.calls++
}

// change notes that the call changes x; first: it had not before.
func (s *scope) change(x change) (first bool) {
	t := x.tracked()
	if t.call == s.calls {
		return false
	}
	t.call = s.calls
	s.touched = append(s.touched, x)
	return true
}

// refuse makes the call fail: it cannot succeed by trying again.
func (s *scope) refuse(err error) {
	if s.err == nil {
		s.err = fault.As(fault.Permanent, err)
	}
}

// check is the reason why the call's changes cannot be kept, nil if there is none.
func (s *scope) check() error {
	for _, x := range s.touched {
		if s.err != nil {
			break
		}
		if err := x.check(); err != nil {
			s.refuse(err)
		}
	}
	return s.err
}

// keep ends a call that succeeded.
func (s *scope) keep() {
	for i, x := range s.touched {
		x.keep()
		s.soil(x)
		s.touched[i] = nil
	}
	s.touched, s.entry = s.touched[:0], nil
}

// soil notes that x's row is out of date.
func (s *scope) soil(x change) {
	if t := x.tracked(); !t.dirty {
		t.dirty = true
		s.dirty = append(s.dirty, x)
	}
}

// undo ends a call that failed.
func (s *scope) undo() {
	for i, x := range s.touched {
		x.undo()
		s.touched[i] = nil
	}
	s.touched, s.finalizers = s.touched[:0], s.finalizers[:0]
	s.entry, s.err = nil, nil
}

// show is the entry that cell name shows.
func (s *scope) show(name string) *entry {
	if s.entry == nil {
		panic(fmt.Sprintf("stateful: cell %q is used outside of an element, a timer and a window's expiration: it belongs to no key there", name))
	}
	return s.entry
}

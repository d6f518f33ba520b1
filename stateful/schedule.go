package stateful

import (
	"cmp"
	"strings"

	"github.com/gosluice/sluice/core/event"
)

// schedule holds the timers of a worker that are set, in two orders: which fires
// first, and which holds the output watermark most.
type schedule struct {
	by [orders][]*timer
	// stopped counts sets that were ignored to end a loop.
	stopped int
}

// order is one of the two; each is a binary heap in which every timer knows its
// place, so that it can be set again and cleared.
type order int

const (
	byTime order = iota
	byHold
	orders
)

// first is the timer that fires next, nil if none is set.
func (s *schedule) first() *timer {
	if len(s.by[byTime]) == 0 {
		return nil
	}
	return s.by[byTime][0]
}

// hold is the least output timestamp (T18).
func (s *schedule) hold() event.Time {
	if len(s.by[byHold]) == 0 {
		return event.Max
	}
	return min(s.by[byHold][0].output, event.Max)
}

// change makes x stand as next says.
func (s *schedule) change(x *timer, next timerState) {
	was := x.timerState.set
	x.timerState = next
	for o := range orders {
		switch {
		case was && next.set:
			s.settle(o, x.index[o])
		case was:
			s.remove(o, x.index[o])
		case next.set:
			s.by[o] = append(s.by[o], x)
			s.settle(o, len(s.by[o])-1)
		}
	}
}

func (s *schedule) remove(o order, i int) {
	h := s.by[o]
	last := len(h) - 1
	h[i] = h[last]
	h[last] = nil
	s.by[o] = h[:last]
	if i < last {
		s.settle(o, i)
	}
}

// settle moves the timer at i up or down to where it belongs.
func (s *schedule) settle(o order, i int) {
	h, x := s.by[o], s.by[o][i]
	for i > 0 {
		parent := (i - 1) / 2
		if !o.before(x, h[parent]) {
			break
		}
		h[i] = h[parent]
		h[i].index[o] = i
		i = parent
	}
	for {
		child := 2*i + 1
		if child+1 < len(h) && o.before(h[child+1], h[child]) {
			child++
		}
		if child >= len(h) || !o.before(h[child], x) {
			break
		}
		h[i] = h[child]
		h[i].index[o] = i
		i = child
	}
	h[i] = x
	x.index[o] = i
}

// before orders timers without regard to when they were set or loaded, so that a
// restart changes nothing.
func (o order) before(a, b *timer) bool {
	if o == byHold {
		return a.output < b.output
	}
	if a.at != b.at {
		return a.at < b.at
	}
	return cmp.Or(
		a.entry.pane.window.Compare(b.entry.pane.window),
		strings.Compare(a.entry.encoded, b.entry.encoded),
		strings.Compare(a.cell.name, b.cell.name),
		strings.Compare(a.tag, b.tag),
	) < 0
}

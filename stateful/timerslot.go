package stateful

import (
	"encoding/binary"
	"fmt"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
)

// timerCell is a declared timer or family: the cell behind a [Timer].
type timerCell struct {
	place
	kind     string
	schedule *schedule
	// fire calls the user, with the context and output of the declaration.
	fire func() error
}

// timerSlot is what a timer cell keeps for one entry: the timer without a tag, and
// those with one.
type timerSlot struct {
	only   *timer
	tagged map[string]*timer
}

// timer is one timer of one entry.
type timer struct {
	track
	cell *timerCell
	tag  string
	// timerState is how it stands, next what the call makes of it.
	timerState
	next timerState
	// index is its place in the two orders of the schedule, where it is set.
	index [orders]int
	// again counts how often it was set by a timer when the window was over.
	again int
}

// timerState says whether and for when a timer is set, and its output timestamp.
type timerState struct {
	set        bool
	at, output event.Time
}

func (c *timerCell) format() string { return c.kind }

func (c *timerCell) of(e *entry, tag string) *timer {
	s, _ := e.slots[c.slot].(*timerSlot)
	if s == nil {
		s = &timerSlot{}
		e.slots[c.slot] = s
	}
	if tag == "" {
		if s.only == nil {
			s.only = &timer{track: track{entry: e}, cell: c}
		}
		return s.only
	}
	x := s.tagged[tag]
	if x == nil {
		if s.tagged == nil {
			s.tagged = map[string]*timer{}
		}
		x = &timer{track: track{entry: e}, cell: c, tag: tag}
		s.tagged[tag] = x
	}
	return x
}

// change is the timer of the entry shown, about to change.
func (c *timerCell) change(tag string) *timer {
	x := c.of(c.scope.show(c.name), tag)
	if c.scope.change(x) {
		x.next = x.timerState
	}
	return x
}

// againMax is how often a timer is set again when time in its window has come to an
// end, or will not come to one: without a limit a timer that keeps setting itself
// would never let a drain finish (T28, T30).
const againMax = 100

// set makes s what the timer will be.
func (x *timer) set(s timerState, m *moment) {
	endless := s.at >= m.expiry || x.entry.pane.window.End > event.EndOfGlobalWindow
	if m.from == aTimer && m.watermark > m.expiry && endless {
		if x.again++; x.again > againMax {
			x.cell.schedule.stopped++
			s = timerState{}
		}
	}
	x.next = s
}

func (x *timer) undo() {
	if !x.timerState.set && !x.stored && !x.dirty {
		x.forget()
	}
}

func (x *timer) check() error { return nil }
func (x *timer) keep()        { x.cell.schedule.change(x, x.next) }

// timerRowBytes: the time, then the output timestamp.
const timerRowBytes = 8 + 8

func (x *timer) save(r *rows) error {
	r.begin(x.entry, x.cell.prefix, x.tag)
	if !x.timerState.set {
		r.remove(&x.track)
		x.forget()
		return nil
	}
	r.value = binary.BigEndian.AppendUint64(r.value[:0], uint64(x.at))
	r.value = binary.BigEndian.AppendUint64(r.value, uint64(x.output))
	r.put(&x.track, r.value)
	return nil
}

// forget drops a tagged timer that is not set: tags may be many.
func (x *timer) forget() {
	if x.tag != "" {
		delete(x.entry.slots[x.cell.slot].(*timerSlot).tagged, x.tag)
	}
}

func (c *timerCell) load(e *entry, tag string, r store.Row) error {
	if len(r.Value) != timerRowBytes {
		return fmt.Errorf("timer %q: row of %d bytes, want %d: %w", c.name, len(r.Value), timerRowBytes, store.ErrDamaged)
	}
	x := c.of(e, tag)
	x.stored = true
	c.schedule.change(x, timerState{
		set:    true,
		at:     event.Time(binary.BigEndian.Uint64(r.Value)),
		output: event.Time(binary.BigEndian.Uint64(r.Value[8:])),
	})
	return nil
}

// vacant: no timer is set. Tagged ones that are not set go when they are saved.
func (s *timerSlot) vacant() bool {
	return (s.only == nil || !s.only.timerState.set) && len(s.tagged) == 0
}

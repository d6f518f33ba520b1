package stateful

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
)

// Timer is a declared timer, or one of a family: for each key and window it is set
// for one time or not set (T2). What a call does to a timer takes effect when the
// call has succeeded; its last word counts (T4). Timers cannot be set in
// OnWindowExpiration (L9).
type Timer struct {
	cell *timerCell
	tag  string
}

// TimerFunc is called when a timer fires. Its error belongs to no element: the epoch
// is abandoned and done again, or the run ends where the error is fault.Permanent.
type TimerFunc[K, O any] = func(ctx TimerContext[K], out *core.Out[O]) error

// EventTimer declares a timer in event time: it fires when the watermark has passed
// the time it is set for (X1). By then it is no longer set; fire may set it again
// (T9), which needs a variable declared before:
//
//	var every stateful.Timer
//	every = stateful.EventTimer(d, "every", func(…) error { every.SetRelative(time.Minute); … })
func EventTimer[K, V, O any](d *Decl[K, V, O], name string, fire TimerFunc[K, O]) Timer {
	return Timer{cell: declareTimers(d, name, "timer(event)", fire)}
}

// TimerFamily is any number of timers with one callback, told apart by their tags
// (T1).
type TimerFamily struct{ cell *timerCell }

// EventTimerFamily declares a family of timers in event time.
func EventTimerFamily[K, V, O any](d *Decl[K, V, O], name string, fire TimerFunc[K, O]) TimerFamily {
	return TimerFamily{declareTimers(d, name, "timers(event)", fire)}
}

// Tag is the family's timer of that tag.
func (f TimerFamily) Tag(tag string) Timer { return Timer{f.cell, tag} }

// SetTag is Tag(tag).Set(at).
func (f TimerFamily) SetTag(tag string, at event.Time) { f.Tag(tag).Set(at) }

func declareTimers[K, V, O any](d *Decl[K, V, O], name, kind string, fire TimerFunc[K, O]) *timerCell {
	if fire == nil {
		d.problem("timer %q has no callback", name)
	}
	var c *timerCell
	d.add(name, func(p place) cell {
		c = &timerCell{place: p, kind: kind, schedule: d.timers, fire: func() error { return fire(d.ctx, d.out) }}
		return c
	})
	return c
}

// Set sets the timer for at; a time the watermark has passed fires as soon as it
// can (T12). Past the window's expiry it fails the call (T11).
func (t Timer) Set(at event.Time) { Setting{timer: t}.Set(at) }

// SetRelative sets the timer for offset after the input watermark (X2), but not past
// the window's expiry (T13).
func (t Timer) SetRelative(offset time.Duration) { Setting{timer: t, offset: offset}.SetRelative() }

// Clear unsets the timer, set or not (T4).
func (t Timer) Clear() { t.cell.change(t.tag).next = timerState{} }

// Offset begins a setting, see [Setting.Offset].
func (t Timer) Offset(d time.Duration) Setting { return Setting{timer: t}.Offset(d) }

// Align begins a setting on a grid, see [Setting.Align].
func (t Timer) Align(period time.Duration) Setting { return Setting{timer: t}.Align(period) }

// WithOutputTimestamp begins a setting, see [Setting.WithOutputTimestamp].
func (t Timer) WithOutputTimestamp(at event.Time) Setting {
	return Setting{timer: t}.WithOutputTimestamp(at)
}

// WithNoOutputTimestamp begins a setting, see [Setting.WithNoOutputTimestamp].
func (t Timer) WithNoOutputTimestamp() Setting { return Setting{timer: t}.WithNoOutputTimestamp() }

// Setting is how a timer is about to be set. It is a value: each method returns a
// changed copy, and nothing is kept from one set to the next (T23).
type Setting struct {
	timer  Timer
	offset time.Duration
	period time.Duration
	// grid: Align was called. output and none: there is an explicit output timestamp,
	// or none.
	grid, output, none bool
	outputAt           event.Time
}

// Offset is what SetRelative adds to the watermark; with Align it moves the grid
// back (T14).
func (s Setting) Offset(d time.Duration) Setting {
	s.offset = d
	return s
}

// Align has SetRelative take the next time on a grid: the next multiple of period
// since 1970, minus the offset, from the watermark on (T14).
func (s Setting) Align(period time.Duration) Setting {
	s.period, s.grid = period, true
	return s
}

// WithOutputTimestamp is where the timer's outputs stand, and what the output
// watermark does not pass while the timer is set (T18); the default is the time it
// fires (T16). It lies between the element's or timer's own time and the window's
// expiry (T17).
func (s Setting) WithOutputTimestamp(at event.Time) Setting {
	s.outputAt, s.output, s.none = at, true, false
	return s
}

// WithNoOutputTimestamp lets the watermark pass: the timer can emit nothing (T19).
func (s Setting) WithNoOutputTimestamp() Setting {
	s.output, s.none = false, true
	return s
}

// noOutput is the output timestamp of a timer that has none.
const noOutput = event.Max + 1

// Set sets the timer for at; Offset and Align have no meaning then and fail the call.
func (s Setting) Set(at event.Time) {
	if s.grid || s.offset != 0 {
		s.refuse("Set takes a time; Offset and Align go with SetRelative")
		return
	}
	c := s.timer.cell
	c.scope.show(c.name)
	if expiry := c.scope.expiry; at > expiry {
		s.refuse("target %v is past the window's expiration %v (T11)", at, expiry)
		return
	}
	s.set(at)
}

// SetRelative sets the timer relative to the watermark, but not past the window's
// expiry (T13, T14).
func (s Setting) SetRelative() {
	c := s.timer.cell
	c.scope.show(c.name)
	at := c.scope.watermark.Add(s.offset)
	if s.grid {
		if s.period < time.Microsecond {
			s.refuse("period %v of Align is shorter than a microsecond", s.period)
			return
		}
		at = align(c.scope.watermark, s.period, s.offset)
	}
	s.set(min(at, c.scope.expiry))
}

// align is now, or the next time after it that lies offset before a multiple of
// period. Remainders are never negative (X13).
func align(now event.Time, period, offset time.Duration) event.Time {
	p := period.Microseconds()
	r := (floorMod(int64(now), p) + floorMod(offset.Microseconds(), p)) % p
	if r == 0 {
		return now
	}
	return now.Add(time.Duration(p-r) * time.Microsecond)
}

func floorMod(a, m int64) int64 { return (a%m + m) % m }

// set sets the timer for at if its output timestamp is in range.
func (s Setting) set(at event.Time) {
	c := s.timer.cell
	m := &c.scope.moment
	output := at
	switch {
	case s.none:
		output = noOutput
	case s.output:
		output = s.outputAt
	}
	switch {
	case m.from == anExpiration:
		s.refuse("cannot be set in OnWindowExpiration (L9)")
	case s.output && (output < m.at || output > m.expiry):
		s.refuse("output timestamp %v is not between the time of what sets it, %v, and the window's expiration %v (T17)", output, m.at, m.expiry)
	default:
		c.change(s.timer.tag).set(timerState{set: true, at: at, output: output}, m)
	}
}

func (s Setting) refuse(format string, args ...any) {
	c := s.timer.cell
	name := fmt.Sprintf("timer %q", c.name)
	if s.timer.tag != "" {
		name += fmt.Sprintf(" tag %q", s.timer.tag)
	}
	c.scope.refuse(fmt.Errorf(name+": "+format, args...))
}

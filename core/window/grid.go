package window

import (
	"errors"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
)

// grid is the row of instants at which windows start: offset + k*step, for every
// integer k. Lengths are counts of event time's unit.
type grid struct {
	step, offset event.Time
}

func gridOf(step, offset time.Duration) grid {
	return grid{step: units(step), offset: units(offset)}
}

// back is how far the latest start at or before t lies behind t: 0 to step-1. It
// floors, for negative t too (L1).
func (g grid) back(t event.Time) event.Time {
	return floorMod(floorMod(t, g.step)-g.offset, g.step)
}

func floorMod(a, n event.Time) event.Time {
	r := a % n
	if r < 0 {
		r += n
	}
	return r
}

// span is the window of the given size that starts back before t, or after t
// where back is negative, cut to the global window. t must lie inside that.
func span(t, back, size event.Time) Window {
	return Window{
		Start: min(plus(t, -back), event.EndOfGlobalWindow),
		End:   plus(t, size-back),
	}
}

// plus adds without overflow, cut to the bounds of the global window. t must lie
// inside them and d be a sum of at most two durations.
func plus(t, d event.Time) event.Time {
	switch {
	case d > 0 && t > GlobalWindow.End-d:
		return GlobalWindow.End
	case d < 0 && t < GlobalWindow.Start-d:
		return GlobalWindow.Start
	}
	return t + d
}

// inside cuts t to the global window.
func inside(t event.Time) event.Time {
	return min(max(t, event.Min), event.EndOfGlobalWindow)
}

func units(d time.Duration) event.Time { return event.Time(d.Microseconds()) }

// checkLength wants a positive number of whole units.
func checkLength(what string, d time.Duration) error {
	if d <= 0 || d%time.Microsecond != 0 {
		return fmt.Errorf("%s %v: must be a positive number of whole microseconds", what, d)
	}
	return nil
}

// checkOffset wants whole units in [0, step).
func checkOffset(offset time.Duration, stepName string, step time.Duration) error {
	if offset < 0 || offset >= step || offset%time.Microsecond != 0 {
		return fmt.Errorf("offset %v: must be whole microseconds, at least 0 and less than the %s %v",
			offset, stepName, step)
	}
	return nil
}

// invalid joins the problems of f, nil if there is none.
func invalid(f Fn, problems ...error) error {
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("window: %v: %w", f, err)
	}
	return nil
}

func offsetSuffix(offset time.Duration) string {
	if offset == 0 {
		return ""
	}
	return fmt.Sprintf(" offset %v", offset)
}

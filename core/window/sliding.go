package window

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
)

// slidingWindowsMax limits how many windows one element may fall into: an element
// is copied once per window, so a period mistaken for another unit would not end.
const slidingWindowsMax = 100_000

type sliding struct {
	size, period, offset time.Duration
}

// Sliding is the window function with a window of the given size starting every
// period, at offset + k*period (L2). A timestamp lies in up to ⌈size/period⌉
// windows; in none when it falls into a gap, which there is where period > size.
//
// All three are whole microseconds, size and period positive, 0 <= offset < period,
// and size/period at most 100,000.
func Sliding(size, period, offset time.Duration) Fn {
	return sliding{size: size, period: period, offset: offset}
}

func (s sliding) grid() grid { return gridOf(s.period, s.offset) }

func (s sliding) Assign(dst []Window, t event.Time) []Window {
	t = inside(t)
	size, period := units(s.size), units(s.period)
	latest := s.grid().back(t)
	for back := earliest(latest, size, period); back >= latest; back -= period {
		dst = append(dst, span(t, back, size))
	}
	return dst
}

// MapSide returns the earliest window that contains the main window's Max (W5).
// Where that falls into a gap, it is the next window after the gap, so that a
// gate waits longer rather than shorter.
func (s sliding) MapSide(main Window) (Window, error) {
	if main == GlobalWindow {
		return Window{}, fmt.Errorf("window: %v: %w", s, ErrGlobalMain)
	}
	t := inside(main.Max())
	size, period := units(s.size), units(s.period)
	return span(t, earliest(s.grid().back(t), size, period), size), nil
}

// earliest is how far the earliest start after t-size lies behind t, where the
// latest start at or before t lies latest behind it. In a gap that start is after
// t: the result is negative.
func earliest(latest, size, period event.Time) event.Time {
	if latest >= size {
		return latest - period
	}
	return latest + (size-1-latest)/period*period
}

func (sliding) Merging() bool { return false }

func (s sliding) Validate() error {
	sizeErr, periodErr := checkLength("size", s.size), checkLength("period", s.period)
	if periodErr != nil {
		return invalid(s, sizeErr, periodErr)
	}
	var manyErr error
	if s.size/s.period > slidingWindowsMax {
		manyErr = fmt.Errorf("size %v every %v: an element would lie in more than %d windows",
			s.size, s.period, slidingWindowsMax)
	}
	return invalid(s, sizeErr, manyErr, checkOffset(s.offset, "period", s.period))
}

func (s sliding) String() string {
	return fmt.Sprintf("sliding(%v every %v%s)", s.size, s.period, offsetSuffix(s.offset))
}

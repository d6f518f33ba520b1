package window

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
)

type fixed struct {
	size, offset time.Duration
}

// Fixed is the window function that cuts event time into windows of one size,
// starting at whole multiples of it since 1970 (L1). The size is a positive number of
// whole microseconds.
func Fixed(size time.Duration) Fn { return FixedWithOffset(size, 0) }

// FixedWithOffset is [Fixed] with every start moved by offset: windows start at
// offset + k*size. The offset is whole microseconds, 0 <= offset < size.
func FixedWithOffset(size, offset time.Duration) Fn {
	return fixed{size: size, offset: offset}
}

func (f fixed) Assign(dst []Window, t event.Time) []Window { return append(dst, f.of(t)) }

// MapSide returns the window that contains the main window's Max (W5).
func (f fixed) MapSide(main Window) (Window, error) {
	if main == GlobalWindow {
		return Window{}, fmt.Errorf("window: %v: %w", f, ErrGlobalMain)
	}
	return f.of(main.Max()), nil
}

// of returns the window of t. The first and the last one are shorter.
func (f fixed) of(t event.Time) Window {
	t = inside(t)
	return span(t, gridOf(f.size, f.offset).back(t), units(f.size))
}

func (fixed) Merging() bool { return false }

func (f fixed) Validate() error {
	if err := checkLength("size", f.size); err != nil {
		return invalid(f, err)
	}
	return invalid(f, checkOffset(f.offset, "size", f.size))
}

func (f fixed) String() string {
	return fmt.Sprintf("fixed(%v%s)", f.size, offsetSuffix(f.offset))
}

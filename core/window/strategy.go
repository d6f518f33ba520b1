package window

import (
	"errors"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
)

// Strategy is how a PCollection is windowed: the function and how long after a
// window's end elements of it are still taken.
type Strategy struct {
	Fn              Fn
	AllowedLateness time.Duration
}

// Expired says that w is past its expiry at watermark wm: gc(W) < wm, strictly
// (L5). An element of w is kept at wm = gc(W) and dropped one unit later; the
// window's state is collected at the same moment (X10, X11).
func (s Strategy) Expired(w Window, wm event.Time) bool {
	return w.Expiry(s.AllowedLateness) < wm
}

// Validate lists what is wrong with the strategy; nil if nothing.
func (s Strategy) Validate() error {
	var late error
	if s.AllowedLateness < 0 {
		late = fmt.Errorf("window: allowed lateness %v: must not be negative", s.AllowedLateness)
	}
	return errors.Join(Validate(s.Fn), late)
}

// String prints the function, and the allowed lateness where there is one.
func (s Strategy) String() string {
	switch {
	case s.Fn == nil:
		return "no window function"
	case s.AllowedLateness == 0:
		return s.Fn.String()
	}
	return fmt.Sprintf("%v, lateness %v", s.Fn, s.AllowedLateness)
}

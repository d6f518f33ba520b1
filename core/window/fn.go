package window

import (
	"errors"

	"github.com/gosluice/sluice/core/event"
)

// ErrGlobalMain is what [Fn.MapSide] of a function other than [Global] says to a
// main input in the global window: no window of a signal corresponds to it (W5).
var ErrGlobalMain = errors.New("side input window for GlobalWindow from non-global WindowFn")

// Fn assigns windows to timestamps. Implementations are values without state,
// safe for concurrent use. A constructor takes any parameters, so that it can be
// written inline in a graph; [Validate] judges them before the first Assign.
type Fn interface {
	// Assign appends the windows of t to dst, earliest first, and returns it. It
	// may append none: t lies in a gap between windows.
	Assign(dst []Window, t event.Time) []Window
	// MapSide returns the window of this function that a main input's window
	// corresponds to, where this function is that of a signal or side input (W5).
	// It fails with [ErrGlobalMain] where there is none.
	MapSide(main Window) (Window, error)
	// Merging says that windows of one key merge (sessions).
	Merging() bool
	// Validate lists what is wrong with the function's parameters; nil if nothing.
	// The other methods of an invalid function may panic.
	Validate() error
	// String names the function and its parameters; two functions with equal
	// strings assign equal windows. It is valid for an invalid function too.
	String() string
}

// Validate says what is wrong with f, a missing function included; nil if nothing.
func Validate(f Fn) error {
	if f == nil {
		return errors.New("window: no window function")
	}
	return f.Validate()
}

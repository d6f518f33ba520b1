// Package window answers the question "which spans of event time does a value
// belong to?". Its main noun is [Window], a half-open span [Start, End); a [Fn]
// assigns windows to timestamps.
package window

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
)

// Window is the half-open span [Start, End) of event time.
type Window struct {
	Start, End event.Time
}

// Max is the largest timestamp inside the window: one unit before its end.
func (w Window) Max() event.Time { return w.End - 1 }

// Expiry is gc(W): the window's Max plus the allowed lateness, cut to the end of
// the global window. The window is expired once a watermark is past it.
func (w Window) Expiry(lateness time.Duration) event.Time {
	return min(w.Max().Add(lateness), event.EndOfGlobalWindow)
}

// String prints the window as [start, end).
func (w Window) String() string {
	if w == GlobalWindow {
		return "[global)"
	}
	return fmt.Sprintf("[%v, %v)", w.Start, w.End)
}

// GlobalWindow is the one window of [Global].
var GlobalWindow = Window{Start: event.Min, End: event.EndOfGlobalWindow + 1}

// Fn assigns windows to timestamps. Implementations are values without state,
// safe for concurrent use.
type Fn interface {
	// Assign appends the windows of t to dst and returns it.
	Assign(dst []Window, t event.Time) []Window
	// MapSide returns the window of this function that a main input's window
	// corresponds to, where this function is that of a signal or side input (W5).
	MapSide(main Window) (Window, error)
	// Merging says that windows of one key merge (sessions).
	Merging() bool
	// String names the function and its parameters; two functions with equal
	// strings assign equal windows.
	String() string
}

// Strategy is how a PCollection is windowed: the function and how long after a
// window's end elements of it are still taken.
type Strategy struct {
	Fn              Fn
	AllowedLateness time.Duration
}

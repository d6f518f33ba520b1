// Package window answers the question "which spans of event time does a value
// belong to?". Its main noun is [Window], a half-open span [Start, End); a [Fn]
// assigns windows to timestamps and a [Strategy] adds how long a window waits
// for late elements.
//
// The life of a window: [Fn.Assign] names it for an element's timestamp; it
// closes when a watermark passes its Max, and expires when a watermark passes
// its Expiry ([Strategy.Expired]); from then on elements of it are late for good.
//
// Invariants, of the functions in this package:
//  1. Every window is not empty and lies inside [GlobalWindow]: it is cut at both
//     ends of the range of event time (L1), so nothing overflows near them.
//  2. An assigned window contains the timestamp. A timestamp past the end of the
//     global window, which no element may carry (L4), counts as the last one in it.
//  3. Windows of one function differ in Start or End, so (Start, End) is their
//     identity, and their encoding ([AppendWindow]) sorts as they do.
//
// It merges nothing and drops nothing: those are the engine's. The package owns
// no goroutines.
package window

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
)

// Window is the half-open span [Start, End) of event time.
type Window struct {
	Start, End event.Time
}

// GlobalWindow is the one window of [Global].
var GlobalWindow = Window{Start: event.Min, End: event.EndOfGlobalWindow + 1}

// Max is the largest timestamp inside the window: one unit before its end.
func (w Window) Max() event.Time { return w.End - 1 }

// Contains says whether t lies in [Start, End).
func (w Window) Contains(t event.Time) bool { return w.Start <= t && t < w.End }

// Expiry is gc(W): the window's Max plus the allowed lateness, cut to the end of
// the global window. The window is expired once a watermark is past it (L5).
func (w Window) Expiry(lateness time.Duration) event.Time {
	return min(w.Max().Add(lateness), event.EndOfGlobalWindow)
}

// Compare orders windows by start, then end: -1, 0 or +1.
func (w Window) Compare(o Window) int {
	return cmp.Or(cmp.Compare(w.Start, o.Start), cmp.Compare(w.End, o.End))
}

// String prints the window as [start, end).
func (w Window) String() string {
	if w == GlobalWindow {
		return "[global)"
	}
	return fmt.Sprintf("[%v, %v)", w.Start, w.End)
}

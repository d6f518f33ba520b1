// Package event answers the question "when did it happen?": event time, as
// opposed to the wall clock, and the pane of a window that a value belongs to.
//
// Its main noun is [Time], a count of microseconds since 1970 UTC. Event time
// and wall time are different types on purpose: a watermark compared with
// time.Now does not compile. The package owns no goroutines.
//
// Invariants:
//  1. Min <= t <= Max for every time the engine hands out.
//  2. A watermark at Max is finished: nothing follows.
//  3. EndOfGlobalWindow < Max, so that a timer at the end of the global window
//     can still fire.
package event

import (
	"fmt"
	"time"
)

// Time is an instant of event time in microseconds since 1970-01-01 UTC.
type Time int64

// The range of event time. The values are Beam's, in microseconds.
const (
	// Min is the earliest instant; a watermark at Min promises nothing.
	Min Time = -9223372036854775000
	// Max is the latest instant; a watermark at Max is finished.
	Max Time = 9223372036854775000
	// EndOfGlobalWindow is the largest timestamp inside the global window: one
	// day before Max.
	EndOfGlobalWindow = Max - Time(24*time.Hour/time.Microsecond)
)

// At converts a wall-clock reading, truncated to the microsecond and cut to
// [Min, Max].
func At(t time.Time) Time {
	switch {
	case t.Before(Min.Time()):
		return Min
	case t.After(Max.Time()):
		return Max
	}
	return Time(t.UnixMicro())
}

// FromTime converts t like [At] but refuses an instant outside [Min, Max]
// instead of cutting it: a broker's time out there is a decode error.
func FromTime(t time.Time) (Time, error) {
	if t.Before(Min.Time()) || !t.Before((Max + 1).Time()) {
		return 0, fmt.Errorf("event: %v is outside the range of event time", t)
	}
	return At(t), nil
}

// Millis returns the instant ms milliseconds after 1970, cut to [Min, Max].
func Millis(ms int64) Time {
	const limit = int64(Max / 1000) // Min is -Max
	return Time(min(max(ms, -limit), limit) * 1000)
}

// Add returns t+d, cut to [Min, Max]. Sub-microsecond parts of d are dropped.
func (t Time) Add(d time.Duration) Time {
	u := Time(d.Microseconds())
	s := t + u
	if u > 0 && s < t {
		return Max
	}
	if u < 0 && s > t {
		return Min
	}
	return s.Clamp()
}

// Sub returns the duration t-o, saturated at the range of time.Duration.
func (t Time) Sub(o Time) time.Duration {
	d := int64(t) - int64(o)
	const limit = int64(1<<63-1) / 1000
	switch {
	case (d < 0) != (t < o): // overflowed
		if t < o {
			return -1 << 63
		}
		return 1<<63 - 1
	case d > limit:
		return 1<<63 - 1
	case d < -limit:
		return -1 << 63
	}
	return time.Duration(d) * time.Microsecond
}

// Clamp cuts t to [Min, Max].
func (t Time) Clamp() Time { return min(max(t, Min), Max) }

// Time converts to a wall-clock value in UTC.
func (t Time) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// String prints RFC 3339 with microseconds, or the name of a limit.
func (t Time) String() string {
	switch t {
	case Min:
		return "MIN"
	case Max:
		return "MAX"
	case EndOfGlobalWindow:
		return "GWMAX"
	}
	return t.Time().Format("2006-01-02T15:04:05.999999Z")
}

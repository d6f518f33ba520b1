package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
)

// stuckAfter is how long nothing may move before a finite run that cannot finish
// says so.
const stuckAfter = 2 * time.Second

// quarantineHolds are the transforms whose quarantined elements hold a signal back
// (X16), with the earliest of them.
type quarantineHolds map[string]event.Time

// HoldQuarantined tells that transform's quarantined elements, the earliest at low,
// hold the stage's watermark.
func (t *Task) HoldQuarantined(transform string, low event.Time) {
	t.region.mail.post(func() {
		r := t.region
		r.holds[transform] = low
		r.degraded("quarantine of "+transform, fmt.Errorf("quarantined elements from %v on hold back what waits for %s", low, transform))
	})
}

// maybeStuck ends a finite run whose sources are finished and that nothing but
// quarantined elements keeps from its end.
func (r *Region) maybeStuck() time.Time {
	if len(r.holds) == 0 || r.effects.pending() > 0 || slices.ContainsFunc(r.readers, func(rd *reader) bool { return !rd.ended.Load() }) {
		r.stillSince = time.Time{}
		return time.Time{}
	}
	if r.stillSince.IsZero() {
		r.stillSince = r.now
	}
	if at := r.stillSince.Add(stuckAfter); at.After(r.now) {
		return at
	}
	names := make([]string, 0, len(r.holds))
	for name, low := range r.holds {
		names = append(names, fmt.Sprintf("%s (from %v on)", name, low))
	}
	slices.Sort(names)
	r.kill(fault.As(fault.Permanent, fmt.Errorf("the sources are finished, but gates stay closed: elements are quarantined by %s", strings.Join(names, ", "))))
	return time.Time{}
}

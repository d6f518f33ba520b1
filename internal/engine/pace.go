package engine

import "time"

// pace decides how soon after a close the next may come: so that closing takes at
// most a fifth of the time, and at least epochMin so that a busy pipeline commits
// many elements at once. An idle one closes at once.
type pace struct {
	last time.Time
	work time.Duration
}

const (
	epochMin = 2 * time.Millisecond
	epochMax = 50 * time.Millisecond
	// closeShare is how many times the work of closing lies between two closes.
	closeShare = 4
)

func newPace() pace { return pace{} }

func (p *pace) closed(now time.Time) { p.last = now }

// measured takes the work that closing an epoch took, over all tasks.
func (p *pace) measured(work time.Duration) { p.work = (p.work + work) / 2 }

func (p *pace) notBefore() time.Time {
	return p.last.Add(min(max(epochMin, closeShare*p.work), epochMax))
}

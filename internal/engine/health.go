package engine

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// health holds what is wrong at the moment, by what it concerns.
type health struct {
	mu sync.Mutex
	// reasons are guarded by mu.
	reasons map[string]Reason
}

// Reason says what is wrong, since when, and how often it was met.
type Reason struct {
	What  string
	Err   error
	Since time.Time
	Count int
}

// degraded notes a problem that the engine goes on trying to get past; the first
// occurrence is logged, then every power of two.
func (r *Region) degraded(what string, err error) { r.note(what, err, r.now) }

// degradedFrom is degraded for callers outside the region's step.
func (r *Region) degradedFrom(what string, err error) {
	r.mail.post(func() { r.degraded(what, err) })
}

func (r *Region) note(what string, err error, now time.Time) {
	r.health.mu.Lock()
	if r.health.reasons == nil {
		r.health.reasons = map[string]Reason{}
	}
	reason, known := r.health.reasons[what]
	if !known {
		reason = Reason{What: what, Since: now}
	}
	reason.Err = err
	reason.Count++
	r.health.reasons[what] = reason
	r.health.mu.Unlock()
	if n := reason.Count; n&(n-1) == 0 {
		r.log.Warn("trying again", "what", what, "error", err, "count", n)
	}
}

// healthy takes a problem back.
func (r *Region) healthy(what string) {
	r.health.mu.Lock()
	reason, known := r.health.reasons[what]
	delete(r.health.reasons, what)
	r.health.mu.Unlock()
	if known {
		r.log.Info("recovered", "what", what, "after", reason.Count)
	}
}

// Degraded notes a problem of the stage that it goes on trying to get past.
func (t *Task) Degraded(what string, err error) { t.region.degradedFrom(t.Stage.Name+": "+what, err) }

// Healthy takes it back.
func (t *Task) Healthy(what string) {
	t.region.mail.post(func() { t.region.healthy(t.Stage.Name + ": " + what) })
}

// Health lists what is wrong, in order of name. From anywhere.
func (r *Region) Health() []Reason {
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	list := make([]Reason, 0, len(r.health.reasons))
	for _, reason := range r.health.reasons {
		list = append(list, reason)
	}
	slices.SortFunc(list, func(a, b Reason) int { return strings.Compare(a.What, b.What) })
	return list
}

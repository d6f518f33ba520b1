package sim

import (
	"time"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/internal/engine"
)

// Faults says what may go wrong and how often. Rates are in one of a thousand, of
// events or of calls. The zero value lets nothing go wrong; the order of events is
// random all the same.
type Faults struct {
	// Abort, Crash and Stop are rates of events: a task gives its bundle up; the
	// process is gone; the process is asked to stop. At most Max of all three.
	Abort, Crash, Stop, Max int
	// CallBefore and CallAfter are rates of calls that fail before they did anything,
	// and after they did it (class Ambiguous).
	CallBefore, CallAfter int
	// CommitBefore and CommitAfter are the same of commits.
	CommitBefore, CommitAfter int
	// Slow is the rate of calls and commits that take up to SlowMax.
	Slow    int
	SlowMax time.Duration
	// Calls and Commits bound how many of them fail.
	Calls, Commits int
}

// errBefore and errAfter are what failing calls return.
var (
	errBefore = fault.Errorf(fault.Transient, "sim: failed before anything happened")
	errAfter  = fault.Errorf(fault.Ambiguous, "sim: failed after it happened")
	errAbort  = fault.Errorf(fault.Transient, "sim: a task fails")
)

// outcome is what is to become of a call or commit.
type outcome uint8

const (
	succeed outcome = iota
	failBefore
	failAfter
)

func (w *World) chance(perMille int) bool { return perMille > 0 && w.rng.IntN(1000) < perMille }

// Chance is true in perMille of a thousand calls, and never once the world is calm:
// for targets that fail by themselves.
func (w *World) Chance(perMille int) bool { return !w.calm && w.chance(perMille) }

// callOutcome decides a call's fate when it is made. Opening and closing cannot
// half happen: what they leave is the process's own.
func (w *World) callOutcome(k engine.CallKind) outcome {
	f := &w.cfg.Faults
	if w.calm || w.failedCalls >= f.Calls {
		return succeed
	}
	before, after := w.chance(f.CallBefore), w.chance(f.CallAfter)
	whole := k == engine.CallOpen || k == engine.CallClose
	switch {
	case before:
		w.failedCalls++
		return failBefore
	case after && !whole:
		w.failedCalls++
		return failAfter
	}
	return succeed
}

func (w *World) commitOutcome() outcome {
	f := &w.cfg.Faults
	if w.calm || w.failedCommits >= f.Commits {
		return succeed
	}
	switch {
	case w.chance(f.CommitBefore):
		w.failedCommits++
		return failBefore
	case w.chance(f.CommitAfter):
		w.failedCommits++
		return failAfter
	}
	return succeed
}

// delay is how long a call or commit takes.
func (w *World) delay() time.Duration {
	if f := &w.cfg.Faults; !w.calm && w.chance(f.Slow) && f.SlowMax > 0 {
		return time.Duration(w.rng.Int64N(int64(f.SlowMax)))
	}
	if w.rng.IntN(4) > 0 {
		return 0
	}
	return time.Duration(w.rng.Int64N(int64(3 * time.Millisecond)))
}

// maybeBreak lets a fault happen to the process and says whether one did.
func (w *World) maybeBreak() bool {
	f, p := &w.cfg.Faults, w.process
	if w.calm || p == nil || w.broken >= f.Max {
		return false
	}
	switch {
	case w.chance(f.Abort):
		return w.abort()
	case w.chance(f.Crash):
		w.broken++
		w.crash()
		return true
	case w.chance(f.Stop):
		w.broken++
		w.note("stop", p.name, "")
		p.end(engine.Stop)
		return true
	}
	return false
}

// abort has one task of the process give its bundle up.
func (w *World) abort() bool {
	if len(w.process.tasks) == 0 {
		return false
	}
	t := w.process.tasks[w.rng.IntN(len(w.process.tasks))]
	w.broken++
	w.note("abort", t.name, "")
	t.task.GiveUp(errAbort)
	return true
}

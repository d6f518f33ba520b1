package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/store"
)

// Region is a set of stages that become durable together: the coordinator of its
// epochs. All methods but Stop, Drain and the views belong to its step.
type Region struct {
	spec  *RegionSpec
	store store.Store
	ports Ports
	log   *slog.Logger
	ctx   context.Context
	mail  mailbox
	now   time.Time

	tasks      []*Task
	current    atomic.Pointer[[]*Task]
	directory  directory
	readers    []*reader
	marks      stageMarks // as committed
	effects    *effects
	registry   *acks.Registry
	bundles    uint64 // numbers finalizer bundles
	health     health
	careful    careful
	holds      quarantineHolds
	stillSince time.Time // when a finished run last moved
	endBy      time.Time // a stop waits no longer for the broker

	epoch   uint64 // the one being filled
	phase   phase
	mode    EndMode
	closing *closing // the barrier is on its way
	commit  *closing // the commit is on its way
	pace    pace
	retry   *retry
	restart time.Time // after an abort: not before
	halted  bool
	dirty   atomic.Bool
	urgent  atomic.Bool
	cause   error // why the region dies
	counts  RegionCounts
	done    func(error)
	mutate  Mutation
}

type phase uint8

const (
	running phase = iota
	aborting
	settling // the work is over, verdicts are on their way
	closingReaders
	ended
)

// EndMode is how a region is asked to end.
type EndMode uint8

// The ways to end. A finite pipeline ends by itself.
const (
	// Run: until the sources are finished.
	Run EndMode = iota
	// Drain: stop reading, finish all that was read, windows included.
	Drain
	// Stop: commit and leave the rest for the next run.
	Stop
)

// closing is an epoch between its barrier and its commit.
type closing struct {
	epoch   uint64
	reports []*Report
	marks   stageMarks // once it is committed
	started time.Duration
	last    bool
}

// RegionConfig is what a driver gives to a region.
type RegionConfig struct {
	Spec  *RegionSpec
	Store store.Store
	Ports Ports
	Log   *slog.Logger
	// Context ends user code when the run is given up.
	Context context.Context
	// Wake asks for a step of the region. From anywhere, never blocks.
	Wake func()
	// Done is called once, in a step, when the region has ended.
	Done func(error)
	// Mutate plants a bug: for tests of the tests.
	Mutate Mutation
}

// NewRegion prepares a region from its last commit.
func NewRegion(c RegionConfig) (*Region, error) {
	r := &Region{
		spec: c.Spec, store: c.Store, ports: c.Ports, log: c.Log, ctx: c.Context, done: c.Done, mutate: c.Mutate,
		epoch: 1, retry: newRetry(c.Ports), pace: newPace(), careful: careful{}, holds: quarantineHolds{},
	}
	r.mail.wake = c.Wake
	r.effects = newEffects(r)
	r.registry = acks.NewRegistry(acks.RegistryOptions{Jitter: c.Ports.Jitter})
	if r.store != nil {
		last, err := r.store.Epoch(r.spec.ID)
		if err != nil {
			return nil, fmt.Errorf("region %s: %w", r.spec.Name, err)
		}
		r.epoch = last + 1
	}
	var err error
	if r.marks, err = r.loadMarks(); err != nil {
		return nil, fmt.Errorf("region %s: %w", r.spec.Name, err)
	}
	for _, s := range r.spec.Stages {
		if s.Source != nil {
			for i := range s.Workers {
				r.readers = append(r.readers, newReader(r, s, i))
			}
		}
	}
	return r, nil
}

// Begin builds the tasks and starts them.
func (r *Region) Begin() error { return r.rebuild() }

// Step advances the region and returns when to step it again unasked; zero: when
// woken.
func (r *Region) Step(now time.Time) (next time.Time) {
	r.now = now
	r.mail.drain()
	switch r.phase {
	case ended:
		return time.Time{}
	case aborting:
		next = r.maybeRestart()
	case running:
		next = r.maybeClose()
	case settling:
		next = r.maybeEnd()
	}
	for _, rd := range r.readers {
		next = earliest(next, rd.step(now))
	}
	if r.phase < settling {
		next = earliest(next, r.effects.step(now))
	}
	return earliest(next, r.stepFinalizers())
}

// pulse notes that the epoch has something to commit. From anywhere.
func (r *Region) pulse(urgent bool) {
	wake := !r.dirty.Swap(true)
	if urgent {
		wake = !r.urgent.Swap(true) || wake
	}
	if wake {
		r.mail.wake()
	}
}

func (r *Region) wake() { r.mail.wake() }

// maybeClose sends the barrier if the epoch has something to commit and the pace
// allows it. At most one epoch is committing meanwhile (invariant 1).
func (r *Region) maybeClose() (next time.Time) {
	if r.closing != nil || r.commit != nil {
		return time.Time{}
	}
	last := r.mode == Stop
	if !r.dirty.Load() && !last {
		return r.maybeStuck()
	}
	r.stillSince = time.Time{}
	if at := r.pace.notBefore(); at.After(r.now) && !r.urgent.Load() && !last {
		return at
	}
	r.dirty.Store(false)
	r.urgent.Store(false)
	r.closing = &closing{epoch: r.epoch, started: r.ports.Elapsed(), last: last}
	r.pace.closed(r.now)
	for _, t := range r.tasks {
		if len(t.in.all) == 0 {
			t.mail.post(func() { t.closeAsked = true })
		}
	}
	return time.Time{}
}

// report is called by a task's step.
func (r *Region) report(rep *Report) { r.mail.post(func() { r.reported(rep) }) }

func (r *Region) reported(rep *Report) {
	c := r.closing
	if c == nil || r.phase != running || !slices.Contains(r.tasks, rep.Task) {
		return // of an epoch that was abandoned
	}
	c.reports = append(c.reports, rep)
	if len(c.reports) < len(r.tasks) {
		return
	}
	var work time.Duration
	for _, rep := range c.reports {
		work += rep.Work
	}
	r.pace.measured(work)
	r.closing, r.commit = nil, c
	r.epoch++
	c.marks = r.nextMarks(c.reports)
	if r.store == nil {
		r.committed(c, nil)
		return
	}
	sc := &store.Commit{Region: r.spec.ID, Epoch: c.epoch, Deltas: r.marksDeltas(c.marks)}
	for _, rep := range c.reports {
		for _, d := range rep.Deltas {
			if d.Len() > 0 {
				sc.Deltas = append(sc.Deltas, d)
			}
		}
	}
	r.ports.Commit(sc, func(err error) {
		r.mail.post(func() { r.committed(c, err) })
	})
}

// committed takes the outcome of a commit. After an error the store is asked:
// what was applied counts, whatever Commit said.
func (r *Region) committed(c *closing, err error) {
	r.commit = nil
	if err != nil {
		last, ask := r.store.Epoch(r.spec.ID)
		if ask != nil {
			r.kill(fmt.Errorf("region %s: commit of epoch %d: %w", r.spec.Name, c.epoch, errors.Join(err, ask)))
			return
		}
		if last != c.epoch {
			r.epoch = last + 1
			r.abort(fmt.Errorf("region %s: commit of epoch %d: %w", r.spec.Name, c.epoch, err))
			return
		}
	}
	r.counts.Epochs.Add(1)
	r.marks = c.marks
	r.retry.reset()
	r.healthy("commit")
	r.release(c)
	if r.phase == running {
		r.maybeFinish(c)
	}
}

// release lets out what waited for the commit: marks, finalizers, effects.
func (r *Region) release(c *closing) {
	for _, rep := range c.reports {
		for _, f := range rep.AtCommit {
			f()
		}
	}
	for _, rd := range r.readers {
		rd.ledger.Commit(c.epoch)
	}
	for _, rep := range c.reports {
		r.effects.forget(rep.Forgotten)
	}
	defer func() { r.counts.PendingEffects.Store(int64(r.effects.pending())) }()
	for _, rep := range c.reports {
		r.effects.start(rep.Effects)
		r.register(rep)
		t := rep.Task
		t.mail.post(func() { t.head.Committed(c.epoch) })
	}
}

// maybeFinish ends the region when every task reported in the same epoch that its
// input is finished and nothing is kept, or after the last epoch of a stop.
func (r *Region) maybeFinish(c *closing) {
	done := !slices.ContainsFunc(c.reports, func(rep *Report) bool { return !rep.Done })
	if done || c.last {
		r.settle()
		r.halted = false
		r.dropTasks(func() { r.halted = true })
	}
}

// settle begins the last phase: what was committed is still settled and finalized.
func (r *Region) settle() {
	r.phase, r.closing = settling, nil
	if r.mode == Stop || r.cause != nil {
		r.endBy = r.now.Add(settleGrace)
	}
}

// settleGrace is how long a stop or a failed run waits for a broker that does not
// answer: what is not settled by then is delivered again.
const settleGrace = 10 * time.Second

// maybeEnd closes the readers when the fate of the last commit is known, the
// broker knows all verdicts and finalizers are through.
func (r *Region) maybeEnd() (next time.Time) {
	if !r.halted || r.commit != nil {
		return time.Time{}
	}
	for _, rd := range r.readers {
		if rd.opening { // what it brings has to be closed
			return time.Time{}
		}
	}
	if late := !r.endBy.IsZero() && !r.endBy.After(r.now); late || r.allTold() {
		r.phase = closingReaders
		r.closeReaders(r.cause)
		return time.Time{}
	}
	return r.endBy
}

// allTold says whether every verdict is confirmed and every finalizer through.
func (r *Region) allTold() bool {
	for _, rd := range r.readers {
		if !rd.settledAll() {
			return false
		}
	}
	return !r.finalizersPending()
}

func (r *Region) closeReaders(cause error) {
	left := len(r.readers)
	end := func() {
		r.phase = ended
		r.done(cause)
	}
	if left == 0 {
		end()
		return
	}
	for _, rd := range r.readers {
		rd.close(func() {
			if left--; left == 0 {
				end()
			}
		})
	}
}

// ending says whether new work is of no use any more.
func (r *Region) ending() bool { return r.phase >= settling || r.mode == Stop }

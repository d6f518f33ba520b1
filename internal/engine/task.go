package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
)

// Task is one worker of one stage. Its methods are for the stage's own code and
// are called within its step, unless said otherwise.
type Task struct {
	Stage *Stage
	Index int

	region *Region
	ctx    context.Context
	cancel context.CancelFunc
	mail   mailbox

	in     inputs
	outs   []*output
	head   Head
	source *sourceHead
	hooks  hooks
	flush0 []flusher

	epoch      uint64 // the one being filled
	opened     bool
	bundleOpen bool
	closing    bool // all barriers are in, the bundle is being finished
	closeAsked bool // of a task without inputs: the region wants a barrier
	low        event.Time
	out        event.Time
	failed     bool

	finalizers []Finalizer
	effects    []*effect
	forgotten  []effectKey
	atCommit   []func()
	wakeAt     time.Time
	inputHeld  bool
	driver     any
	stats      TaskStats
	view       taskView
}

// Progress says what a step achieved and when the next makes sense.
type Progress struct {
	// Again: there is more to do right away.
	Again bool
	// At is when to step again though nobody wakes the task; zero: never.
	At time.Time
}

// taskView is what others may read of a task at any time.
type taskView struct {
	in, out, hold atomic.Int64
	keeps         atomic.Int64
}

// output is one edge out of a task.
type output struct {
	queues []*queue
}

// hooks are what the transforms of a stage want to be told.
type hooks struct {
	open   []func() error
	start  []func() error
	finish []func() error
	delta  []func(epoch uint64) []*store.Delta
	hold   []func() event.Time
}

func newTask(r *Region, s *Stage, index int) *Task {
	t := &Task{Stage: s, Index: index, region: r, epoch: r.epoch, low: event.Min, out: event.Min}
	t.ctx, t.cancel = context.WithCancel(r.ctx)
	for _, v := range []*atomic.Int64{&t.view.in, &t.view.out, &t.view.hold} {
		v.Store(int64(event.Min))
	}
	return t
}

// Name is stage/worker, for messages.
func (t *Task) Name() string { return fmt.Sprintf("%s/%d", t.Stage.Name, t.Index) }

// Wake asks for a step. From anywhere.
func (t *Task) Wake() {
	if t.mail.wake != nil {
		t.mail.wake()
	}
}

// Step advances the task by one chunk of work at most. It never blocks, except
// for user code, retries in place and reads of the local store.
func (t *Task) Step(now time.Time) (p Progress) {
	if t.failed {
		return Progress{}
	}
	defer t.catch()
	t.stats.Now = now
	if !t.opened {
		return t.open()
	}
	did := t.mail.drain()
	if t.failed {
		return Progress{}
	}
	if t.blockedOutput() {
		return Progress{}
	}
	more, err := t.advance(now)
	if err != nil {
		t.fail(err)
		return Progress{}
	}
	p.At = t.wakeAt
	if t.source != nil {
		p.At = earliest(p.At, t.source.next)
	}
	p.Again = more || did
	return p
}

// catch turns a panic of the stage's code into a failure of the task.
func (t *Task) catch() {
	if v := recover(); v != nil {
		t.fail(newPanic(v))
	}
}

func (t *Task) open() Progress {
	if t.source == nil {
		t.low = t.in.low()
	}
	for _, f := range append(append([]func() error{t.head.Open}, t.hooks.open...), t.resume) {
		if err := f(); err != nil {
			t.fail(fmt.Errorf("%s: open: %w", t.Name(), err))
			return Progress{}
		}
	}
	t.opened = true
	t.sendWatermark()
	return Progress{Again: true}
}

func (t *Task) blockedOutput() bool {
	for _, o := range t.outs {
		for _, q := range o.queues {
			if q.full() {
				return true
			}
		}
	}
	return false
}

// queuedMost is how many batches wait in the fullest queue out of the task.
func (t *Task) queuedMost() (n int) {
	for _, o := range t.outs {
		for _, q := range o.queues {
			n = max(n, int(q.data.Load()))
		}
	}
	return n
}

// advance does one chunk: the bundle's end if its barriers are in, then what was
// left over, then new input.
func (t *Task) advance(now time.Time) (more bool, err error) {
	t.wakeAt = time.Time{}
	if t.closing {
		if closed, err := t.finishBundle(); closed || err != nil {
			return closed, err
		}
	}
	more, err = t.head.Work(now)
	t.settleStep()
	if err != nil || more || t.closing || t.inputHeld {
		return more, err
	}
	if t.source != nil {
		return t.stepSource(now)
	}
	return t.stepInput()
}

func (t *Task) stepInput() (bool, error) {
	it, from, ok := t.in.pop()
	if !ok {
		return false, nil
	}
	switch it.kind {
	case itemData:
		t.Touch()
		if err := t.head.Data(from.in, it.batch); err != nil {
			return false, err
		}
		from.queue.recycle(it.batch)
	case itemWatermark:
		if wm, moved := t.in.advance(from, it.watermark); moved {
			t.low = t.in.low()
			if err := t.head.Watermark(from.in, wm); err != nil {
				return false, err
			}
		}
	case itemBarrier:
		if t.in.block(from) {
			t.closing = true
		}
	}
	t.settleStep()
	return true, nil
}

func (t *Task) stepSource(now time.Time) (bool, error) {
	if t.closeAsked {
		t.closeAsked, t.closing = false, true
		return true, nil
	}
	more, err := t.source.poll(now)
	if err != nil {
		return false, err
	}
	t.low = t.source.watermark
	t.settleStep()
	return more, nil
}

// settleStep sends on what the step made: elements, then the watermark.
func (t *Task) settleStep() {
	t.flush()
	t.sendWatermark()
}

// HoldInput has the task take no input until the head says otherwise: for writes
// that do not wait for the epoch's end.
func (t *Task) HoldInput(hold bool) { t.inputHeld = hold }

// WakeAt asks for a step at that time though nothing comes in. It holds until the
// next step.
func (t *Task) WakeAt(at time.Time) { t.wakeAt = earliest(t.wakeAt, at) }

func (t *Task) flush() {
	for _, f := range t.flush0 {
		f.flush()
	}
}

// sendWatermark passes min(input, holds) on if it moved (H2).
func (t *Task) sendWatermark() {
	hold := t.head.Hold()
	for _, f := range t.hooks.hold {
		hold = min(hold, f())
	}
	t.view.in.Store(int64(t.low))
	t.view.hold.Store(int64(hold))
	wm := min(t.low, hold)
	if wm <= t.out {
		return
	}
	t.out = wm
	t.view.out.Store(int64(wm))
	for _, o := range t.outs {
		for _, q := range o.queues {
			q.push(item{kind: itemWatermark, watermark: wm})
		}
	}
	if wm == event.Max {
		t.AskClose(true)
	}
}

// Touch notes that the epoch has something to commit and opens the bundle.
func (t *Task) Touch() {
	if t.bundleOpen {
		return
	}
	t.bundleOpen = true
	for _, f := range t.hooks.start {
		if err := f(); err != nil {
			panic(bundleError{fmt.Errorf("%s: StartBundle: %w", t.Name(), err)})
		}
	}
	t.region.pulse(false)
}

// AskClose asks the region to close the epoch soon, urgent: at once.
func (t *Task) AskClose(urgent bool) { t.region.pulse(urgent) }

// finishBundle ends the bundle when the head is ready: FinishBundle of the chain,
// changes, report, barrier.
func (t *Task) finishBundle() (bool, error) {
	ready, err := t.head.Close()
	if err != nil || !ready {
		return false, err
	}
	if t.bundleOpen {
		for _, f := range t.hooks.finish {
			if err := f(); err != nil {
				return false, fmt.Errorf("%s: FinishBundle: %w", t.Name(), err)
			}
		}
	}
	t.flush()
	t.sendWatermark()
	t.region.report(t.takeReport())
	for _, o := range t.outs {
		for _, q := range o.queues {
			q.push(item{kind: itemBarrier, epoch: t.epoch})
		}
	}
	t.epoch++
	t.closing, t.bundleOpen = false, false
	t.in.unblock()
	return true, nil
}

func (t *Task) takeReport() *Report {
	from := t.region.ports.Elapsed()
	rep := &Report{
		Task: t, Epoch: t.epoch,
		Finalizers: t.finalizers, Effects: t.effects, Forgotten: t.forgotten,
		Inputs: slices.Clone(t.in.marks),
		Done:   t.low == event.Max && t.in.finished() && t.out == event.Max && t.head.Idle(),
	}
	rep.Deltas = t.head.Snapshot(t.epoch)
	for _, f := range t.hooks.delta {
		rep.Deltas = append(rep.Deltas, f(t.epoch)...)
	}
	rep.AtCommit = t.atCommit
	t.finalizers, t.effects, t.forgotten, t.atCommit = nil, nil, nil, nil
	rep.Work = t.region.ports.Elapsed() - from
	return rep
}

// fail gives the task up; the region aborts.
func (t *Task) fail(err error) {
	if t.failed {
		return
	}
	t.failed = true
	var b bundleError
	if errors.As(err, &b) {
		err = b.error
	}
	t.region.mail.post(func() { t.region.taskFailed(t, err) })
}

// GiveUp fails the task at its next step: for drivers that let things go wrong.
func (t *Task) GiveUp(err error) { t.mail.post(func() { t.fail(err) }) }

// bundleError carries an error out of code that cannot return one.
type bundleError struct{ error }

func (b bundleError) Unwrap() error { return b.error }

// Fail abandons the bundle with err from code that cannot return it.
func (t *Task) Fail(err error) { panic(bundleError{err}) }

// Epoch is the epoch being filled.
func (t *Task) Epoch() uint64 { return t.epoch }

// InputWatermark is what the stage's input has reached.
func (t *Task) InputWatermark() event.Time { return t.low }

// SetInputWatermark is for a source's own chain while it polls.
func (t *Task) setInputWatermark(wm event.Time) { t.low = wm }

// Context ends when the task is given up.
func (t *Task) Context() context.Context { return t.ctx }

// Logger is the pipeline's.
func (t *Task) Logger() *slog.Logger { return t.region.log }

// Pause waits in place, for a retry.
func (t *Task) Pause(d time.Duration) error { return t.region.ports.Pause(t.ctx, d) }

// Jitter is a random number in [0, 1) from the driver.
func (t *Task) Jitter() float64 { return t.region.ports.Jitter() }

// Now is the wall clock at the start of the step.
func (t *Task) Now() time.Time { return t.stats.Now }

// OutputWatermark is what downstream has been told: nothing earlier will come on
// time.
func (t *Task) OutputWatermark() event.Time { return t.out }

// SetDriver and Driver keep what the driver needs to step the task.
func (t *Task) SetDriver(d any, wake func()) {
	t.driver, t.mail.wake = d, wake
}

// Driver is what SetDriver was given.
func (t *Task) Driver() any { return t.driver }

package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/gosluice/sluice/core/fault"
)

// taskFailed aborts the epoch, or ends the run where trying again cannot help.
func (r *Region) taskFailed(t *Task, err error) {
	if r.phase != running || !slices.Contains(r.tasks, t) {
		return
	}
	r.careful.note(t, err)
	switch fault.Of(err) {
	case fault.Permanent, fault.Bug:
		r.kill(err)
	default:
		r.abort(err)
	}
}

// abort abandons the epoch being filled: every task is discarded and built again
// from the last commit. A commit on its way is waited for first.
func (r *Region) abort(err error) {
	if r.phase != running {
		return
	}
	r.counts.Aborts.Add(1)
	r.degraded("region", err)
	r.phase, r.closing, r.halted = aborting, nil, false
	r.restart = r.now.Add(r.retry.next())
	r.dropTasks(func() { r.halted = true })
}

func (r *Region) dropTasks(then func()) {
	for _, t := range r.tasks {
		t.cancel()
	}
	r.ports.Halt(r.tasks, func() { r.mail.post(then) })
}

// maybeRestart rebuilds when the old tasks have stopped and the fate of the
// commit is known. A region that is asked to stop leaves the rest to the next run.
func (r *Region) maybeRestart() time.Time {
	if !r.halted || r.commit != nil {
		return time.Time{}
	}
	if r.mode == Stop {
		r.phase = settling
		r.wake()
		return time.Time{}
	}
	if r.restart.After(r.now) {
		return r.restart
	}
	for _, rd := range r.readers {
		if r.mutate != LedgerForgetsAbort {
			rd.ledger.Abort()
		}
	}
	if err := r.rebuild(); err != nil {
		r.kill(err)
	}
	return time.Time{}
}

// kill ends the run with err: nothing of the open epoch counts, what was
// committed is still settled.
func (r *Region) kill(err error) {
	if r.phase >= settling {
		return
	}
	r.cause = errors.Join(r.cause, err)
	wasHalting := r.phase == aborting
	r.settle()
	if !wasHalting {
		r.halted = false
		r.dropTasks(func() { r.halted = true })
	}
}

// rebuild makes the tasks and their queues anew and starts them.
func (r *Region) rebuild() error {
	byStage := map[*Stage][]*Task{}
	r.tasks, r.holds = nil, quarantineHolds{} // tasks tell anew what a commit has kept
	for _, s := range r.spec.Stages {
		for i := range s.Workers {
			t := newTask(r, s, i)
			byStage[s] = append(byStage[s], t)
			r.tasks = append(r.tasks, t)
		}
	}
	r.connect(byStage)
	for _, t := range r.tasks {
		head, err := t.Stage.Build(t)
		if err != nil {
			return err
		}
		t.head = head
	}
	tasks := r.tasks
	r.current.Store(&tasks)
	r.phase, r.halted = running, false
	r.healthy("region")
	r.dirty.Store(false)
	r.ports.Start(r.tasks)
	for _, rd := range r.readers {
		r.wakeReader(rd)
	}
	return nil
}

// connect makes one queue per sender and receiver.
func (r *Region) connect(byStage map[*Stage][]*Task) {
	into := map[*Task][]*input{}
	for _, s := range r.spec.Stages {
		for _, from := range byStage[s] {
			for _, e := range s.Outputs {
				out := &output{}
				for _, w := range e.Route.receivers(from.Index, e.To) {
					to := byStage[e.To][w]
					q := &queue{wake: to.Wake, room: from.Wake}
					out.queues = append(out.queues, q)
					into[to] = append(into[to], &input{in: e.Input, signal: e.Route == Signal, queue: q})
				}
				from.outs = append(from.outs, out)
			}
		}
	}
	for _, t := range r.tasks {
		t.in = newInputs(into[t], t.Stage.Inputs, r.marksOf(t.Stage))
		t.in.loose = r.mutate == BarrierNotAligned
	}
}

// readerOf is the reader that a source task polls.
func (r *Region) readerOf(t *Task) *reader {
	for _, rd := range r.readers {
		if rd.stage == t.Stage && rd.index == t.Index {
			return rd
		}
	}
	return nil
}

// wakeReader wakes the task that polls rd. From anywhere.
func (r *Region) wakeReader(rd *reader) {
	if t := rd.task.Load(); t != nil {
		t.Wake()
	}
}

// claim is what readers record at the broker.
func (r *Region) claim() string {
	if r.store == nil {
		return ""
	}
	return r.store.ID()
}

// End asks the region to end. From anywhere; a stronger mode replaces a weaker.
func (r *Region) End(mode EndMode) {
	r.mail.post(func() {
		r.mode = max(r.mode, mode)
		for _, rd := range r.readers {
			rd.drain.Store(r.mode == Drain)
			rd.stop.Store(r.mode == Stop)
			r.wakeReader(rd)
		}
	})
}

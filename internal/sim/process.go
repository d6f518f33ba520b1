package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// process is one life of the program: what a crash throws away.
type process struct {
	w       *World
	name    string
	store   store.Store
	ctx     context.Context
	cancel  context.CancelFunc
	regions []*regionRun
	tasks   []*taskRun
	calls   []*call
	commits []*commit
	halts   []*halt
	dead    bool
	err     error
}

type regionRun struct {
	region *engine.Region
	name   string
	woken  bool
	at     time.Time
	over   bool
}

type taskRun struct {
	task   *engine.Task
	name   string
	weight int
	woken  bool
	at     time.Time
	in     event.Time
	out    event.Time
}

// halt is an order to stop stepping tasks that has not arrived yet.
type halt struct {
	tasks []*engine.Task
	done  func()
}

func newProcess(w *World) *process {
	p := &process{w: w, name: fmt.Sprintf("process %d", w.lives)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

func (p *process) begin() error {
	prog, st, err := p.w.cfg.Start(p.w)
	if err != nil {
		return err
	}
	p.store = st
	var ports engine.Ports = ports{p}
	if p.w.cfg.WrapPorts != nil {
		ports = p.w.cfg.WrapPorts(ports)
	}
	for _, spec := range prog.Regions {
		r := &regionRun{name: spec.Name, woken: true}
		r.region, err = engine.NewRegion(engine.RegionConfig{
			Spec: spec, Store: st, Ports: ports, Log: p.w.logs, Context: p.ctx, Mutate: p.w.cfg.Mutate,
			Wake: func() { r.woken = true },
			Done: func(err error) { p.regionEnded(r, err) },
		})
		if err != nil {
			return err
		}
		p.regions = append(p.regions, r)
	}
	for _, r := range p.regions {
		if err := r.region.Begin(); err != nil {
			return err
		}
	}
	return nil
}

// regionEnded ends the other regions when one has failed.
func (p *process) regionEnded(r *regionRun, err error) {
	r.over = true
	p.err = errors.Join(p.err, err)
	if err != nil {
		p.end(engine.Stop)
	}
}

func (p *process) end(mode engine.EndMode) {
	for _, r := range p.regions {
		r.region.End(mode)
	}
}

// over says whether every region has ended and nothing is on its way.
func (p *process) over() bool {
	for _, r := range p.regions {
		if !r.over {
			return false
		}
	}
	return len(p.calls)+len(p.commits)+len(p.halts) == 0
}

// gather offers what can happen in the process and returns when more can.
func (p *process) gather() (next time.Time) {
	for _, r := range p.regions {
		if r.over {
			continue
		}
		if r.woken || !r.at.IsZero() && !r.at.After(p.w.now) {
			p.w.offer(weightRegion, func() error { return p.stepRegion(r) })
		} else {
			next = earliest(next, r.at)
		}
	}
	for _, t := range p.tasks {
		if t.woken || !t.at.IsZero() && !t.at.After(p.w.now) {
			p.w.offer(t.weight, func() error { return p.stepTask(t) })
		} else {
			next = earliest(next, t.at)
		}
	}
	for _, c := range p.calls {
		if c.at.After(p.w.now) {
			next = earliest(next, c.at)
			continue
		}
		p.w.offer(weightCall, func() error { return p.advanceCall(c) })
	}
	for _, c := range p.commits {
		if c.at.After(p.w.now) {
			next = earliest(next, c.at)
			continue
		}
		p.w.offer(weightCommit, func() error { return p.advanceCommit(c) })
	}
	for _, h := range p.halts {
		p.w.offer(weightHalt, func() error { return p.finishHalt(h) })
	}
	return next
}

// stepAny steps a task or region that did not ask for it.
func (p *process) stepAny() bool {
	n := p.w.rng.IntN(len(p.tasks) + len(p.regions))
	if n < len(p.tasks) {
		return p.stepTask(p.tasks[n]) == nil
	}
	r := p.regions[n-len(p.tasks)]
	return !r.over && p.stepRegion(r) == nil
}

func (p *process) stepRegion(r *regionRun) error {
	r.woken = false
	p.w.note("region", r.name, "")
	r.at = r.region.Step(p.w.now)
	return nil
}

// stepTask steps a task; its watermarks never go back (H3).
func (p *process) stepTask(t *taskRun) error {
	t.woken = false
	p.w.note("task", t.name, "")
	progress := t.task.Step(p.w.now)
	t.woken = t.woken || progress.Again
	t.at = progress.At
	v := t.task.View()
	if v.In < t.in || v.Out < t.out {
		p.w.Fail(fmt.Errorf("watermark of %s went back: in %v to %v, out %v to %v", t.name, t.in, v.In, t.out, v.Out))
	}
	t.in, t.out = v.In, v.Out
	return nil
}

func (p *process) finishHalt(h *halt) error {
	p.halts = slices.DeleteFunc(p.halts, func(o *halt) bool { return o == h })
	p.tasks = slices.DeleteFunc(p.tasks, func(t *taskRun) bool { return slices.Contains(h.tasks, t.task) })
	p.w.note("halted", p.name, "")
	h.done()
	return nil
}

// crash ends everything where it is. Calls that were on their way may have
// happened: effects and settlements even later, as packets that were sent.
func (p *process) crash() {
	p.dead = true
	for _, c := range p.calls {
		p.w.orphan(c)
	}
	for _, c := range p.commits {
		if !c.applied && p.w.rng.IntN(2) == 0 {
			p.w.note("applied", p.name, "commit of the crashed process")
			_ = c.apply()
		}
	}
	p.bury()
}

// bury frees what the process held.
func (p *process) bury() {
	p.dead = true
	p.cancel()
	p.regions, p.tasks, p.calls, p.commits, p.halts = nil, nil, nil, nil, nil
}

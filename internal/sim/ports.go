package sim

import (
	"context"
	"slices"
	"time"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// ports is what the engine of one process asks of the world.
type ports struct{ p *process }

// call is user code or a client's call on its way there or back.
type call struct {
	p       *process
	c       engine.Call
	outcome outcome
	at      time.Time
	ran     bool
	value   any
	err     error
}

// commit is on its way to the disk or back.
type commit struct {
	p       *process
	c       *store.Commit
	done    func(error)
	outcome outcome
	at      time.Time
	applied bool
	err     error
}

func (o ports) Call(c engine.Call) {
	if o.p.dead {
		return
	}
	w := o.p.w
	o.p.calls = append(o.p.calls, &call{p: o.p, c: c, outcome: w.callOutcome(c.Kind), at: w.now.Add(w.delay())})
}

func (o ports) Commit(c *store.Commit, done func(error)) {
	if o.p.dead {
		return
	}
	w := o.p.w
	o.p.commits = append(o.p.commits, &commit{p: o.p, c: c, done: done, outcome: w.commitOutcome(), at: w.now.Add(w.delay())})
}

// Pause lets time pass for the whole world.
func (o ports) Pause(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.p.w.now = o.p.w.now.Add(d)
	return nil
}

func (o ports) Elapsed() time.Duration { return o.p.w.now.Sub(o.p.w.start) }
func (o ports) Jitter() float64        { return o.p.w.rng.Float64() }

func (o ports) Start(tasks []*engine.Task) {
	for _, t := range tasks {
		r := &taskRun{task: t, name: t.Name(), woken: true, weight: 1 << (2 * o.p.w.rng.IntN(3)), in: t.View().In, out: t.View().Out}
		t.SetDriver(r, func() { r.woken = true })
		o.p.tasks = append(o.p.tasks, r)
	}
}

func (o ports) Halt(tasks []*engine.Task, done func()) {
	o.p.halts = append(o.p.halts, &halt{tasks, done})
}

// advanceCall runs a call, or brings its result back.
func (p *process) advanceCall(c *call) error {
	if !c.ran {
		p.w.note("call", c.c.Name, [...]string{"", "fails before", "fails after"}[c.outcome])
		c.ran = true
		switch c.outcome {
		case succeed:
			c.value, c.err = c.invoke()
		case failBefore:
			c.err = errBefore
		case failAfter:
			_, _ = c.invoke()
			c.err = errAfter
		}
		c.at = p.w.now.Add(p.w.delay())
		return nil
	}
	p.calls = slices.DeleteFunc(p.calls, func(o *call) bool { return o == c })
	p.w.note("return", c.c.Name, "")
	c.c.Complete(c.value, c.err)
	return nil
}

// invoke runs user code, with recover.
func (c *call) invoke() (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = engine.Recovered(r)
		}
	}()
	return c.c.Run(c.p.ctx)
}

// advanceCommit applies a commit, or brings its outcome back.
func (p *process) advanceCommit(c *commit) error {
	if !c.applied {
		c.applied = true
		p.w.note("commit", p.name, [...]string{"", "fails before", "fails after"}[c.outcome])
		switch c.outcome {
		case succeed:
			c.err = c.apply()
		case failBefore:
			c.err = errBefore
		case failAfter:
			_ = c.apply()
			c.err = errAfter
		}
		c.at = p.w.now.Add(p.w.delay())
		return nil
	}
	p.commits = slices.DeleteFunc(p.commits, func(o *commit) bool { return o == c })
	p.w.note("committed", p.name, "")
	c.done(c.err)
	return nil
}

func (c *commit) apply() error { return c.p.store.Commit(context.Background(), c.c) }

// orphan decides what becomes of a call whose process is gone: lost, done just
// before, or, where it is a request to somebody else, done some time later.
func (w *World) orphan(c *call) {
	if c.ran {
		return
	}
	switch w.rng.IntN(3) {
	case 0:
		w.note("orphan", c.c.Name, "done")
		_, _ = c.invoke()
	case 1:
		if c.c.Kind == engine.CallEffect || c.c.Kind == engine.CallSettle {
			c.at = w.now.Add(time.Duration(w.rng.Int64N(int64(2 * time.Second))))
			w.zombies = append(w.zombies, c)
		}
	}
}

package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// guard is the one place where user code of a transform is called for an element:
// with retry in place and the policy for what cannot be processed.
//
// A recover for each call would cost more than the call. So a stage runs without
// until its code panics: the panic abandons the epoch, and from then on the stage is
// careful, with a recover around every call; the panic is then met again, by the
// replayed element, and is an error of that element alone.
type guard[A any] struct {
	t      *engine.Task
	name   string
	ctx    *runContext
	policy errorPolicy
	// careful: panics of user code are recovered element by element.
	careful bool
	// dead takes exhausted elements where a dead letter output is wired.
	dead       func(e *element.Element[A], f Failed[A])
	quarantine *quarantine[A]
}

// Failed is an element that could not be processed, with the reason.
type Failed[A any] struct {
	Value     A
	Transform string
	Reason    string
	Attempts  int
}

func newGuard[A any](t *engine.Task, n *plan.Node, p errorPolicy) *guard[A] {
	g := newGuardTo[A](t, n, p, nil)
	if t.Store() != nil && (p.exhausted == ByDefault || p.exhausted == Quarantine) {
		g.quarantine = newQuarantine[A](t, n)
	}
	return g
}

// newGuardTo is a guard whose exhausted elements go to dead.
func newGuardTo[A any](t *engine.Task, n *plan.Node, p errorPolicy, dead func(*element.Element[A], Failed[A])) *guard[A] {
	return &guard[A]{t: t, name: n.Name, ctx: newContext(t, n.Name), policy: p, careful: t.Careful(), dead: dead}
}

// run calls call until it succeeds or is given up; false: the element is dealt
// with and has no output.
func (g *guard[A]) run(e *element.Element[A], call func(*element.Element[A]) error) bool {
	var err error
	if g.careful {
		err = try(e, call)
	} else {
		err = call(e)
	}
	return err == nil || g.retry(e, call, err)
}

func try[A any](e *element.Element[A], call func(*element.Element[A]) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = engine.Recovered(v)
		}
	}()
	return call(e)
}

func (g *guard[A]) retry(e *element.Element[A], call func(*element.Element[A]) error, err error) bool {
	defer func() { g.ctx.attempt = 1 }()
	delay := g.policy.delay
	for {
		if g.t.Context().Err() != nil {
			g.t.Fail(fault.As(fault.Closed, err)) // cancelled, not failed: the bundle is given up
		}
		if fault.Of(err) == fault.Permanent || g.ctx.attempt >= g.policy.attempts {
			g.giveUp(e, err)
			return false
		}
		if g.t.Pause(delay/2+time.Duration(g.t.Jitter()*float64(delay))) != nil {
			continue
		}
		delay *= 2
		g.ctx.attempt++
		if err = try(e, call); err == nil {
			return true
		}
	}
}

// giveUp carries out the policy for an element that cannot be processed.
func (g *guard[A]) giveUp(e *element.Element[A], err error) {
	f := Failed[A]{Value: e.Value, Transform: g.name, Reason: err.Error(), Attempts: g.ctx.attempt}
	var p *engine.PanicError
	if errors.As(err, &p) {
		g.ctx.log.Error("panic in user code", "error", err, "stack", string(p.Stack))
	}
	if g.dead != nil {
		g.dead(e, f)
		return
	}
	switch g.decide(e) {
	case Quarantine:
		if refused := g.quarantine.add(e, f); refused == nil {
			g.ctx.log.Error("element quarantined", "reason", f.Reason, "attempts", f.Attempts, "time", e.Time)
			return
		}
		g.verdict(e, source.Ack, err, Block)
	case Reject:
		g.verdict(e, source.Nack, err, Reject)
	case Terminate:
		g.verdict(e, source.Terminate, err, Terminate)
	default:
		g.verdict(e, source.Ack, err, Block)
	}
}

func (g *guard[A]) decide(e *element.Element[A]) Exhausted {
	switch x := g.policy.exhausted; {
	case x == Quarantine && g.quarantine == nil, x == Reject && e.Ref == 0, x == Terminate && e.Ref == 0:
		return Block
	case x != ByDefault:
		return x
	case g.quarantine != nil:
		return Quarantine
	case e.Ref != 0 && g.t.CanReject(e.Ref):
		return Reject
	}
	return Block
}

// verdict passes what becomes of the message on to its source. An element that
// stands for no message cannot be set aside: its bundle is given up.
func (g *guard[A]) verdict(e *element.Element[A], v source.Verdict, err error, x Exhausted) {
	if e.Ref == 0 {
		g.t.Fail(fmt.Errorf("%s: element at %v: %w", g.name, e.Time, err))
	}
	g.ctx.log.Error("message given up", "policy", x.String(), "reason", err, "attempts", g.ctx.attempt)
	if x == Block {
		g.t.Degraded("blocked", fmt.Errorf("%s: %w", g.name, err))
		g.t.Block(e.Ref, err.Error())
		return
	}
	g.t.Verdict(e.Ref, v, err.Error())
}

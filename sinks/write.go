package sinks

import (
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// Write writes c inside the bundle: before the commit, at least once. Results come
// in the epoch that wrote.
func Write[T, R any](c core.PCollection[T], name string, w Writer[T, R], cfg Config[T]) WriteResult[T, R] {
	g, in := c.Untyped()
	if g == nil {
		return WriteResult[T, R]{}
	}
	check(g, name, cfg)
	if w == nil {
		g.Problem(name, "its Writer is nil")
	}
	n := g.Add(&plan.Node{Name: name, Kind: "Write", In: []plan.Input{route(in, cfg)}, Keyed: cfg.Destination != nil})
	n.Head = func(t *engine.Task, outs []any) (engine.Head, error) {
		return newBundleHead(t, n.Name, w, cfg, outs[0].(core.Receiver[R]), outs[1].(core.Receiver[core.Failed[T]])), nil
	}
	return results[T, R](g, n, c)
}

// WriteAfterCommit stages c in the bundle and publishes it after the commit. It
// needs a store.
func WriteAfterCommit[T, R any](c core.PCollection[T], name string, s Stager[T, R], cfg Config[T]) WriteResult[T, R] {
	return afterCommit(c, name, s, cfg, false)
}

// afterCommit builds the sink; eachBundle closes every batch with its bundle.
func afterCommit[T, R any](c core.PCollection[T], name string, s Stager[T, R], cfg Config[T], eachBundle bool) WriteResult[T, R] {
	g, in := c.Untyped()
	if g == nil {
		return WriteResult[T, R]{}
	}
	check(g, name, cfg)
	if s == nil {
		g.Problem(name, "its Stager is nil")
	}
	values, err := coder.For[T]()
	if err != nil {
		g.Problem(name, "records need a coder: %v", err)
	}
	if cfg.Age == 0 && !in.Bounded && c.Strategy().Fn.String() == window.Global().String() {
		cfg.Age = AgeDefault
	}
	n := g.Add(&plan.Node{
		Name: name, Kind: "WriteAfterCommit", Durable: "pending writes", Format: "batch(" + values.Name + ")",
		In: []plan.Input{route(in, cfg)}, Keyed: cfg.Destination != nil,
	})
	shared := newStaging(s)
	n.Head = func(t *engine.Task, outs []any) (engine.Head, error) {
		return newEffectHead(t, n.Name, shared, coder.Element(values), cfg, eachBundle,
			outs[0].(core.Receiver[R]), outs[1].(core.Receiver[core.Failed[T]])), nil
	}
	return results[T, R](g, n, c)
}

// route brings the records of one destination to one worker.
func route[T any](in *plan.Collection, cfg Config[T]) plan.Input {
	if cfg.Destination == nil {
		return plan.Input{From: in, Route: engine.Forward}
	}
	return plan.Input{From: in, Route: engine.Keyed, Key: func(dst []byte, v *T) ([]byte, error) {
		return append(dst, cfg.Destination(*v)...), nil
	}}
}

func results[T, R any](g *plan.Graph, n *plan.Node, c core.PCollection[T]) WriteResult[T, R] {
	_, in := c.Untyped()
	return WriteResult[T, R]{
		Written: core.NewOutput[R](g, n, c.Strategy(), in.Bounded),
		Failed:  core.NewOutput[core.Failed[T]](g, n, c.Strategy(), in.Bounded),
	}
}

// retryDelays are the pauses between attempts that a head makes itself.
func retryDelay(attempt int) time.Duration {
	return min(20*time.Millisecond<<min(attempt, 8), 5*time.Second)
}

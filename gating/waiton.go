package gating

import (
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// WaitOn holds each element of main until every signal has finished the window that
// corresponds to the element's (W2): for a signal windowed the same way that is the
// same window. A signal has finished a window when its watermark has passed the
// window's end and the signal's own allowed lateness. Elements come out unchanged;
// one whose window is open already passes at once, late or not (W8). Without
// signals nothing is held (W10).
//
// What can never open is a mistake of the graph: a signal in sessions, main in the
// global window with a windowed signal (W5), an unbounded signal in the global
// window (W11).
func WaitOn[T any](main core.PCollection[T], name string, signals ...core.Signal) core.PCollection[T] {
	g, in := main.Untyped()
	if g == nil {
		return main
	}
	values, err := coder.For[T]()
	if err != nil {
		g.Problem(name, "held elements need a coder: %v", err)
	}
	n := &plan.Node{
		Name: name, Kind: "WaitOn", Durable: "held elements", Format: "held(" + values.Name + ")",
		In: []plan.Input{{From: in, Route: engine.Forward}},
	}
	var strategies []window.Strategy
	for _, s := range signals {
		c := s.Untyped()
		n.In = append(n.In, plan.Input{From: c, Route: engine.Signal})
		if c != nil {
			strategies = append(strategies, c.Strategy)
			check(g, name, main.Strategy(), c)
		}
	}
	g.Add(n)
	n.Head = func(t *engine.Task, outs []any) (engine.Head, error) {
		return newGate(t, coder.Element(values), strategies, outs[0].(core.Receiver[T])), nil
	}
	return core.NewOutput[T](g, n, main.Strategy(), in.Bounded)
}

// Result is what After waits for: a collection or the result of a sink.
type Result interface{ Done() core.Signal }

// After is WaitOn for results: "do this after that was written".
func After[T any](main core.PCollection[T], name string, results ...Result) core.PCollection[T] {
	signals := make([]core.Signal, len(results))
	for i, r := range results {
		signals[i] = r.Done()
	}
	return WaitOn(main, name, signals...)
}

// check refuses signals that can never open.
func check(g *plan.Graph, name string, main window.Strategy, signal *plan.Collection) {
	from := signal.From.Name
	if signal.Strategy.Fn.Merging() {
		g.Problem(name, "waits for %s, which is windowed by %v: sessions have no window that corresponds to another", from, signal.Strategy.Fn)
		return
	}
	if main.Fn.String() == window.Global().String() {
		if _, err := signal.Strategy.Fn.MapSide(window.GlobalWindow); err != nil {
			g.Problem(name, "waits for %s: %v", from, err)
		}
	}
	if signal.Strategy.Fn.String() == window.Global().String() && !signal.Bounded {
		g.Problem(name, "waits for %s, which is unbounded and in the global window: it never finishes, so nothing would ever be released; give it windows", from)
	}
}

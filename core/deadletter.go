package core

import (
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// ParDoDeadLetter is ParDo whose elements that cannot be processed are the second
// output, in their windows: wire it to a sink, and one bad element in a hundred
// leaves ninety-nine results, one dead letter, and all messages acknowledged when
// both are durable. OnExhausted has no meaning here.
func ParDoDeadLetter[A, B any](c PCollection[A], name string, f ProcessFunc[A, B], opts ...Option) (PCollection[B], PCollection[Failed[A]]) {
	g := c.graph
	if g == nil {
		return PCollection[B]{}, PCollection[Failed[A]]{}
	}
	set := settings(opts)
	if set.exhausted != ByDefault {
		g.Problem(name, "OnExhausted(%v) and a dead letter output exclude one another", set.exhausted)
	}
	n := g.Add(&plan.Node{Name: name, Kind: "ParDoDeadLetter", In: []plan.Input{in(c)}})
	n.Fuse = func(t *engine.Task, outs []any) (any, error) {
		dead := outs[1].(Receiver[Failed[A]])
		gd := newGuardTo(t, n, set, func(e *element.Element[A], f Failed[A]) {
			letter := place(e, f)
			dead(&letter)
		})
		return processor(gd, f, outs[0].(Receiver[B])), nil
	}
	results := NewOutput[B](g, n, c.Strategy(), c.c.Bounded)
	return results, NewOutput[Failed[A]](g, n, c.Strategy(), c.c.Bounded)
}

package main

import (
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// pair is an element with a key.
type pair = core.KV[string, int]

// many makes each message into count elements, so that what a message costs does
// not hide what an element costs. keys repeat.
func many(c core.PCollection[int], count int, keys []string) core.PCollection[pair] {
	g, in := c.Untyped()
	n := g.Add(&plan.Node{Name: "many", Kind: "Bench", In: []plan.Input{{From: in, Route: engine.Forward}}})
	n.Fuse = func(_ *engine.Task, outs []any) (any, error) {
		next, at := outs[0].(core.Receiver[pair]), 0
		var out element.Element[pair]
		return core.Receiver[int](func(e *element.Element[int]) {
			out.Time, out.Window, out.Pane, out.Ref = e.Time, e.Window, e.Pane, e.Ref
			for range count {
				if at++; at == len(keys) {
					at = 0
				}
				out.Value = pair{Key: keys[at], Value: 1}
				next(&out)
			}
		}), nil
	}
	return core.NewOutput[pair](g, n, c.Strategy(), true)
}

// exchanged sends each element to the worker of its key; there is nothing else at
// the other end.
func exchanged(c core.PCollection[pair]) core.PCollection[pair] {
	g, in := c.Untyped()
	text := coder.String()
	key := func(dst []byte, kv *pair) ([]byte, error) { return text.Append(dst, kv.Key) }
	n := g.Add(&plan.Node{Name: "exchange", Kind: "Bench", Keyed: true, In: []plan.Input{{From: in, Route: engine.Keyed, Key: key}}})
	n.Head = func(_ *engine.Task, outs []any) (engine.Head, error) {
		return &passOn{next: outs[0].(core.Receiver[pair])}, nil
	}
	return core.NewOutput[pair](g, n, c.Strategy(), true)
}

// passOn is a head that keeps nothing.
type passOn struct {
	engine.BaseHead
	next core.Receiver[pair]
}

// Data passes the elements on.
func (h *passOn) Data(_ int, b engine.Batch) error {
	batch := b.(*engine.Elements[pair])
	for i := range batch.Items {
		h.next(&batch.Items[i])
	}
	return nil
}

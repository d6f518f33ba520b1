package stateful

import (
	"fmt"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// CombinePerKey aggregates the values of each key and window. A window's result
// comes once the watermark has passed its end, with the window's largest timestamp
// (P3, L12); with allowed lateness, what comes after that is a further, late pane
// with only the new values. What comes later still is dropped and counted (L6).
func CombinePerKey[K, V, A, O any](c core.PCollection[core.KV[K, V]], name string, fn CombineFn[V, A, O]) core.PCollection[core.KV[K, O]] {
	g, in := c.Untyped()
	if g == nil {
		return core.PCollection[core.KV[K, O]]{}
	}
	if missing := fn.missing(); len(missing) > 0 {
		g.Problem(name, "its CombineFn lacks %v", missing)
	}
	fn, err := fn.coded()
	if err != nil {
		g.Problem(name, "accumulator: %v", err)
	}
	keys := keyCoder[K](g, name)
	n := g.Add(&plan.Node{
		Name: name, Kind: "CombinePerKey", Keyed: true, Durable: "state",
		Format: fmt.Sprintf("combine(%s,%s)", keys.Name, fn.Coder.Name),
		In:     []plan.Input{{From: in, Route: engine.Keyed, Key: keyOf[K, V](keys)}},
	})
	refuseMerging(g, n, c.Strategy())
	n.Head = func(t *engine.Task, outs []any) (engine.Head, error) {
		return newCombineHead(t, c.Strategy(), keys, fn, outs[0].(core.Receiver[core.KV[K, O]])), nil
	}
	return core.NewOutput[core.KV[K, O]](g, n, c.Strategy(), in.Bounded)
}

// CombineGlobally aggregates all values of each window into one, on one worker. A
// window that nobody saw has no result.
func CombineGlobally[V, A, O any](c core.PCollection[V], name string, fn CombineFn[V, A, O]) core.PCollection[O] {
	keyed := core.Map(c, name+"/key", func(v V) core.KV[struct{}, V] { return core.KV[struct{}, V]{Value: v} })
	combined := CombinePerKey(keyed, name, fn)
	return core.Map(combined, name+"/value", func(kv core.KV[struct{}, O]) O { return kv.Value })
}

// keyCoder infers the coder of a key, which must be deterministic (S2).
func keyCoder[K any](g *plan.Graph, name string) coder.Coder[K] {
	c, err := coder.For[K]()
	switch {
	case err != nil:
		g.Problem(name, "state needs a key with a coder: %v", err)
	case !c.Deterministic:
		g.Problem(name, "state needs a deterministic key coder, %s is not: use a key whose equal values have equal bytes", c.Name)
	}
	return c
}

// keyOf encodes the key of a keyed exchange.
func keyOf[K, V any](c coder.Coder[K]) func([]byte, *element.KV[K, V]) ([]byte, error) {
	return func(dst []byte, kv *element.KV[K, V]) ([]byte, error) { return c.Append(dst, kv.Key) }
}

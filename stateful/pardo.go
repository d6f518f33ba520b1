package stateful

import (
	"fmt"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// DoFn is what [ParDo] calls. Process must be set.
type DoFn[K, V, O any] struct {
	// Process handles one element. Its error is the element's: what the call did to
	// cells and timers is undone, and it is tried again; then OnExhausted decides.
	Process func(ctx Context[K], e *core.Element[core.KV[K, V]], out *core.Out[O]) error
	// OnWindowExpiration is called once for each key and window that saw data, when
	// the watermark has passed the window's end and the allowed lateness, before its
	// state goes. It reads cells and emits at the window's largest timestamp; the
	// output watermark waits there for it (L9, X15). It cannot set timers. Its error
	// belongs to no element, as a timer's.
	OnWindowExpiration func(ctx Context[K], out *core.Out[O]) error
	// StartBundle and FinishBundle are as in core.DoFn: they belong to no key, and
	// FinishBundle emits with EmitIn.
	StartBundle  func(ctx core.Context) error
	FinishBundle func(ctx core.Context, out *core.Out[O]) error
}

// ParDo applies a DoFn that keeps state for each key and window. declare declares
// the cells and timers and returns the DoFn that uses them, one instance for each
// worker; it is called once more while the graph is built. Elements that come after
// their window has expired are dropped and counted (L6, X11).
func ParDo[K, V, O any](c core.PCollection[core.KV[K, V]], name string, declare func(*Decl[K, V, O]) DoFn[K, V, O], opts ...core.Option) core.PCollection[O] {
	g, in := c.Untyped()
	if g == nil {
		return core.PCollection[O]{}
	}
	keys := keyCoder[K](g, name)
	n := &plan.Node{
		Name: name, Kind: "StatefulParDo", Keyed: true, Durable: "state",
		In: []plan.Input{{From: in, Route: engine.Keyed, Key: keyOf[K, V](keys)}},
	}
	cells, problems := rehearse(declare)
	for _, p := range problems {
		g.Problem(name, "state: %v", p)
	}
	n.Format = formatOf(keys.Name, cells)
	g.Add(n)
	refuseMerging(g, n, c.Strategy())
	n.Head = func(t *engine.Task, outs []any) (engine.Head, error) {
		h := newParDoHead(parDo[K, V, O]{
			strategy: c.Strategy(), keys: keys, declare: declare,
			guard: core.NewGuard[core.KV[K, V]](t, n, opts), next: outs[0].(core.Receiver[O]),
		}, t, name)
		if now := formatOf(keys.Name, &h.decl.declarations); now != n.Format {
			return nil, fault.Errorf(fault.Bug, "%s: declares %s on a worker and %s in the graph", name, now, n.Format)
		}
		return h, nil
	}
	return core.NewOutput[O](g, n, c.Strategy(), in.Bounded)
}

func formatOf(keys string, d *declarations) string {
	return fmt.Sprintf("pardo(%s;%s)", keys, d.format())
}

// rehearse declares once without a worker and lists what is wrong.
func rehearse[K, V, O any](declare func(*Decl[K, V, O]) DoFn[K, V, O]) (d *declarations, problems []error) {
	decl := newDecl[K, V, O](&callContext[K]{scope: &scope{}})
	d = &decl.declarations
	if declare == nil {
		return d, []error{fmt.Errorf("there is no declaring function")}
	}
	defer func() {
		d.over = true
		problems = d.problems
		if v := recover(); v != nil {
			problems = append(problems, fmt.Errorf("the declaring function panics: %v", v))
		}
	}()
	if fn := declare(decl); fn.Process == nil {
		d.problem("the DoFn has no Process")
	}
	return d, d.problems
}

// parDo is what the graph knows of one ParDo, and where a worker's elements go.
type parDo[K, V, O any] struct {
	strategy window.Strategy
	keys     coder.Coder[K]
	declare  func(*Decl[K, V, O]) DoFn[K, V, O]
	guard    core.Guard[core.KV[K, V]]
	next     core.Receiver[O]
}

// stand is where a call's outputs stand.
func stand(e *entry, at event.Time) element.Element[struct{}] {
	return element.Element[struct{}]{Time: at, Window: e.pane.window, Pane: event.NoFiring}
}

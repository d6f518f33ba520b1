package core

import (
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// Map applies f to each element's value. A panic of f is an error of the element;
// opts say what becomes of it.
func Map[A, B any](c PCollection[A], name string, f func(A) B, opts ...Option) PCollection[B] {
	return fused(c, name, "Map", opts, func(g *guard[A], next Receiver[B]) Receiver[A] { return mapper(g, f, next) })
}

func mapper[A, B any](g *guard[A], f func(A) B, next Receiver[B]) Receiver[A] {
	var out element.Element[B]
	if !g.careful {
		return func(e *element.Element[A]) {
			out.Value = f(e.Value)
			out.Time, out.Window, out.Pane, out.Ref = e.Time, e.Window, e.Pane, e.Ref
			next(&out)
		}
	}
	call := func(e *element.Element[A]) error {
		out = place(e, f(e.Value))
		return nil
	}
	return func(e *element.Element[A]) {
		if g.run(e, call) {
			next(&out)
		}
	}
}

// Filter keeps the elements for which keep returns true.
func Filter[T any](c PCollection[T], name string, keep func(T) bool, opts ...Option) PCollection[T] {
	return fused(c, name, "Filter", opts, func(g *guard[T], next Receiver[T]) Receiver[T] {
		if !g.careful {
			return func(e *element.Element[T]) {
				if keep(e.Value) {
					next(e)
				}
			}
		}
		var kept bool
		call := func(e *element.Element[T]) error {
			kept = keep(e.Value)
			return nil
		}
		return func(e *element.Element[T]) {
			if g.run(e, call) && kept {
				next(e)
			}
		}
	})
}

// FlatMap emits what f yields for each element, in order.
func FlatMap[A, B any](c PCollection[A], name string, f func(A, func(B)), opts ...Option) PCollection[B] {
	return ParDo(c, name, func(_ Context, e *Element[A], out *Out[B]) error {
		f(e.Value, out.Emit)
		return nil
	}, opts...)
}

// Flatten joins collections of one type into one. They must be windowed alike.
func Flatten[T any](name string, first PCollection[T], more ...PCollection[T]) PCollection[T] {
	all := append([]PCollection[T]{first}, more...)
	g := first.graph
	if g == nil {
		return PCollection[T]{}
	}
	n := &plan.Node{Name: name, Kind: "Flatten", Union: union[T]}
	bounded := true
	for _, c := range all {
		n.In = append(n.In, in(c))
		if c.c == nil {
			continue
		}
		bounded = bounded && c.c.Bounded
		if a, b := first.Strategy().String(), c.Strategy().String(); a != b {
			g.Problem(name, "joins collections windowed differently: %s and %s", a, b)
		}
	}
	g.Add(n)
	return NewOutput[T](g, n, first.Strategy(), bounded)
}

// union passes on the elements of all inputs of a stage.
func union[T any](_ *engine.Task, out any) engine.Head { return &unionHead[T]{next: out.(Receiver[T])} }

type unionHead[T any] struct {
	engine.BaseHead
	next Receiver[T]
}

func (h *unionHead[T]) Data(_ int, b engine.Batch) error {
	items := b.(*engine.Elements[T]).Items
	for i := range items {
		h.next(&items[i])
	}
	return nil
}

// fused adds a stateless transform with one output.
func fused[A, B any](c PCollection[A], name, kind string, opts []Option, build func(*guard[A], Receiver[B]) Receiver[A]) PCollection[B] {
	g := c.graph
	if g == nil {
		return PCollection[B]{}
	}
	set := settings(opts)
	n := g.Add(&plan.Node{Name: name, Kind: kind, In: []plan.Input{in(c)}})
	n.Fuse = func(t *engine.Task, outs []any) (any, error) {
		return build(newGuard[A](t, n, set), outs[0].(Receiver[B])), nil
	}
	return NewOutput[B](g, n, c.Strategy(), c.c.Bounded)
}

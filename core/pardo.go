package core

import (
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// ProcessFunc handles one element and emits any number of others. An error is the
// element's: it is retried in place, then the transform's OnExhausted decides.
type ProcessFunc[A, B any] = func(ctx Context, e *Element[A], out *Out[B]) error

// ParDo applies f to each element.
func ParDo[A, B any](c PCollection[A], name string, f ProcessFunc[A, B], opts ...Option) PCollection[B] {
	return fused(c, name, "ParDo", opts, func(g *guard[A], next Receiver[B]) Receiver[A] {
		return processor(g, f, next)
	})
}

func processor[A, B any](g *guard[A], f ProcessFunc[A, B], next Receiver[B]) Receiver[A] {
	out := &Out[B]{}
	call := func(e *element.Element[A]) error {
		out.Begin(place(e, struct{}{}), true)
		if err := f(g.ctx, e, out); err != nil {
			return err
		}
		return out.err
	}
	return func(e *element.Element[A]) {
		if g.run(e, call) {
			out.Flush(next)
		}
	}
}

// ParDo2 is ParDo with two outputs.
func ParDo2[A, B, C any](c PCollection[A], name string, f func(ctx Context, e *Element[A], first *Out[B], second *Out[C]) error, opts ...Option) (PCollection[B], PCollection[C]) {
	g := c.graph
	if g == nil {
		return PCollection[B]{}, PCollection[C]{}
	}
	set := settings(opts)
	n := g.Add(&plan.Node{Name: name, Kind: "ParDo2", In: []plan.Input{in(c)}})
	n.Fuse = func(t *engine.Task, outs []any) (any, error) {
		gd, b, c := newGuard[A](t, n, set), &Out[B]{}, &Out[C]{}
		call := func(e *element.Element[A]) error {
			at := place(e, struct{}{})
			b.Begin(at, true)
			c.Begin(at, true)
			if err := f(gd.ctx, e, b, c); err != nil {
				return err
			}
			if b.err != nil {
				return b.err
			}
			return c.err
		}
		first, second := outs[0].(Receiver[B]), outs[1].(Receiver[C])
		return Receiver[A](func(e *element.Element[A]) {
			if gd.run(e, call) {
				b.Flush(first)
				c.Flush(second)
			}
		}), nil
	}
	return NewOutput[B](g, n, c.Strategy(), c.c.Bounded), NewOutput[C](g, n, c.Strategy(), c.c.Bounded)
}

// DoFn is a ParDo with a life: one instance per worker, told of each bundle. What
// FinishBundle emits belongs to the bundle. Embed [BundleFree] for the two that
// need nothing.
type DoFn[A, B any] interface {
	StartBundle(ctx Context) error
	ProcessElement(ctx Context, e *Element[A], out *Out[B]) error
	// FinishBundle emits with EmitIn. Its error has no element: the epoch is
	// abandoned and done again.
	FinishBundle(ctx Context, out *Out[B]) error
}

// BundleFree is for DoFns that do not care about bundles.
type BundleFree[B any] struct{}

// StartBundle does nothing.
func (BundleFree[B]) StartBundle(Context) error { return nil }

// FinishBundle does nothing.
func (BundleFree[B]) FinishBundle(Context, *Out[B]) error { return nil }

// ParDoFn applies a DoFn, an instance of make per worker. While a bundle is open
// the output watermark stays at its earliest element, so that what FinishBundle
// emits at an element's time is not late (H10).
func ParDoFn[A, B any](c PCollection[A], name string, make func() DoFn[A, B], opts ...Option) PCollection[B] {
	return fused(c, name, "ParDoFn", opts, func(g *guard[A], next Receiver[B]) Receiver[A] {
		fn := make()
		low := event.Max
		g.t.OnStart(func() error { return protect(func() error { return fn.StartBundle(g.ctx) }) })
		g.t.OnHold(func() event.Time { return low })
		process := processor(g, fn.ProcessElement, next)
		out := &Out[B]{}
		g.t.OnFinish(func() error {
			out.Begin(element.Element[struct{}]{}, false)
			if err := protect(func() error { return fn.FinishBundle(g.ctx, out) }); err != nil {
				return err
			}
			if out.err != nil {
				return out.err
			}
			out.Flush(next)
			low = event.Max
			return nil
		})
		return func(e *element.Element[A]) {
			low = min(low, e.Time)
			process(e)
		}
	})
}

// protect runs user code and turns its panic into an error.
func protect(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = engine.Recovered(v)
		}
	}()
	return f()
}

package core

import (
	"time"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// WindowOptions go with WindowInto; the zero value allows no lateness.
type WindowOptions struct {
	// AllowedLateness is how long after a window's end its elements are still taken.
	// Windowing again keeps the longer of the two (L10).
	AllowedLateness time.Duration
}

// WindowInto assigns each element to the windows of fn, one copy per window. Late
// elements stay in: a later stateful transform drops them, counted.
func WindowInto[T any](c PCollection[T], name string, fn window.Fn, options ...WindowOptions) PCollection[T] {
	on, _ := windowInto(c, name, fn, options, false)
	return on
}

// WindowIntoWithLate is WindowInto with a second output: what comes after the
// watermark has passed its window's end and the allowed lateness goes there, in the
// global window, once for all its windows. Nothing of the first output is late at
// any later transform.
func WindowIntoWithLate[T any](c PCollection[T], name string, fn window.Fn, options ...WindowOptions) (onTime, late PCollection[T]) {
	return windowInto(c, name, fn, options, true)
}

func windowInto[T any](c PCollection[T], name string, fn window.Fn, options []WindowOptions, split bool) (on, late PCollection[T]) {
	g := c.graph
	if g == nil {
		return on, late
	}
	strategy := window.Strategy{Fn: fn, AllowedLateness: c.Strategy().AllowedLateness}
	for _, o := range options {
		if o.AllowedLateness < 0 {
			g.Problem(name, "AllowedLateness %v is negative", o.AllowedLateness)
		}
		strategy.AllowedLateness = max(strategy.AllowedLateness, o.AllowedLateness)
	}
	if fn == nil {
		g.Problem(name, "the window function is nil")
		strategy.Fn = window.Global()
	} else if err := window.Validate(fn); err != nil {
		g.Problem(name, "%v", err)
	}
	n := g.Add(&plan.Node{Name: name, Kind: "WindowInto", In: []plan.Input{in(c)}})
	n.Fuse = func(t *engine.Task, outs []any) (any, error) {
		a := &assigner[T]{t: t, strategy: strategy, next: outs[0].(Receiver[T])}
		if split {
			a.late = outs[1].(Receiver[T])
		}
		return Receiver[T](a.receive), nil
	}
	on = NewOutput[T](g, n, strategy, c.c.Bounded)
	if split {
		late = NewOutput[T](g, n, globally, c.c.Bounded)
	}
	return on, late
}

// assigner puts elements into windows in one worker.
type assigner[T any] struct {
	t        *engine.Task
	strategy window.Strategy
	next     Receiver[T]
	late     Receiver[T]
	windows  []window.Window
	out      element.Element[T]
}

func (a *assigner[T]) receive(e *element.Element[T]) {
	a.windows = a.strategy.Fn.Assign(a.windows[:0], e.Time)
	kept := 0
	for _, w := range a.windows {
		if a.late != nil && a.strategy.Expired(w, a.t.OutputWatermark()) {
			continue
		}
		kept++
		a.out = *e
		a.out.Window = w
		a.next(&a.out)
	}
	if a.late != nil && kept == 0 && len(a.windows) > 0 {
		a.out = *e
		a.out.Window = window.GlobalWindow
		a.late(&a.out)
	}
}

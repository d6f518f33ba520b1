package core

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// The values that travel through a pipeline, under their users' names.
type (
	// Element is one value with event time, window and pane.
	Element[T any] = element.Element[T]
	// KV is a value with its key.
	KV[K, V any] = element.KV[K, V]
	// Message is one delivery of one message of a queue.
	Message = source.Message
)

// Pipeline is a graph of transforms under construction. Not safe for concurrent
// use; building starts nothing.
type Pipeline struct {
	graph *plan.Graph
}

// NewPipeline returns an empty pipeline. The name is for messages and metrics.
func NewPipeline(name string) *Pipeline {
	return &Pipeline{graph: &plan.Graph{Name: name}}
}

// Graph is the untyped graph, for the packages of this module that add transforms
// and for drivers.
func (p *Pipeline) Graph() *plan.Graph { return p.graph }

// Validate returns every mistake of the graph joined into one error, nil if there
// is none. Run calls it before anything is read.
func (p *Pipeline) Validate() error {
	problems := p.graph.Problems()
	if len(p.graph.Nodes) == 0 {
		problems = append(problems, fmt.Errorf("%s: the pipeline is empty", p.graph.Name))
	}
	if len(problems) == 0 {
		return nil
	}
	return &GraphError{Pipeline: p.graph.Name, Problems: problems}
}

// GraphError lists all mistakes of a graph.
type GraphError struct {
	Pipeline string
	Problems []error
}

func (e *GraphError) Error() string {
	return fmt.Sprintf("pipeline %s has %d mistakes:\n%v", e.Pipeline, len(e.Problems), errors.Join(e.Problems...))
}

// Unwrap gives the mistakes to errors.Is and errors.As.
func (e *GraphError) Unwrap() []error { return e.Problems }

// PCollection is the elements a transform produces. The zero value belongs to no
// pipeline and is a mistake wherever it is used.
type PCollection[T any] struct {
	graph *plan.Graph
	c     *plan.Collection
}

// Strategy is how the collection is windowed.
func (c PCollection[T]) Strategy() window.Strategy {
	if c.c == nil {
		return window.Strategy{Fn: window.Global()}
	}
	return c.c.Strategy
}

// Untyped gives the packages of this module the graph and the collection.
func (c PCollection[T]) Untyped() (*plan.Graph, *plan.Collection) { return c.graph, c.c }

// Signal is a collection as something to wait for: its elements do not matter,
// only when it has finished. Signals of collections of any type mix.
type Signal struct {
	c *plan.Collection
}

// Done is the collection as a signal.
func (c PCollection[T]) Done() Signal { return Signal{c.c} }

// Untyped gives the gating package the collection.
func (s Signal) Untyped() *plan.Collection { return s.c }

// NewOutput adds an output of type T to node n: for the packages of this module.
func NewOutput[T any](g *plan.Graph, n *plan.Node, strategy window.Strategy, bounded bool) PCollection[T] {
	c := g.Collect(n, &plan.Collection{
		Strategy: strategy, Bounded: bounded, Type: reflect.TypeFor[T]().String(),
		Ops: plan.Ops{Fan: fan[T], Send: send[T]},
	})
	return PCollection[T]{graph: g, c: c}
}

// Receiver takes the elements of one collection in one worker.
type Receiver[T any] = func(*element.Element[T])

func fan[T any](receivers []any) any {
	switch len(receivers) {
	case 0:
		return Receiver[T](func(*element.Element[T]) {})
	case 1:
		return receivers[0]
	}
	all := make([]Receiver[T], len(receivers))
	for i, r := range receivers {
		all[i] = r.(Receiver[T])
	}
	return Receiver[T](func(e *element.Element[T]) {
		for _, r := range all {
			r(e)
		}
	})
}

func send[T any](t *engine.Task, edge int, key any) any {
	encode, _ := key.(func(dst []byte, v *T) ([]byte, error))
	return Receiver[T](engine.NewSender(t, edge, encode).Send)
}

// in is collection c as a node's input, each element on the worker it is on.
func in[T any](c PCollection[T]) plan.Input { return plan.Input{From: c.c, Route: engine.Forward} }

// place copies from's place (time, window, pane, delivery) onto another value.
func place[A, B any](from *element.Element[A], v B) element.Element[B] {
	return element.Element[B]{Value: v, Time: from.Time, Window: from.Window, Pane: from.Pane, Ref: from.Ref}
}

// globally is the strategy of a collection that was never windowed.
var globally = window.Strategy{Fn: window.Global()}

// Package plan holds the untyped graph of a pipeline and turns it into the stages
// the engine runs. Its main noun is [Graph]: nodes (what the user wrote) joined by
// collections.
//
// The typed halves live in the closures that the generic constructors of core,
// stateful, gating and sinks put into a [Node]; this package only decides which
// nodes share a stage and which edges cross between stages.
package plan

import (
	"fmt"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
)

// Graph is a pipeline as it was built.
type Graph struct {
	Name        string
	Nodes       []*Node
	Collections []*Collection
	problems    []error
}

// Node is one transform.
type Node struct {
	// Name is unique in the graph: the identity of the transform's state on disk.
	Name string
	// Kind is "Read", "ParDo", "WaitOn", …
	Kind string
	In   []Input
	Out  []*Collection
	// Exactly one of Fuse, Head, Union is set. Fuse makes the receiver of the
	// elements of all inputs for one worker, given the receivers of the outputs: each
	// a func(*element.Element[T]). Head starts a stage. Union is a flatten: fused
	// where all inputs come from one stage, else a stage of its own.
	Fuse  func(t *engine.Task, out []any) (any, error)
	Head  func(t *engine.Task, out []any) (engine.Head, error)
	Union func(t *engine.Task, out any) engine.Head
	// Source is set for a read.
	Source *engine.SourceSpec
	// Keyed heads run on all workers, others on those of their input.
	Keyed bool
	// Durable says what the node keeps, "" for nothing: a node that keeps something
	// needs a store.
	Durable string
	// Format names the coders of what it keeps; a change is incompatible.
	Format string
	// Transform is set by Compile.
	Transform store.TransformID

	stage *stage
}

// Input is one collection that a node consumes.
type Input struct {
	From *Collection
	// Route is Forward, Keyed (with Key, a func(dst []byte, v *T) ([]byte, error)) or
	// Signal.
	Route engine.Route
	Key   any
}

// Collection is what a node produces.
type Collection struct {
	From     *Node
	Strategy window.Strategy
	// Type is the Go type of its elements.
	Type string
	// Bounded: it ends by itself.
	Bounded bool
	Ops     Ops
	uses    []use
}

// Used says whether anything consumes the collection.
func (c *Collection) Used() bool { return len(c.uses) > 0 }

type use struct {
	node *Node
	in   int
}

// Ops are the typed operations on a collection's elements.
type Ops struct {
	// Fan joins receivers into one.
	Fan func(receivers []any) any
	// Send makes the receiver that sends to output edge number edge of a task.
	Send func(t *engine.Task, edge int, key any) any
}

// Add puts n into the graph; a missing or repeated name is a problem.
func (g *Graph) Add(n *Node) *Node {
	if n.Name == "" {
		g.Problem(n.Kind, "has no name: give every transform one, it is the identity of its state")
	}
	for _, o := range g.Nodes {
		if o.Name == n.Name && n.Name != "" {
			g.Problem(n.Name, "the name is used twice (by %s and %s): names are the identity of state, choose another", o.Kind, n.Kind)
		}
	}
	g.Nodes = append(g.Nodes, n)
	for i, in := range n.In {
		if in.From == nil {
			g.Problem(n.Name, "input %d is not a collection of any pipeline", i)
			continue
		}
		in.From.uses = append(in.From.uses, use{n, i})
	}
	return n
}

// Collect adds an output to n.
func (g *Graph) Collect(n *Node, c *Collection) *Collection {
	c.From = n
	n.Out = append(n.Out, c)
	g.Collections = append(g.Collections, c)
	return c
}

// Problem notes a mistake in the graph, to be reported with all others.
func (g *Graph) Problem(name, format string, args ...any) {
	g.problems = append(g.problems, fmt.Errorf("%s: "+format, append([]any{name}, args...)...))
}

// Problems lists the mistakes noted so far.
func (g *Graph) Problems() []error { return g.problems }

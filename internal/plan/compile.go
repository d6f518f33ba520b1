package plan

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// stage is an engine stage while it is being put together.
type stage struct {
	*engine.Stage
	head  *Node
	nodes []*Node
	// edges numbers the uses that leave the stage, in the order of spec.Outputs.
	edges  map[use]int
	region int
}

// Settings are what the run decides about a graph.
type Settings struct {
	// Parallelism is how many workers keyed stages get; zero: GOMAXPROCS.
	Parallelism int
	// TransformID and RegionID allot ids by name.
	TransformID func(n *Node) store.TransformID
	RegionID    func(name string) store.RegionID
}

// Compile turns a graph without problems into a program.
func Compile(g *Graph, s Settings) (*engine.Program, error) {
	if s.Parallelism <= 0 {
		s.Parallelism = runtime.GOMAXPROCS(0)
	}
	var stages []*stage
	for _, n := range g.Nodes {
		n.Transform = s.TransformID(n)
		if st := stageOf(n); st != nil {
			n.stage = st
			st.nodes = append(st.nodes, n)
			continue
		}
		n.stage = newStage(n, s)
		stages = append(stages, n.stage)
	}
	for _, st := range stages {
		st.connect()
		st.Build = st.build
	}
	signalled(stages)
	return &engine.Program{Name: g.Name, Regions: regions(stages, s)}, nil
}

// stageOf is the stage that n is fused into, nil if it starts one.
func stageOf(n *Node) *stage {
	if n.Head != nil || len(n.In) == 0 {
		return nil
	}
	first := n.In[0].From.From.stage
	for _, in := range n.In {
		if in.From.From.stage != first {
			return nil
		}
	}
	return first
}

func newStage(n *Node, s Settings) *stage {
	st := &stage{
		Stage: &engine.Stage{Name: n.Name, Transform: n.Transform, Source: n.Source, Inputs: len(n.In)},
		head:  n, nodes: []*Node{n}, edges: map[use]int{},
	}
	st.Workers = workers(n, s)
	return st
}

// workers: a source has its readers, a keyed head the run's parallelism, any other
// head as many as the fewest of its data inputs, so that each worker has a sender.
func workers(n *Node, s Settings) int {
	switch {
	case n.Source != nil:
		return max(1, min(n.Source.Caps.Readers, s.Parallelism))
	case n.Keyed:
		return s.Parallelism
	}
	fewest := 0
	for _, in := range n.In {
		if in.Route == engine.Signal {
			continue
		}
		if w := in.From.From.stage.Workers; fewest == 0 || w < fewest {
			fewest = w
		}
	}
	return max(1, fewest)
}

// connect lists the edges that leave the stage.
func (st *stage) connect() {
	for _, n := range st.nodes {
		for _, c := range n.Out {
			for _, u := range c.uses {
				if st.fused(u) {
					continue
				}
				in := u.node.In[u.in]
				st.edges[u] = len(st.Outputs)
				st.Outputs = append(st.Outputs, &engine.Edge{To: u.node.stage.Stage, Input: u.in, Route: in.Route})
			}
		}
	}
}

// signalled marks every stage that a signal is derived from: what leads to a
// signalled stage is signalled too.
func signalled(stages []*stage) {
	for i := len(stages) - 1; i >= 0; i-- {
		for _, e := range stages[i].Outputs {
			stages[i].Signalled = stages[i].Signalled || e.Route == engine.Signal || e.To.Signalled
		}
	}
}

func (st *stage) fused(u use) bool { return u.node.stage == st && u.node != st.head }

// build makes the head and chain of one worker.
func (st *stage) build(t *engine.Task) (engine.Head, error) {
	b := &builder{stage: st, task: t, receivers: map[*Node]any{}}
	outs, err := b.outs(st.head)
	if err != nil {
		return nil, err
	}
	if st.head.Union != nil {
		return st.head.Union(t, outs[0]), nil
	}
	return st.head.Head(t, outs)
}

// builder makes one worker's receivers, from the ends of the chain to its head.
type builder struct {
	stage     *stage
	task      *engine.Task
	receivers map[*Node]any
}

func (b *builder) outs(n *Node) ([]any, error) {
	outs := make([]any, len(n.Out))
	for i, c := range n.Out {
		var to []any
		for _, u := range c.uses {
			r, err := b.receiver(c, u)
			if err != nil {
				return nil, err
			}
			if r != nil {
				to = append(to, r)
			}
		}
		outs[i] = c.Ops.Fan(to)
	}
	return outs, nil
}

// receiver is where the elements of c go for one of its uses; nil for a signal.
func (b *builder) receiver(c *Collection, u use) (any, error) {
	in := u.node.In[u.in]
	if !b.stage.fused(u) {
		if in.Route == engine.Signal {
			return nil, nil
		}
		return c.Ops.Send(b.task, b.stage.edges[u], in.Key), nil
	}
	if r, ok := b.receivers[u.node]; ok {
		return r, nil
	}
	outs, err := b.outs(u.node)
	if err != nil {
		return nil, err
	}
	var r any
	if u.node.Union != nil {
		r = outs[0]
	} else if r, err = u.node.Fuse(b.task, outs); err != nil {
		return nil, fmt.Errorf("%s: %w", u.node.Name, err)
	}
	b.receivers[u.node] = r
	return r, nil
}

// regions groups connected stages; each region is named after its first stage.
func regions(stages []*stage, s Settings) []*engine.RegionSpec {
	for i, st := range stages {
		st.region = i
	}
	for changed := true; changed; {
		changed = false
		for _, st := range stages {
			for u := range st.edges {
				a, b := st, u.node.stage
				if low := min(a.region, b.region); a.region != low || b.region != low {
					a.region, b.region, changed = low, low, true
				}
			}
		}
	}
	var specs []*engine.RegionSpec
	for i, st := range stages {
		if st.region != i {
			continue
		}
		spec := &engine.RegionSpec{Name: st.Name, ID: s.RegionID(st.Name)}
		for _, o := range stages {
			if o.region == i {
				spec.Stages = append(spec.Stages, o.Stage)
			}
		}
		specs = append(specs, spec)
	}
	return slices.Clip(specs)
}

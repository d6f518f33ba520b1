package stateful

import (
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/plan"
)

// refuseMerging refuses sessions under state (S3).
func refuseMerging(g *plan.Graph, n *plan.Node, s window.Strategy) {
	if s.Fn != nil && s.Fn.Merging() {
		g.Problem(n.Name, "state under merging windows (%v) is not supported: use fixed, sliding or global windows", s.Fn)
	}
}

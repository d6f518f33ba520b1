package core

import (
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// Guard calls user code for elements, with the attempts and the policy that the
// transform's options ask for: for the packages of this module.
type Guard[A any] struct{ guard *guard[A] }

// NewGuard is the guard of node n in task t.
func NewGuard[A any](t *engine.Task, n *plan.Node, opts []Option) Guard[A] {
	return Guard[A]{newGuard[A](t, n, settings(opts))}
}

// Run calls call until it succeeds or is given up; false: the element is dealt with
// and has no output. Each call begins by undoing what a failed one has left.
func (g Guard[A]) Run(e *element.Element[A], call func(*element.Element[A]) error) bool {
	return g.guard.run(e, call)
}

// Context is what call hands to user code; it counts the attempts.
func (g Guard[A]) Context() Context { return g.guard.ctx }

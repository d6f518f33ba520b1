package engine

import (
	"context"
	"time"

	"github.com/gosluice/sluice/core/store"
)

// Ports is everything the engine asks of the world. A driver implements it.
type Ports interface {
	// Call runs c.Run elsewhere and then calls c.Complete from anywhere; Complete
	// posts into a mailbox.
	Call(c Call)
	// Commit writes c and calls done from anywhere when the outcome is known.
	Commit(c *store.Commit, done func(error))
	// Pause waits for d inside a step (a retry in place) or until ctx ends.
	Pause(ctx context.Context, d time.Duration) error
	// Elapsed is a monotonic reading for measuring the engine's own work.
	Elapsed() time.Duration
	// Jitter is a random number in [0, 1).
	Jitter() float64
	// Start begins stepping the tasks; Halt stops it and calls done when none of
	// them is being stepped any more.
	Start(tasks []*Task)
	Halt(tasks []*Task, done func())
}

// Call is work that may block: opening readers, settling, sink writes, effects,
// finalizers.
type Call struct {
	// Name is for profiles, traces and the seeded driver's faults.
	Name string
	// Kind groups calls for the driver's limits and faults.
	Kind CallKind
	Run  func(ctx context.Context) (any, error)
	// Complete gets Run's results. Never nil.
	Complete func(result any, err error)
}

// CallKind says what a call is for.
type CallKind uint8

// The kinds of calls.
const (
	CallOpen CallKind = iota
	CallSettle
	CallExtend
	CallWrite
	CallStage
	CallEffect
	CallFinalizer
	CallClose
)

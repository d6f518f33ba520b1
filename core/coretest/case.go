package coretest

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store/memory"
)

// Case is one run of one pipeline: built and scripted by the function given to
// [Run]. Not safe for concurrent use.
type Case struct {
	pipeline *core.Pipeline
	db       *memory.DB
	steps    []step
	streams  []*script
	// dropped is set by the driver that runs the case.
	dropped func() int64
}

// step is one line of the script.
type step struct {
	what string
	// do acts; nil for an expectation.
	do func()
	// advance lets processing time pass.
	advance time.Duration
	// virtual is time that passes on the seeded driver only.
	virtual time.Duration
	// check is an expectation; it may be asked repeatedly until it is nil.
	check func() error
}

func newCase() *Case {
	return &Case{pipeline: core.NewPipeline("coretest"), db: memory.NewWithID("coretest")}
}

// Pipeline is where the case's transforms go.
func (c *Case) Pipeline() *core.Pipeline { return c.pipeline }

// Advance lets processing time pass. On the goroutine driver it really passes: keep
// it short.
func (c *Case) Advance(d time.Duration) {
	c.steps = append(c.steps, step{what: fmt.Sprintf("advance %v", d), advance: d})
}

// Patience lets up to d of processing time pass for what retries with backoff: in
// virtual time at once; on the goroutine driver expectations wait by themselves.
func (c *Case) Patience(d time.Duration) {
	c.steps = append(c.steps, step{what: fmt.Sprintf("patience %v", d), virtual: d})
}

// Check expects that f returns nil by now.
func (c *Case) Check(what string, f func() error) {
	c.steps = append(c.steps, step{what: what, check: f})
}

// ExpectDropped expects that n elements have been dropped as late by now (L6).
func (c *Case) ExpectDropped(n int64) {
	c.Check(fmt.Sprintf("expect %d dropped as late", n), func() error {
		if got := c.dropped(); got != n {
			return fmt.Errorf("%d elements were dropped as late, want %d", got, n)
		}
		return nil
	})
}

// Do acts on the world outside the pipeline: a target that fails from now on.
func (c *Case) Do(what string, f func()) { c.act(what, f) }

func (c *Case) act(what string, do func()) { c.steps = append(c.steps, step{what: what, do: do}) }

// Timed is a value at an event time.
type Timed[T any] struct {
	Value T
	Time  event.Time
}

// At is a value at t milliseconds, the unit of the conformance cases.
func At[T any](v T, ms int64) Timed[T] { return Timed[T]{v, event.Millis(ms)} }

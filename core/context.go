package core

import (
	"context"
	"log/slog"
	"time"

	"github.com/gosluice/sluice/internal/engine"
)

// Context is what a DoFn may use besides its element. It ends when the bundle is
// given up or the run is cancelled. Valid during the call only.
type Context interface {
	context.Context
	// AfterBundleCommit registers a finalizer: f runs once the bundle is durable,
	// and never for a bundle that was abandoned (F2, F4). A failing f is retried
	// with backoff until expiry, wall clock from now (X5, X6). It may run on another
	// goroutine after the DoFn is gone, so it carries its own data (F12). It may
	// never run (F5).
	AfterBundleCommit(expiry time.Duration, f func(ctx context.Context) error)
	// Attempt counts the tries of this element in this bundle, from 1.
	Attempt() int
	// Logger is the pipeline's with the transform's name.
	Logger() *slog.Logger
}

type runContext struct {
	context.Context
	t       *engine.Task
	name    string
	attempt int
	log     *slog.Logger
}

func newContext(t *engine.Task, name string) *runContext {
	return &runContext{Context: t.Context(), t: t, name: name, attempt: 1, log: t.Logger().With("transform", name)}
}

// NewContext is a DoFn's context in task t: for the packages of this module.
func NewContext(t *engine.Task, name string) Context { return newContext(t, name) }

func (c *runContext) AfterBundleCommit(expiry time.Duration, f func(context.Context) error) {
	c.t.AfterCommit(engine.Finalizer{Name: c.name, Expires: c.t.Now().Add(expiry), Run: f})
}

func (c *runContext) Attempt() int         { return c.attempt }
func (c *runContext) Logger() *slog.Logger { return c.log }

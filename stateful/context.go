package stateful

import (
	"context"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// Context is what a DoFn with state may use besides its element and cells. Valid
// during the call only.
type Context[K any] interface {
	core.Context
	// Key is the key whose cells are shown.
	Key() K
	// Window is the window whose cells are shown.
	Window() window.Window
	// Expires is the last time a timer can be set for: the window's end plus the
	// allowed lateness. A timer that sets itself again stops there (T28).
	Expires() event.Time
}

// TimerContext is what the callback of a timer may use (T10).
type TimerContext[K any] interface {
	Context[K]
	// Timer is the name of the timer or family, Tag the tag in a family.
	Timer() string
	Tag() string
	// FireTime is what the timer was set for.
	FireTime() event.Time
	// Timestamp is the timer's output timestamp: where what is emitted stands.
	Timestamp() event.Time
}

// callContext is the context of all calls of one worker.
type callContext[K any] struct {
	core.Context
	scope *scope
	key   K
	// timer and fired are set while a timer's callback runs.
	timer *timer
	fired timerState
}

func (c *callContext[K]) Key() K                { return c.key }
func (c *callContext[K]) Window() window.Window { return c.scope.entry.pane.window }
func (c *callContext[K]) Expires() event.Time   { return c.scope.expiry }
func (c *callContext[K]) Timer() string         { return c.timer.cell.name }
func (c *callContext[K]) Tag() string           { return c.timer.tag }
func (c *callContext[K]) FireTime() event.Time  { return c.fired.at }
func (c *callContext[K]) Timestamp() event.Time { return c.fired.output }

// AfterBundleCommit keeps f until the call has succeeded: a failed attempt's
// finalizers go with it (F4).
func (c *callContext[K]) AfterBundleCommit(expiry time.Duration, f func(context.Context) error) {
	c.scope.finalizers = append(c.scope.finalizers, finalizer{expiry, f})
}

// keep makes what the call did count.
func (c *callContext[K]) keep() {
	c.scope.keep()
	for i, f := range c.scope.finalizers {
		c.Context.AfterBundleCommit(f.expiry, f.run)
		c.scope.finalizers[i] = finalizer{}
	}
	c.scope.finalizers = c.scope.finalizers[:0]
}

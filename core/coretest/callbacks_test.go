package coretest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
)

// callbacks registers one finalizer for each order and sees which run.
type callbacks struct {
	r          *rig
	registered int
	// ran is the registration that ran, by order.
	ran map[int]int
}

func newCallbacks(r *rig) *callbacks { return &callbacks{r: r, ran: map[int]int{}} }

// register is a DoFn that passes orders on.
func (c *callbacks) register(ctx core.Context, e *core.Element[order], out *core.Out[order]) error {
	c.registered++
	id, n := e.Value.ID, c.registered
	ctx.AfterBundleCommit(time.Hour, func(context.Context) error { return c.run(id, n) })
	out.Emit(e.Value)
	return nil
}

// run: after the commit of its bundle (F2), and of no other attempt (F4).
func (c *callbacks) run(id, n int) error {
	if c.r.db != nil {
		at := c.r.where[id]
		if mark, err := c.r.committedMark(at.feed, at.channel); err != nil || !mark.Has(at.position) {
			c.r.fail("the callback of order %d ran before its commit (%+v, %v)", id, mark, err)
		}
	}
	if other, ok := c.ran[id]; ok && other != n && c.r.db != nil {
		c.r.fail("callbacks of two attempts of order %d ran", id)
	}
	c.ran[id] = n
	return nil
}

// complete: every callback ran, where no process crashes or is stopped (F5).
func (c *callbacks) complete() error {
	if c.r.faulty.Crash+c.r.faulty.Stop > 0 {
		return nil
	}
	for _, o := range c.r.all() {
		if _, ok := c.ran[o.ID]; !ok {
			return fmt.Errorf("the callback of order %d never ran", o.ID)
		}
	}
	return nil
}

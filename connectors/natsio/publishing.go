package natsio

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// publishing is one call of Publish. Its goroutine sends and takes confirmations in
// turn; the caller may give it up at any time.
type publishing struct {
	p     *Publisher
	msgs  []sinks.OutMessage
	inbox string
	done  chan struct{} // closed when the goroutine has ended

	mu struct {
		sync.Mutex
		fates []fate
		over  bool
	}
}

// fate is what became of one message.
type fate struct {
	state state
	pub   sinks.Published
	err   error
}

type state uint8

const (
	unsent state = iota
	sent
	confirmed
	failed
)

func newPublishing(p *Publisher, msgs []sinks.OutMessage) *publishing {
	c := &publishing{p: p, msgs: msgs, inbox: p.nc.NewInbox() + ".", done: make(chan struct{})}
	c.mu.fates = make([]fate, len(msgs))
	return c
}

// run is the goroutine of the call.
func (c *publishing) run(ctx context.Context) {
	defer close(c.done)
	window := min(c.p.cfg.MaxPending, len(c.msgs))
	replies := make(chan *nats.Msg, window)
	sub, err := c.p.nc.ChanSubscribe(c.inbox+"*", replies)
	if err != nil {
		c.giveUp(err)
		return
	}
	defer func() { _ = sub.Unsubscribe() }()
	broken := c.p.nc.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer c.p.nc.RemoveStatusListener(broken)
	if err := c.pump(ctx, replies, broken, window); err != nil {
		c.giveUp(err)
	}
}

// pump keeps up to window messages unconfirmed until all have been dealt with.
func (c *publishing) pump(ctx context.Context, replies <-chan *nats.Msg, broken <-chan nats.Status, window int) error {
	timer := time.NewTimer(c.p.cfg.ConfirmWait)
	defer timer.Stop()
	next, pending := 0, 0
	for next < len(c.msgs) || pending > 0 {
		if next < len(c.msgs) && pending < window {
			ok, err := c.send(ctx, next)
			if err != nil {
				return err
			}
			if next++; ok {
				pending++
			}
			continue
		}
		select {
		case m := <-replies:
			c.take(m)
			pending--
			timer.Reset(c.p.cfg.ConfirmWait)
		case <-broken:
			return errDisconnected
		case <-timer.C:
			return fmt.Errorf("no confirmation for %v", c.p.cfg.ConfirmWait)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

var errDisconnected = fault.Errorf(fault.Transient, "disconnected")

// send publishes message i. An error ends the call; a message that can never be
// sent is only a failure of its own.
func (c *publishing) send(ctx context.Context, i int) (ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !c.p.nc.IsConnected() {
		return false, errDisconnected
	}
	m, err := c.p.message(&c.msgs[i])
	if err == nil {
		m.Reply = c.inbox + strconv.Itoa(i)
		if !c.mark(i, fate{state: sent}) {
			return false, errClosed
		}
		err = c.p.nc.PublishMsg(m)
	}
	switch {
	case err == nil:
		return true, nil
	case fault.Of(err) == fault.Permanent || classOf(err) == fault.Permanent && !errors.Is(err, nats.ErrConnectionClosed):
		c.mark(i, fate{state: failed, err: fault.As(fault.Permanent, err)})
		return false, nil
	}
	c.mark(i, fate{state: unsent})
	if errors.Is(err, nats.ErrConnectionClosed) {
		err = fault.As(fault.Closed, err)
	}
	return false, err
}

// mark notes the fate of message i unless the call is over.
func (c *publishing) mark(i int, f fate) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.over {
		return false
	}
	c.mu.fates[i] = f
	return true
}

// giveUp ends the call: what was sent and not confirmed is ambiguous, what was not
// sent has the class of err.
func (c *publishing) giveUp(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.over {
		return
	}
	for i := range c.mu.fates {
		switch f := &c.mu.fates[i]; f.state {
		case unsent:
			*f = fate{state: failed, err: err}
		case sent:
			*f = fate{state: failed, err: fault.Errorf(fault.Ambiguous, "sent, not confirmed: %w", err)}
		}
	}
	c.mu.over = true
}

// wait gives the goroutine of a call that was given up the time to notice, so that
// it reads the messages no more. One that is stuck in the client is left behind; it
// sends no further message.
func (c *publishing) wait() {
	const grace = 50 * time.Millisecond
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	}
}

// results lists the outcome, by message ID.
func (c *publishing) results() (published []sinks.Published, failures []sinks.PublishFailure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.over = true
	published = make([]sinks.Published, 0, len(c.msgs))
	for i := range c.mu.fates {
		f := &c.mu.fates[i]
		if f.state == confirmed {
			published = append(published, f.pub)
			continue
		}
		id := c.msgs[i].ID
		class := fault.Of(f.err)
		failures = append(failures, sinks.PublishFailure{
			ID: id, Err: fault.As(class, fmt.Errorf("nats: publish %q to %s: %w", id, c.subject(i), f.err)),
		})
	}
	return published, failures
}

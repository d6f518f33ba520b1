package acks

import (
	"container/heap"
	"container/list"
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Pending is a callback to be called now, its context ending with Expiry.
type Pending struct {
	Bundle Bundle
	Name   string
	// Attempt counts calls from 1.
	Attempt int
	Expiry  time.Time
	Fn      func(context.Context) error

	c *callback
}

// Next returns what to call now: at most one callback of each committed bundle.
// The caller owes Done for each, then asks again. wake is when to ask at the
// latest, zero for not before Committed or Done. Expired callbacks are dropped and
// counted, never returned.
func (r *Registry) Next(now time.Time) (run []Pending, wake time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.mu.shelf
	s.expire(now)
	s.wakeUp(now)
	run = s.start(nil, s.first, s.limit)
	run = s.start(run, s.again, max(1, s.limit/2))
	return run, sooner(s.expiries.next(), s.retries.next())
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// start calls from a queue of bundles; retries only up to a limit of their own.
func (s *shelf) start(run []Pending, queue *list.List, retries int) []Pending {
	for queue.Len() > 0 && s.running < s.limit && (queue == s.first || s.runningAgain < retries) {
		e := queue.Front().Value.(*bundle)
		e.unqueue()
		if c := e.pick(); c != nil {
			run = append(run, s.call(c))
		}
	}
	return run
}

// pick is the next callback of e, nil if there is none to call.
func (e *bundle) pick() *callback {
	for len(e.todo) > 0 {
		c := e.todo[0]
		e.todo = e.todo[1:]
		if c.state == ready {
			return c
		}
	}
	return nil
}

// call hands c out.
func (s *shelf) call(c *callback) Pending {
	c.state = running
	c.bundle.busy++
	s.running++
	if c.attempts > 0 {
		s.runningAgain++
	}
	c.attempts++
	return Pending{Bundle: c.bundle.id, Name: c.Name, Attempt: c.attempts, Expiry: c.Expiry, Fn: c.Fn, c: c}
}

// Done takes the outcome of a call. An error has it called again later; one that
// comes after the expiry is the last.
func (r *Registry) Done(p Pending, err error, now time.Time) {
	jitter := 0.0
	if err != nil && r.opts.Jitter != nil {
		jitter = r.opts.Jitter()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, c := &r.mu.shelf, p.c
	if c == nil || c.state != running || c.attempts != p.Attempt {
		return
	}
	s.ended(c)
	switch {
	case err == nil:
		s.drop(c)
		s.stats.Done++
	case !c.Expiry.After(now):
		s.drop(c)
		s.stats.Expired++
	default:
		s.fail(c, err, now)
		c.retryAt.at = now.Add(r.opts.delay(c, jitter))
		heap.Push(&s.retries, &c.retryAt)
	}
	s.queue(c.bundle)
}

// ended says that c is not being called any more.
func (s *shelf) ended(c *callback) {
	s.running--
	if c.attempts > 1 {
		s.runningAgain--
	}
	c.bundle.busy--
}

// fail notes a failed call.
func (s *shelf) fail(c *callback, err error, now time.Time) {
	c.state, c.err = resting, err
	if c.failing == nil {
		c.since = now
		c.failing = s.failing.PushBack(c)
		s.stats.Failed++
	}
	if c.expiry.place == 0 { // it ran when its expiry was looked at
		heap.Push(&s.expiries, &c.expiry)
	}
}

// delay is how long c rests after its last failure.
func (o *RegistryOptions) delay(c *callback, jitter float64) time.Duration {
	if c.backoff == nil {
		c.backoff = backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(o.RetryFirst), backoff.WithMaxInterval(o.RetryLongest),
			backoff.WithMultiplier(2), backoff.WithRandomizationFactor(0),
			backoff.WithMaxElapsedTime(0), backoff.WithClockProvider(noClock{}))
	}
	d := c.backoff.NextBackOff()
	return d - time.Duration(jitter/2*float64(d))
}

// noClock is for a backoff that never ends.
type noClock struct{}

// Now is always the same.
func (noClock) Now() time.Time { return time.Time{} }

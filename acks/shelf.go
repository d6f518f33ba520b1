package acks

import (
	"container/heap"
	"container/list"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// shelf is a registry without its lock.
type shelf struct {
	bundles map[Bundle]*bundle
	// first and again are bundles with a callback to call: for the first time, or
	// after a failure.
	first, again *list.List
	// expiries hold every pending callback, retries those that wait to be called
	// again.
	expiries, retries schedule
	// failing are the callbacks whose last call failed, in the order of their first
	// failure.
	failing *list.List
	// calls in hand, and how many of them are retries.
	running, runningAgain, limit int
	stats                        RegistryStats
}

func newShelf(limit int) shelf {
	return shelf{
		bundles: map[Bundle]*bundle{}, first: list.New(), again: list.New(), failing: list.New(), limit: limit,
	}
}

// bundle is a registered bundle until it is committed and all its callbacks are
// gone, or it is discarded.
type bundle struct {
	id        Bundle
	committed bool
	// expired counts those that expired before the commit.
	expired uint64
	// all as registered; todo are to be called, in this order; left are not gone.
	all, todo []*callback
	left      int
	// busy is how many are being called.
	busy int
	// place is where it stands in queue, one of the shelf's; nil for in none.
	queue *list.List
	place *list.Element
}

type callbackState uint8

const (
	ready callbackState = iota
	resting
	running
	gone
)

// callback is a registered callback.
type callback struct {
	Callback
	bundle          *bundle
	state           callbackState
	attempts        int
	backoff         *backoff.ExponentialBackOff
	since           time.Time
	err             error
	expiry, retryAt moment
	failing         *list.Element
}

func (s *shelf) register(b Bundle, cbs []Callback) error {
	if s.bundles[b] != nil {
		return fmt.Errorf("%w: %d", ErrRegistered, b)
	}
	if len(cbs) == 0 {
		return nil
	}
	e := &bundle{id: b, left: len(cbs), all: make([]*callback, len(cbs))}
	for i, cb := range cbs {
		c := &callback{Callback: cb, bundle: e}
		c.expiry, c.retryAt = moment{at: cb.Expiry, c: c}, moment{c: c}
		e.all[i] = c
		heap.Push(&s.expiries, &c.expiry)
	}
	e.todo = append(e.todo, e.all...)
	s.bundles[b] = e
	s.stats.Pending += len(cbs)
	return nil
}

// commit makes e committed. What expired before counts from here on: had the
// attempt been discarded, nothing would have been left undone.
func (s *shelf) commit(e *bundle) {
	if e.committed {
		return
	}
	e.committed = true
	s.stats.Expired += e.expired
	if e.left == 0 {
		delete(s.bundles, e.id)
	}
}

// queue lines e up if it has something to call and nothing is being called.
func (s *shelf) queue(e *bundle) {
	if !e.committed || e.busy > 0 || e.queue != nil {
		return
	}
	for len(e.todo) > 0 && e.todo[0].state != ready {
		e.todo = e.todo[1:]
	}
	if len(e.todo) == 0 {
		return
	}
	e.queue = s.first
	if e.todo[0].attempts > 0 {
		e.queue = s.again
	}
	e.place = e.queue.PushBack(e)
}

func (e *bundle) unqueue() {
	if e.queue != nil {
		e.queue.Remove(e.place)
		e.queue, e.place = nil, nil
	}
}

func (s *shelf) discard(e *bundle) {
	for _, c := range e.all {
		s.drop(c)
	}
	delete(s.bundles, e.id)
}

// drop takes c out of everything.
func (s *shelf) drop(c *callback) {
	if c.state == gone {
		return
	}
	c.state = gone
	s.stats.Pending--
	s.expiries.remove(&c.expiry)
	s.retries.remove(&c.retryAt)
	if c.failing != nil {
		s.failing.Remove(c.failing)
		c.failing = nil
		s.stats.Failed--
	}
	e := c.bundle
	if e.left--; e.left == 0 && e.committed {
		e.unqueue()
		delete(s.bundles, e.id)
	}
}

// expire drops what has expired and is not being called.
func (s *shelf) expire(now time.Time) {
	for len(s.expiries) > 0 && !s.expiries[0].at.After(now) {
		c := s.expiries[0].c
		if c.state == running { // its outcome decides
			s.expiries.remove(&c.expiry)
			continue
		}
		s.drop(c)
		if c.bundle.committed {
			s.stats.Expired++
		} else {
			c.bundle.expired++
		}
	}
}

// wakeUp readies what has rested long enough.
func (s *shelf) wakeUp(now time.Time) {
	for len(s.retries) > 0 && !s.retries[0].at.After(now) {
		c := s.retries[0].c
		s.retries.remove(&c.retryAt)
		c.state = ready
		c.bundle.todo = append(c.bundle.todo, c)
		s.queue(c.bundle)
	}
}

package acks

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Finalize commits b and calls each of its callbacks once, in the caller's
// goroutine, in the order they were registered; it joins their errors. What failed
// stays, for another Finalize or for Next, until it expires. Expired callbacks are
// dropped and counted. An unknown, finished or expired bundle is no error.
//
// A panic of a callback is an error with its stack. Once ctx has ended, what is
// left is not called and ctx's error is among those returned.
func (r *Registry) Finalize(ctx context.Context, b Bundle, now time.Time) error {
	var errs []error
	list := r.takeAll(b, now)
	for i, p := range list {
		if err := ctx.Err(); err != nil {
			r.giveBack(list[i:])
			errs = append(errs, fmt.Errorf("acks: finalizers of bundle %d: %w", b, err))
			break
		}
		err := p.Call(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("acks: finalizer %q of bundle %d: %w", p.Name, b, err))
		}
		r.Done(p, err, now)
	}
	return errors.Join(errs...)
}

// takeAll hands out every callback of b that is not being called.
func (r *Registry) takeAll(b Bundle, now time.Time) (all []Pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.mu.shelf
	s.expire(now)
	e := s.bundles[b]
	if e == nil {
		return nil
	}
	s.commit(e)
	e.todo = nil
	e.unqueue()
	for _, c := range e.all {
		if c.state == ready || c.state == resting {
			s.retries.remove(&c.retryAt)
			all = append(all, s.call(c))
		}
	}
	return all
}

// giveBack takes callbacks back as if they had not been handed out.
func (r *Registry) giveBack(list []Pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.mu.shelf
	for _, p := range list {
		s.ended(p.c)
		p.c.attempts--
		p.c.state = ready
		if p.c.expiry.place == 0 {
			heap.Push(&s.expiries, &p.c.expiry)
		}
		p.c.bundle.todo = append(p.c.bundle.todo, p.c)
	}
	s.queue(list[0].c.bundle)
}

// Call calls the callback; a panic becomes an error.
func (p Pending) Call(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return p.Fn(ctx)
}

package acks

import (
	"context"
	"sync"
	"time"
)

// Callback is what a bundle wants done once it is committed. Fn carries its own
// data: it runs on any goroutine, when whoever registered it may be gone, at most
// once with success, and possibly never.
type Callback struct {
	// Name is for people: which transform registered it.
	Name string
	// Expiry is the wall clock from which on it is not called any more. A zero Expiry
	// has passed.
	Expiry time.Time
	// Fn does it. An error has it called again, with backoff, until Expiry.
	Fn func(context.Context) error
}

// Callbacks gather what a bundle in progress registers. The zero value is ready
// and safe for concurrent use.
type Callbacks struct {
	mu struct {
		sync.Mutex
		list []Callback
	}
}

// Add registers one more.
func (c *Callbacks) Add(cb Callback) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.list = append(c.mu.list, cb)
}

// Take returns what was added since the last Take, in that order. It is the
// caller's.
func (c *Callbacks) Take() []Callback {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.mu.list
	c.mu.list = nil
	return list
}

package acks

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors of a registry.
var (
	// ErrRegistered says that a bundle is registered already.
	ErrRegistered = errors.New("acks: bundle is registered already")
	// ErrNoFunc says that a callback has nothing to call.
	ErrNoFunc = errors.New("acks: callback without a function")
)

// Bundle names one bundle of a registry. The caller numbers them; an aborted
// attempt and its retry may have the same number.
type Bundle uint64

// RegistryOptions are how callbacks are retried. Zero means the default.
type RegistryOptions struct {
	// Jitter returns numbers in [0, 1) that spread retries; nil: retries are not
	// spread. It must be as safe for concurrent use as the registry's use demands.
	Jitter func() float64
	// RetryFirst is the delay after the first failure (100 ms); it doubles with each
	// further one, up to RetryLongest (30 s). Jitter takes off up to half of it.
	RetryFirst, RetryLongest time.Duration
	// Running is how many callbacks Next has in hand at most (64); retries take no
	// more than half, so that what fails cannot hold up what is new.
	Running int
}

func (o RegistryOptions) withDefaults() RegistryOptions {
	if o.RetryFirst <= 0 {
		o.RetryFirst = 100 * time.Millisecond
	}
	if o.RetryLongest <= 0 {
		o.RetryLongest = max(30*time.Second, o.RetryFirst)
	}
	if o.Running <= 0 {
		o.Running = 64
	}
	return o
}

// Registry holds the callbacks of bundles until they have succeeded or expired.
//
// A bundle is registered while it is not committed, then Committed or Discarded.
// Callbacks of a committed bundle are called one at a time in the order they were
// registered, whatever became of the one before; failed ones are called again
// later. Bundles do not wait for one another.
//
// All methods are safe for concurrent use; none but Finalize calls a callback.
type Registry struct {
	opts RegistryOptions
	mu   struct {
		sync.Mutex
		shelf shelf
	}
}

// NewRegistry makes an empty registry.
func NewRegistry(o RegistryOptions) *Registry {
	r := &Registry{opts: o.withDefaults()}
	r.mu.shelf = newShelf(r.opts.Running)
	return r
}

// Register keeps the callbacks of b, which is not committed yet. Of the callbacks
// of several transforms of one bundle the caller makes one list. To register a
// bundle twice is an error, unless it was discarded or is finished.
func (r *Registry) Register(b Bundle, cbs []Callback) error {
	for _, cb := range cbs {
		if cb.Fn == nil {
			return fmt.Errorf("%w: %q", ErrNoFunc, cb.Name)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.shelf.register(b, cbs)
}

// Committed says that b is durable: its callbacks may run. An unknown or finished
// bundle is no error.
func (r *Registry) Committed(b Bundle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.mu.shelf.bundles[b]; e != nil {
		r.mu.shelf.commit(e)
		r.mu.shelf.queue(e)
	}
}

// Discard forgets b: its attempt does not count. Once committed, a bundle cannot be
// discarded any more.
func (r *Registry) Discard(b Bundle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.mu.shelf.bundles[b]; e != nil && !e.committed {
		r.mu.shelf.discard(e)
	}
}

// RegistryStats are a registry's counts.
type RegistryStats struct {
	// Pending callbacks have neither succeeded nor expired; those of bundles that
	// are not committed count. Failed are those of them whose last call failed.
	Pending, Failed int
	// Totals. An expired callback of a committed bundle will not be called any more:
	// what it should have done is not done.
	Done, Expired uint64
	// OldestFailing names the callback that has been failing for longest, since
	// FailingSince; LastError is its last.
	OldestFailing string
	FailingSince  time.Time
	LastError     error
}

// Stats counts.
func (r *Registry) Stats() RegistryStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.mu.shelf
	stats := s.stats
	if front := s.failing.Front(); front != nil {
		c := front.Value.(*callback)
		stats.OldestFailing, stats.FailingSince, stats.LastError = c.Name, c.since, c.err
	}
	return stats
}

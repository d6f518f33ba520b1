// Package memory answers the question "where does a pipeline under test keep
// its state?": a [store.Store] in the memory of the process. Its main noun is
// [DB], the disk: it outlives the stores opened on it, so that a test can crash
// a pipeline and start it again on what was committed.
//
// The life of a change: a handle takes a commit, asks the fault hooks, and
// applies the records to the DB's pages under one lock; from then on every scan
// sees them, whichever handle it comes from.
//
// Invariants, beside those of package store:
//  1. A page that a scan may be reading is never written: a scan raises the
//     DB's generation, and a commit copies each older page before it changes it.
//  2. One handle at most is open; [DB.Crash] or Close ends it, and an ended
//     handle changes nothing any more.
//  3. Nothing here depends on time, chance (but for New's id) or map order.
//
// It does not keep anything beyond the process, and owns no goroutines.
package memory

import (
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/gosluice/sluice/core/store"
)

// DB is the disk that handles are opened on. It is a [store.Opener]. Safe for
// concurrent use, but for the hooks.
type DB struct {
	// BeforeApply, if set, is called before a commit is applied; an error refuses
	// it, and nothing of it happens. AfterApply is called after: an error makes
	// the commit ambiguous, applied but reported as failed. Hooks may call Crash
	// and hold no lock. Set them while nothing commits.
	BeforeApply, AfterApply func(*store.Commit) error

	id string
	mu struct {
		sync.Mutex
		open     *handle // nil while closed
		spaces   map[store.Space]*space
		epochs   map[store.RegionID]uint64
		manifest []byte
		gen      uint64
	}
}

// New returns an empty DB with a random id.
func New() *DB {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return NewWithID(fmt.Sprintf("%x", id))
}

// NewWithID is New with a chosen id, for runs that must repeat exactly.
func NewWithID(id string) *DB {
	d := &DB{id: id}
	d.mu.spaces = make(map[store.Space]*space)
	d.mu.epochs = make(map[store.RegionID]uint64)
	return d
}

// Open returns a handle on what has been committed; [store.ErrLocked] while
// another is open.
func (d *DB) Open() (store.Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.open != nil {
		return nil, fmt.Errorf("memory: open: %w; close the first handle, or crash it", store.ErrLocked)
	}
	d.mu.open = &handle{db: d}
	return d.mu.open, nil
}

// Crash ends the open handle as the end of its process would: calls on it fail
// with [store.ErrClosed] from now on, what was committed stays, and the DB can be
// opened again. Without an open handle it does nothing.
func (d *DB) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.open = nil
}

// String names the place for messages.
func (d *DB) String() string { return "memory:" + d.id }

package pebble

import (
	"fmt"
	"sync"
	"sync/atomic"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// witness keeps in the marker what must be there at the next Open. The engine
// takes every log it does not find for one it never wrote, and what it cannot read
// in the last 32 KiB of the last log for a write that a crash cut off; so a
// directory whose logs were swept away ("*.log") or shortened would open as it was
// some commits ago.
//
// The engine calls created after the new log is there for good, and before it is
// written to or an older one is removed. So a marker that names it is always true,
// and so is the one before, should the power fail in between.
type witness struct {
	files  vfs.FS
	path   string
	fault  *fault
	synced atomic.Uint64 // highest sequence number whose sync has returned
	mu     struct {
		sync.Mutex
		marker  marker
		newest  uint64 // log
		isReady bool
	}
}

func (w *witness) marker() marker {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.marker
}

// created is told of every new log. While the database is being opened the
// marker stays as it is.
func (w *witness) created(info pebbledb.WALCreateInfo) {
	if info.Err != nil || w.fault.get() != nil {
		return // there may be no such log
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.newest = uint64(info.FileNum)
	if !w.mu.isReady {
		return
	}
	if err := w.writeLocked(); err != nil {
		_ = w.fault.set(err)
	}
}

// write brings the marker up to date, and marks the directory as made to the end.
func (w *witness) write() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.isReady = true
	return w.writeLocked()
}

// writeLocked holds its lock across the write: logs are rare, and a reader of the
// marker may as well wait for the next.
func (w *witness) writeLocked() error {
	m := w.mu.marker
	m.wal, m.last = w.mu.newest, w.synced.Load()
	if err := writeMarker(w.files, w.path, m); err != nil {
		return fmt.Errorf("write the file %s: %w", markerName, err)
	}
	w.mu.marker = m
	return nil
}

// raise sets v to n unless it is higher.
func raise(v *atomic.Uint64, n uint64) {
	for old := v.Load(); old < n && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

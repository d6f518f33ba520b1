package pebble

import (
	"fmt"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// walWatch keeps in the marker which write-ahead log exists. The engine takes
// every log it does not find for one it never wrote; a directory whose logs were
// swept away ("*.log") would open as it was some commits ago.
//
// The engine calls created after the new log is there for good, and before it is
// written to or an older one is removed. So a marker that names it is always true,
// and so is the one before, should the power fail in between.
type walWatch struct {
	files vfs.FS
	path  string
	fault *fault
	mu    struct {
		sync.Mutex
		marker  marker
		newest  uint64
		isReady bool
	}
}

func (w *walWatch) marker() marker {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.marker
}

// created is told of every new log. While the database is being opened the
// marker stays as it is.
func (w *walWatch) created(info pebbledb.WALCreateInfo) {
	if info.Err != nil {
		return // the engine reports it to whom it concerns
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

// ready marks the directory as made to the end.
func (w *walWatch) ready() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.isReady = true
	return w.writeLocked()
}

// writeLocked holds its lock across the write: logs are rare, and a reader of the
// marker may as well wait for the next.
func (w *walWatch) writeLocked() error {
	w.mu.marker.wal = w.mu.newest
	if err := writeMarker(w.files, w.path, w.mu.marker); err != nil {
		return fmt.Errorf("write the file %s: %w", markerName, err)
	}
	return nil
}

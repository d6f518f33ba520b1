package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

// fault keeps the first error after which the disk's state is unknown (invariant
// 4). It is also the engine's logger, since that is where the engine reports what
// it means to end the process for.
type fault struct {
	log *slog.Logger
	mu  struct {
		sync.Mutex
		err     error
		wrecked bool      // a panic left the engine with locks held
		flush   error     // of the last flush
		logged  time.Time // when a compaction last was
	}
}

func (f *fault) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.err
}

func (f *fault) wrecked() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.wrecked
}

// set records err if it is the first, and returns the first.
func (f *fault) set(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.err == nil {
		f.mu.err = fmt.Errorf("the store has failed, open it again to learn what it holds: %w", err)
	}
	return f.mu.err
}

// guard calls into the engine to write, unless there was a fault. The engine
// reports some failures of a write by Fatalf or by a panic only.
func (f *fault) guard(write func() error) (err error) {
	if err := f.get(); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			f.mu.Lock()
			f.mu.wrecked = true
			f.mu.Unlock()
			err = f.set(fmt.Errorf("write: %v", p))
		}
	}()
	if err := write(); err != nil {
		return f.set(err)
	}
	return f.get()
}

// read returns the error that a call must return after err came of reading: the
// fault, which damage becomes.
func (f *fault) read(err error) error {
	if first := f.get(); first != nil {
		return first
	}
	switch {
	case errors.Is(err, store.ErrDamaged):
		return f.set(err)
	case pebbledb.IsCorruptionError(err), errors.Is(err, fs.ErrNotExist):
		return f.set(fmt.Errorf("%w: %w", store.ErrDamaged, err))
	}
	return err
}

// corruption is told of damage that was found while running.
func (f *fault) corruption(info pebbledb.DataCorruptionInfo) {
	f.log.Error("the state directory is damaged", "file", info.Path, "error", info.Details)
	_ = f.set(fmt.Errorf("%w: %s: %w", store.ErrDamaged, info.Path, info.Details))
}

// flushed is told of every flush. Its error need not be one: there may have been
// nothing to write.
func (f *fault) flushed(info pebbledb.FlushInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.flush = info.Err
}

// background is told of flushes and compactions that failed. The engine tries both
// again, without a pause. Commits would wait for a flush that cannot succeed, so
// that is a fault; failing compactions only make reading slower and are logged now
// and then.
func (f *fault) background(err error) {
	const pause = 10 * time.Second
	f.mu.Lock()
	flush := f.mu.flush != nil && errors.Is(err, f.mu.flush)
	quiet := f.mu.err != nil || time.Since(f.mu.logged) < pause
	if !quiet {
		f.mu.logged = time.Now()
	}
	f.mu.Unlock()
	switch {
	case flush:
		_ = f.set(fmt.Errorf("write a table: %w", err))
		time.Sleep(10 * time.Millisecond) // the engine tries until it is closed
	case !quiet:
		f.log.Error("tables of the state directory cannot be merged, trying again", "error", err)
	}
}

// Infof implements the engine's logger.
func (f *fault) Infof(format string, args ...any) {
	if f.log.Enabled(context.Background(), slog.LevelDebug) {
		f.log.Debug(fmt.Sprintf(format, args...))
	}
}

// Errorf implements the engine's logger.
func (f *fault) Errorf(format string, args ...any) {
	f.log.Error(fmt.Sprintf(format, args...))
}

// Fatalf implements the engine's logger. Unlike the engine's own, it returns.
func (f *fault) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	f.log.Error("the state directory has failed", "error", err)
	_ = f.set(err)
}

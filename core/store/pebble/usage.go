package pebble

import (
	"fmt"
	"sync"

	"github.com/gosluice/sluice/core/store"
)

// usage counts the calls that are running, so that Close can wait for them.
type usage struct {
	mu struct {
		sync.Mutex
		calls  int
		closed bool
	}
	idle chan struct{} // closed when closed and no call runs
}

// enter tells whether a call may run; if so, leave follows it.
func (u *usage) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mu.closed {
		return false
	}
	u.mu.calls++
	return true
}

func (u *usage) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mu.calls--
	if u.mu.closed && u.mu.calls == 0 {
		close(u.idle)
	}
}

// close lets no more calls in and waits for those that run. It tells whether it
// was the first.
func (u *usage) close() bool {
	u.mu.Lock()
	first := !u.mu.closed
	u.mu.closed = true
	if first && u.mu.calls == 0 {
		close(u.idle)
	}
	u.mu.Unlock()
	if first {
		<-u.idle
	}
	return first
}

// call runs fn as the body of an exported call, unless the store is closed or
// has failed, and puts the call and the place before its error.
func (s *db) call(name string, fn func() error) error {
	if !s.usage.enter() {
		return s.named(name, store.ErrClosed)
	}
	defer s.usage.leave()
	err := s.fault.get()
	if err == nil {
		err = fn()
	}
	return s.named(name, err)
}

func (s *db) named(call string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pebble: %s %s: %w", call, s.dir.path, err)
}

// Close implements [store.Store]. It waits for the calls that run, so it must not
// be called from a scan's function, and for the engine's background work. After
// an unexpected failure inside the engine, which may have left its locks held, the
// directory stays locked until the process ends.
func (s *db) Close() error {
	if !s.usage.close() {
		return s.named("close", store.ErrClosed)
	}
	s.folder.end()
	if s.fault.wrecked() {
		return s.named("close", fmt.Errorf("the engine cannot be closed, end this process: %w", s.fault.get()))
	}
	err := s.fault.get()
	if err == nil {
		err = s.witness.write()
	}
	if e := s.p.Close(); err == nil {
		err = e
	}
	if e := s.lock.Close(); err == nil {
		err = e
	}
	return s.named("close", err)
}

package engine

import (
	"sync"
	"sync/atomic"
)

// mailbox is how other steps and calls reach the owner of some data: they post a
// function, the owner runs it in its own step.
type mailbox struct {
	wake func()
	some atomic.Bool
	mu   struct {
		sync.Mutex
		posted []func()
	}
	spare []func()
}

// post may be called from anywhere and never blocks.
func (m *mailbox) post(f func()) {
	m.mu.Lock()
	m.mu.posted = append(m.mu.posted, f)
	m.some.Store(true)
	m.mu.Unlock()
	if m.wake != nil {
		m.wake()
	}
}

// drain runs what was posted and says whether there was anything. Owner only.
func (m *mailbox) drain() bool {
	if !m.some.Load() {
		return false
	}
	m.mu.Lock()
	posted := m.mu.posted
	m.mu.posted = m.spare[:0]
	m.some.Store(false)
	m.mu.Unlock()
	for i, f := range posted {
		f()
		posted[i] = nil
	}
	m.spare = posted
	return len(posted) > 0
}

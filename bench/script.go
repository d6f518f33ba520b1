package main

import (
	"context"
	"sync"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

// script is a source that is told what comes, as it happens.
type script struct {
	mu struct {
		sync.Mutex
		queue []source.Message
		next  source.Position
		wake  func()
		told  bool
	}
}

// say has one message with that event time and payload come.
func (s *script) say(at event.Time, data []byte) {
	s.mu.Lock()
	s.mu.next++
	s.mu.queue = append(s.mu.queue, source.Message{Data: data, Time: at, Position: s.mu.next, Attempt: 1})
	wake := s.mu.wake
	s.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// Capabilities: as those of feed.
func (s *script) Capabilities() source.Capabilities { return (&feed{}).Capabilities() }

// Open returns the reader.
func (s *script) Open(_ context.Context, o source.Options) (source.Reader, error) {
	s.mu.Lock()
	s.mu.wake = o.Wake
	s.mu.Unlock()
	return s, nil
}

// Poll hands over what has been said.
func (s *script) Poll(dst []source.Message) (p source.Polled, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mu.told {
		s.mu.told = true
		p.Started = []source.Start{{Name: "script"}}
	}
	p.N = copy(dst, s.mu.queue)
	s.mu.queue = s.mu.queue[p.N:]
	return p, nil
}

// Settle confirms everything.
func (s *script) Settle(context.Context, []source.Settlement) []source.Failure { return nil }

// Extend is never called: there is no lease.
func (s *script) Extend(context.Context, []source.Settlement) []source.Failure { return nil }

// Close has nothing to give back.
func (s *script) Close(context.Context) error { return nil }

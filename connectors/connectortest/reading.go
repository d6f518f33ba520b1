package connectortest

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

func checkCapabilities(s *session) {
	c := s.queue.Source().Capabilities()
	if c.Readers < 1 || c.Quota < 0 || c.Lease < 0 {
		s.Errorf("%+v", c)
	}
	if c.Contiguous && (c.Reject || c.Terminate) {
		s.Errorf("a contiguous source has no individual verdict: %+v", c)
	}
	if again := s.queue.Source().Capabilities(); again != c {
		s.Errorf("not constant: %+v and %+v", c, again)
	}
}

// Position order within a channel, nothing twice, nothing missing, whatever the size
// of the buffer.
func checkOrder(s *session) {
	const n = 300
	began := time.Now()
	s.publish(n / 2)
	p := s.open()
	p.buf = p.buf[:7]
	msgs := p.read(n / 2)
	s.publish(n / 2)
	msgs = append(msgs, p.read(n/2)...)
	last := map[source.Channel]source.Position{}
	seen := map[string]bool{}
	for _, m := range msgs {
		if p.caps.Positions && m.Position <= last[m.Channel] {
			s.Errorf("channel %d: position %d after %d", m.Channel, m.Position, last[m.Channel])
		}
		last[m.Channel] = m.Position
		if seen[string(m.Data)] || m.Attempt != 1 {
			s.Errorf("%q: attempt %d, seen before: %v", m.Data, m.Attempt, seen[string(m.Data)])
		}
		seen[string(m.Data)] = true
		if m.Time < event.At(began.Add(-time.Minute)) || m.Time > event.At(time.Now().Add(time.Minute)) {
			s.Errorf("%q: stored at %v", m.Data, m.Time)
		}
		if m.Received.Before(began.Add(-time.Second)) || m.Received.After(time.Now()) {
			s.Errorf("%q: received at %v", m.Data, m.Received)
		}
	}
	if len(seen) != n {
		s.Errorf("%d of %d messages", len(seen), n)
	}
	p.ack(msgs...)
	s.unsettled(0)
}

func checkPollNeverBlocks(s *session) {
	p := s.open()
	poll := func(what string) {
		began := time.Now()
		p.poll()
		if took := time.Since(began); took > 250*time.Millisecond {
			s.Errorf("poll took %v %s", took, what)
		}
	}
	for range 20 {
		poll("of an empty queue")
		time.Sleep(time.Millisecond)
	}
	if s.queue.Stall == nil {
		return
	}
	s.publish(5)
	s.queue.Stall()
	defer s.queue.Resume()
	for range 20 {
		poll("of a broker that does not answer")
		time.Sleep(5 * time.Millisecond)
	}
}

// A reader that had nothing says when it has.
func checkWake(s *session) {
	p := s.open()
	for range 20 {
		p.until("nothing to read", func(fresh []source.Message) bool { return len(fresh) == 0 })
		time.Sleep(2 * time.Millisecond)
		select {
		case <-p.wake: // of something else
		default:
		}
		s.publish(1)
		select {
		case <-p.wake:
		case <-time.After(s.patience):
			s.Fatalf("no wake within %v", s.patience)
		}
		p.ack(p.read(1)...)
	}
}

// Evidence of idleness never comes while something is undelivered (G74).
func checkCaughtUp(s *session) {
	s.publish(100)
	p := s.open()
	p.buf = p.buf[:3]
	n := 0
	p.until("read 100", func(fresh []source.Message) bool {
		n += len(fresh)
		if p.last.CaughtUp && n < 100 {
			s.Fatalf("caught up after %d of 100", n)
		}
		return n == 100
	})
}

func checkBounded(s *session) {
	s.require("Finish", s.queue.Finish != nil)
	const n = 130
	s.publish(n)
	s.queue.Finish()
	p := s.open()
	var got []source.Message
	p.until("finished", func(fresh []source.Message) bool {
		got = append(got, fresh...)
		if len(fresh) > 0 {
			p.ack(fresh...)
		}
		return p.last.Finished
	})
	if len(got) != n {
		s.Errorf("finished after %d of %d", len(got), n)
	}
	s.unsettled(0)
}

func checkBoundedEmpty(s *session) {
	s.require("Finish", s.queue.Finish != nil)
	s.queue.Finish()
	p := s.open()
	p.until("finished", func([]source.Message) bool { return p.last.Finished })
}

func checkQuota(s *session) {
	p := s.open()
	if p.caps.Quota != s.setup.Quota {
		s.Skip("the source has a quota of its own: ", p.caps.Quota)
	}
	n := s.setup.Quota
	s.publish(2*n + 1)
	first := p.read(n)
	if len(first) > n {
		s.Fatalf("%d delivered with a quota of %d", len(first), n)
	}
	p.quiet(100 * time.Millisecond)
	p.ack(first...)
	second := p.read(n)
	p.ack(second...)
	p.ack(p.read(1)...)
	s.unsettled(0)
}

// numbers are the payloads from through to.
func numbers(from, to int) (list []string) {
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

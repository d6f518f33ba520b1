package connectortest

import (
	"slices"
	"sync"
	"time"

	"github.com/gosluice/sluice/core/source"
)

// What was received and not polled is there for the next reader at once, not after
// its lease.
func checkCloseGivesBack(s *session) {
	s.publish(50)
	p := s.open()
	p.buf = p.buf[:5]
	m := p.read(5)
	p.ack(m...)
	p.close()
	began := time.Now()
	q := s.open()
	rest := data(q.read(50 - len(m)))
	if took := time.Since(began); took > s.setup.Lease/2 {
		s.Errorf("took %v", took)
	}
	for i := len(m); i < 50; i++ {
		if !slices.Contains(rest, numbers(i, i)[0]) {
			s.Errorf("%d is missing", i)
		}
	}
}

func checkCloseTwice(s *session) {
	s.publish(3)
	p := s.open()
	p.read(1)
	var all sync.WaitGroup
	for range 3 {
		all.Go(p.close)
	}
	all.Wait()
	p.close()
}

// A process ends without a word; the next one gets what was not settled, and only
// that.
func checkReconnect(s *session) {
	s.publish(30)
	p := s.open()
	m := p.read(30)
	settled := m[:10]
	if !p.caps.Contiguous {
		settled = append(slices.Clone(m[:10]), m[20:25]...)
	}
	p.ack(settled...)
	p.close()

	q := s.open()
	s.publish(5)
	want := map[string]bool{}
	for _, d := range numbers(0, 34) {
		want[d] = true
	}
	for _, m := range settled {
		delete(want, string(m.Data))
	}
	open := len(want)
	got := map[string]source.Message{}
	q.until("everything unsettled", func(fresh []source.Message) bool {
		for _, m := range fresh {
			if !want[string(m.Data)] {
				s.Fatalf("%q was settled and comes again", m.Data)
			}
			got[string(m.Data)] = m
		}
		return len(got) == open
	})
	var all []source.Message
	for _, d := range numbers(0, 34) {
		if m, ok := got[d]; ok {
			all = append(all, m)
		}
	}
	q.ack(all...)
	s.unsettled(0)
}

// A channel says at its start what is outstanding from before, and when it no longer
// is.
func checkResolved(s *session) {
	s.publish(6)
	p := s.open()
	m := p.read(6)
	p.ack(m[:2]...)
	p.close()
	q := s.open()
	var seen []source.Message
	q.until("started", func(fresh []source.Message) bool {
		seen = append(seen, fresh...)
		return len(q.starts) > 0
	})
	outstanding := 0
	for _, c := range q.starts {
		outstanding += c.Outstanding
	}
	if outstanding == 0 && q.caps.Contiguous {
		return // it begins again behind what is settled
	}
	if outstanding != 4 {
		s.Errorf("%d outstanding, want 4: %+v", outstanding, q.starts)
	}
	q.until("resolved", func(fresh []source.Message) bool {
		seen = append(seen, fresh...)
		return len(q.resolved) > 0
	})
	if len(seen) < 4 {
		s.Errorf("resolved after %d of 4", len(seen))
	}
}

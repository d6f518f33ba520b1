package connectortest

import (
	"time"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// What is neither settled nor extended comes again; what is settled does not.
func checkLostLease(s *session) {
	s.publish(3)
	p := s.open()
	m := p.read(3)
	p.ack(m[0], m[2])
	again := p.read(1)
	if string(again[0].Data) != "1" || again[0].Attempt < 2 {
		s.Fatalf("%q, attempt %d", again[0].Data, again[0].Attempt)
	}
	if age := time.Since(m[1].Received); age < s.setup.Lease/2 {
		s.Errorf("delivered again after %v of a lease of %v", age, s.setup.Lease)
	}
	p.ack(again[0])
	p.quiet(s.setup.Lease * 3 / 2)
	s.unsettled(0)
}

// A verdict that comes too late is taken, or refused as lost; never retried for
// ever, and never the end of the newer delivery in silence.
func checkSettleLost(s *session) {
	s.publish(1)
	p := s.open()
	first := p.read(1)[0]
	again := p.read(1)[0]
	f := p.trySettle(verdicts(source.Ack, first))
	if len(f) > 0 && fault.Of(f[0].Err) != fault.Lost {
		s.Errorf("late verdict: %v", f[0].Err)
	}
	if len(f) == 0 {
		s.unsettled(0)
	} else {
		s.unsettled(1)
	}
	if f := p.trySettle(verdicts(source.Ack, again)); len(f) > 0 && fault.Of(f[0].Err) == fault.Lost {
		for _, m := range p.read(1) { // it took longer than a lease to get here
			p.ack(m)
		}
	}
}

// G54: an extended lease outlives its duration many times over.
func checkExtend(s *session) {
	s.publish(2)
	p := s.open()
	list := verdicts(source.Ack, p.read(2)...)
	for end := time.Now().Add(4 * s.setup.Lease); time.Now().Before(end); {
		for _, f := range p.r.Extend(s.Context(), list) {
			s.Fatalf("extend: %v", f.Err)
		}
		p.quiet(s.setup.Lease / 4)
	}
	p.settle(list)
	s.unsettled(0)
}

// G17: leases run from receipt; what waits in the connector's queue must not lose
// its lease.
func checkQueuedLeases(s *session) {
	const n = 8
	s.publish(n)
	p := s.open()
	p.buf = p.buf[:1]
	for i := range n {
		m := p.read(1)[0]
		if m.Attempt != 1 {
			s.Fatalf("message %d: attempt %d", i, m.Attempt)
		}
		if age := time.Since(m.Received); age > s.setup.Lease*3/4 {
			s.Errorf("message %d: its lease is %v old, of %v", i, age, s.setup.Lease)
		}
		time.Sleep(s.setup.Lease / 3)
		p.ack(m)
	}
	s.unsettled(0)
}

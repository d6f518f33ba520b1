package sim

import (
	"context"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// brokerReader is one reader of one process.
type brokerReader struct {
	b      *Broker
	wake   func()
	parts  []*partition
	starts []source.Start
	// waiting[i]: what was outstanding of partition i has not all come back.
	waiting []bool
	inbox   []source.Message
	closed  bool
	// finished was told.
	finished bool
}

// handle names one delivery of a message.
type handle struct {
	m        *Queued
	delivery int
}

// Poll implements [source.Reader].
func (r *brokerReader) Poll(dst []source.Message) (p source.Polled, err error) {
	p.Started, r.starts = r.starts, nil
	if n := min(len(dst), len(r.inbox)); n > 0 {
		p.N = copy(dst, r.inbox[:1+r.b.w.rng.IntN(n)])
		r.inbox = r.inbox[p.N:]
		for i := range p.N {
			dst[i].Handle.(handle).m.before = false
		}
	}
	for i, part := range r.parts {
		if r.waiting[i] && part.allBack() {
			r.waiting[i] = false
			p.Resolved = append(p.Resolved, source.Channel(i))
		}
	}
	if len(r.inbox) > 0 {
		r.wake()
		return p, nil
	}
	if r.caughtUp() {
		if r.b.cfg.CaughtUp {
			p.CaughtUp, p.CaughtUpAt = true, event.At(r.b.w.now)
		}
		p.Finished = r.b.cfg.Bounded && !r.finished
		r.finished = r.finished || p.Finished
	}
	return p, nil
}

// allBack says that nothing delivered before the reader opened is still to come.
func (p *partition) allBack() bool {
	for _, m := range p.messages[p.floor:] {
		if m.before && !m.Done {
			return false
		}
	}
	return true
}

// caughtUp says that every message is done or was handed over to this reader.
func (r *brokerReader) caughtUp() bool {
	for _, p := range r.parts {
		if p.next < len(p.messages) {
			return false
		}
		for _, m := range p.messages[p.floor:] {
			if !m.Done && (m.before || m.owner != r) {
				return false
			}
		}
	}
	return true
}

// Settle implements [source.Reader].
func (r *brokerReader) Settle(_ context.Context, list []source.Settlement) (failed []source.Failure) {
	b := r.b
	for _, s := range list {
		if !b.w.calm && b.faults < b.cfg.Faults && b.w.chance(b.cfg.LostAcks) {
			b.faults++
			if b.cfg.Caps.Confirmed {
				failed = append(failed, source.Failure{Ref: s.Ref, Err: errBefore})
			}
			continue
		}
		if err := r.settle(s); err != nil {
			failed = append(failed, source.Failure{Ref: s.Ref, Err: err})
		}
	}
	return failed
}

func (r *brokerReader) settle(s source.Settlement) error {
	h, p := s.Handle.(handle), r.parts[s.Channel]
	if p.reader != r && r.b.cfg.Caps.Contiguous {
		return errLost
	}
	if h.m.Position != s.Position {
		r.b.w.Fail(fault.Errorf(fault.Bug, "%s: settles position %d with the handle of %d", p.name, s.Position, h.m.Position))
	}
	h.m.Settled++
	if h.m.Done {
		return nil
	}
	if r.b.cfg.Strict && r.late(h) {
		return errLost
	}
	if s.Verdict == source.Nack {
		h.m.owner, h.m.from = nil, r.b.w.now.Add(max(s.Delay, time.Millisecond))
		return nil
	}
	r.done(p, h.m, s.Verdict)
	return nil
}

// done marks a message, on a contiguous channel all before it too.
func (r *brokerReader) done(p *partition, m *Queued, v source.Verdict) {
	list := []*Queued{m}
	if r.b.cfg.Caps.Contiguous {
		list = p.messages[p.floor:m.Position]
	}
	for _, m := range list {
		if !m.Done && r.b.OnSettled != nil {
			r.b.OnSettled(p.name, m, v)
		}
		m.Done, m.Verdict = true, v
	}
	for p.floor < len(p.messages) && p.messages[p.floor].Done {
		p.floor++
	}
	if p.reader != nil && !p.reader.closed {
		p.reader.wake()
	}
}

// late says whether the delivery is somebody else's by now.
func (r *brokerReader) late(h handle) bool {
	return h.m.owner != r || h.delivery != h.m.Deliveries || !h.m.lease.IsZero() && h.m.lease.Before(r.b.w.now)
}

var errLost = fault.Errorf(fault.Lost, "sim: the delivery belongs to somebody else")

// Extend implements [source.Reader].
func (r *brokerReader) Extend(_ context.Context, list []source.Settlement) (failed []source.Failure) {
	for _, s := range list {
		h := s.Handle.(handle)
		if r.b.cfg.Strict && r.late(h) {
			failed = append(failed, source.Failure{Ref: s.Ref, Err: errLost})
			continue
		}
		if h.m.owner == r {
			h.m.lease = r.b.w.now.Add(r.b.cfg.Caps.Lease)
		}
	}
	return failed
}

// Close implements [source.Reader]: what was received and not polled goes back.
func (r *brokerReader) Close(context.Context) error {
	r.closed = true
	for _, m := range r.inbox {
		h := m.Handle.(handle)
		if h.m.owner == r && h.delivery == h.m.Deliveries {
			h.m.owner = nil
		}
	}
	r.inbox = nil
	return nil
}

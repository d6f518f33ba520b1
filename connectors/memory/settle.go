package memory

import (
	"context"
	"time"

	"github.com/gosluice/sluice/core/source"
)

// Settle applies the verdicts, as the faults allow.
func (r *reader) Settle(ctx context.Context, list []source.Settlement) (failures []source.Failure) {
	r.q.mu.Lock()
	wake := false
	now := r.q.now()
	for i := range list {
		s := &list[i]
		err := ctx.Err()
		if err == nil {
			err = r.settle(s, now)
		}
		if err != nil {
			failures = append(failures, source.Failure{Ref: s.Ref, Err: err})
		}
		wake = wake || s.Verdict == source.Nack || err != nil
	}
	r.q.armLocked()
	r.q.mu.Unlock()
	if wake || r.q.cfg.Quota > 0 || r.q.cfg.Bounded {
		r.q.Tick()
	}
	return failures
}

// settle deals with one verdict and records it.
func (r *reader) settle(s *source.Settlement, now time.Time) error {
	h, ok := s.Handle.(*handle)
	switch {
	case r.closed:
		return errClosed
	case !ok:
		return errHandle
	case s.Verdict > source.Terminate, r.q.cfg.Contiguous && s.Verdict != source.Ack:
		return errVerdict
	}
	fate := r.q.cfg.Faults.settle(s)
	if r.q.cfg.Fenced && !h.holds(now) && fate != LoseRequest {
		fate = LoseLease
	}
	e := Event{
		At: now, Channel: h.channel.name, Position: h.entry.position, Attempt: h.attempt,
		Verdict: s.Verdict, Delay: s.Delay, Reason: s.Reason,
		Applied: fate == Arrive || fate == LoseConfirmation, Known: fate == Arrive || fate == LoseSilently,
	}
	if e.Applied {
		r.apply(h, s, now)
	}
	r.q.mu.events = append(r.q.mu.events, e)
	if r.q.cfg.Observe != nil {
		r.q.cfg.Observe(e)
	}
	return r.answer(h, fate)
}

// holds says whether the delivery is the newest and its lease runs, or the message
// is settled: that may be said twice.
func (h *handle) holds(now time.Time) bool {
	e := h.entry
	if e.done() {
		return true
	}
	return e.isLeased && e.record.Delivered == h.attempt && (e.until.IsZero() || now.Before(e.until))
}

// answer is what the caller is told.
func (r *reader) answer(h *handle, fate Fate) error {
	switch fate {
	case LoseRequest:
		return errNoAnswer
	case LoseConfirmation:
		return errUncertain
	case LoseLease:
		if !h.entry.done() && h.entry.record.Delivered == h.attempt {
			h.channel.redeliver(h.entry, time.Time{})
		}
		return errLost
	}
	return nil
}

// apply has a verdict take effect. One on a settled message has none, but is
// counted.
func (r *reader) apply(h *handle, s *source.Settlement, now time.Time) {
	c, e := h.channel, h.entry
	switch s.Verdict {
	case source.Ack:
		e.record.Acks++
		if r.q.cfg.Contiguous {
			c.settleThrough(e)
		} else if !e.done() {
			e.record.Acked = true
			c.settle(e)
		}
	case source.Nack:
		e.record.Nacks++
		if !e.done() && e.isLeased {
			c.redeliver(e, now.Add(s.Delay))
		}
	case source.Terminate:
		e.record.Terms++
		if !e.done() {
			e.record.Terminated = true
			c.settle(e)
		}
	}
}

// settleThrough acks everything up to e.
func (c *channel) settleThrough(e *entry) {
	for _, o := range c.entries[min(c.floor, int(e.position)):e.position] {
		if !o.done() {
			o.record.Acked = true
			c.unlease(o)
		}
	}
	c.floor = max(c.floor, int(e.position))
	c.next = max(c.next, c.floor)
}

// Extend renews leases that run.
func (r *reader) Extend(ctx context.Context, list []source.Settlement) (failures []source.Failure) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	now := r.q.now()
	for i := range list {
		err := ctx.Err()
		if err == nil {
			err = r.extend(&list[i], now)
		}
		if err != nil {
			failures = append(failures, source.Failure{Ref: list[i].Ref, Err: err})
		}
	}
	r.q.armLocked()
	return failures
}

func (r *reader) extend(s *source.Settlement, now time.Time) error {
	h, ok := s.Handle.(*handle)
	switch {
	case r.closed:
		return errClosed
	case !ok:
		return errHandle
	}
	if f := r.q.cfg.Faults.Extend; f != nil {
		if err := f(s); err != nil {
			return err
		}
	}
	if !h.holds(now) {
		return errLost
	}
	if h.entry.isLeased && r.q.cfg.Lease > 0 {
		h.entry.until = now.Add(r.q.cfg.Lease)
		h.entry.record.Extensions++
	}
	return nil
}

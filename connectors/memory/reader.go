package memory

import (
	"context"
	"slices"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

// reader reads its share of the channels. All of it is guarded by the queue's mu.
type reader struct {
	q        *Queue
	opts     source.Options
	channels []*assigned
	// turn is the channel to be asked first.
	turn   int
	closed bool
}

// assigned is a channel with what its reader has announced of it.
type assigned struct {
	*channel
	start      source.Start
	started    bool
	unresolved bool
}

// handle ties a delivery to its message.
type handle struct {
	channel *channel
	entry   *entry
	attempt int
}

// Poll hands over one message per channel in turn.
func (r *reader) Poll(dst []source.Message) (p source.Polled, err error) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	if r.closed {
		return p, errClosed
	}
	if err := ask(r.q.cfg.Faults.Poll, r.opts.Index); err != nil {
		return p, err
	}
	now := r.q.now()
	for _, a := range r.channels {
		if !a.started {
			a.started = true
			p.Started = append(p.Started, a.start)
		}
		a.expire(now)
	}
	for idle := 0; p.N < len(dst) && idle < len(r.channels) && r.q.grantsLocked(); {
		i := r.turn % len(r.channels)
		r.turn++
		e := r.next(i, now)
		if e == nil {
			idle++
			continue
		}
		idle = 0
		r.fill(&dst[p.N], i, e, now)
		p.N++
	}
	r.conclude(&p, now)
	r.q.armLocked()
	return p, nil
}

// next takes an entry of channel i, nil if there is none.
func (r *reader) next(i int, now time.Time) *entry {
	c := r.channels[i].channel
	if again := r.q.cfg.Faults.Redeliver; again != nil {
		for _, e := range c.entries[c.floor:c.next] {
			if e.isLeased && again(source.Channel(i), e.position) {
				return e
			}
		}
	}
	return c.take(now)
}

// fill delivers e.
func (r *reader) fill(dst *source.Message, i int, e *entry, now time.Time) {
	c, until := r.channels[i].channel, time.Time{}
	if r.q.cfg.Lease > 0 {
		until = now.Add(r.q.cfg.Lease)
	}
	c.lease(e, until)
	*dst = source.Message{
		Data: e.Data, Attributes: e.Attributes, Subject: e.Subject, Key: e.Key, ID: e.ID, Time: e.Time,
		Channel: source.Channel(i), Position: e.position, Attempt: e.record.Delivered, Received: now,
		Handle: &handle{channel: c, entry: e, attempt: e.record.Delivered},
	}
}

// conclude tells what is resolved, idle and finished.
func (r *reader) conclude(p *source.Polled, now time.Time) {
	left := false
	for i, a := range r.channels {
		if n, _ := a.outstanding(); a.unresolved && n == 0 {
			a.unresolved = false
			p.Resolved = append(p.Resolved, source.Channel(i))
		}
		left = left || a.left() || a.unresolved
	}
	if left {
		return
	}
	p.CaughtUp, p.CaughtUpAt = true, event.At(now)
	p.Finished = r.q.cfg.Bounded && r.q.mu.finished
}

// grantsLocked says whether the quota allows another delivery.
func (q *Queue) grantsLocked() bool {
	if q.cfg.Quota == 0 {
		return true
	}
	n := 0
	for _, c := range q.mu.channels {
		n += c.unsettled
	}
	return n < q.cfg.Quota
}

// Close gives nothing back, since nothing is received before it is polled.
func (r *reader) Close(context.Context) error {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	if r.closed {
		return nil
	}
	if err := ask(r.q.cfg.Faults.Close, r.opts.Index); err != nil {
		return err
	}
	r.closed = true
	if r.q.mu.readers[r.opts.Index] == r {
		r.q.mu.readers[r.opts.Index] = nil
	}
	anyone := func(r *reader) bool { return r != nil }
	if t := r.q.mu.timer; t != nil && !slices.ContainsFunc(r.q.mu.readers, anyone) {
		t.Stop()
	}
	return nil
}

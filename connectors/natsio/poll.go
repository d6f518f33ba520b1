package natsio

import (
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// Poll moves what has been received into dst. While it returns messages the caller
// polls again; the poll that finds nothing arms the receiving goroutine, which wakes.
func (r *reader) Poll(dst []source.Message) (source.Polled, error) {
	if r.isClosing() {
		return source.Polled{}, r.errorf(fault.Closed, "the reader is closed")
	}
	now := time.Now()
	r.mu.Lock()
	p, err := r.pollLocked(dst, now)
	told := r.mu.fatal != nil || r.mu.incident != nil
	arm := !told && err == nil && r.maybeArmLocked(&p)
	more := r.mu.pulls.due() && !r.mu.end.finished
	left := len(r.mu.inbox.held) > 0 && !r.mu.end.finished
	r.mu.Unlock()

	if more {
		signal(r.more)
	}
	switch {
	case arm:
		signal(r.armed)
	case told || left || err != nil:
		r.opts.Wake()
	}
	if p.N > 0 {
		r.src.stats.delivered.Add(uint64(p.N))
	}
	return p, err
}

func (r *reader) pollLocked(dst []source.Message, now time.Time) (p source.Polled, err error) {
	if r.mu.fatal != nil {
		return p, r.mu.fatal
	}
	if err = r.mu.incident; err != nil {
		r.mu.incident = nil
		return p, err
	}
	p.Started = r.mu.start.announce()
	r.mu.inbox.look(now)
	for p.N < len(dst) && !r.mu.end.finished {
		h, ok := r.mu.inbox.pop()
		if !ok {
			break
		}
		if r.takeLocked(&h, &dst[p.N]) {
			p.N++
		}
	}
	if r.mu.start.announceResolved() {
		p.Resolved = []source.Channel{0}
	}
	if at, ok := r.mu.idle.caughtUp(r.mu.inbox.empty() && r.mu.settledOrder()); ok {
		p.CaughtUp, p.CaughtUpAt = true, at
		r.mu.end.caughtUp()
	}
	p.Finished = r.mu.end.check(r.mu.settledOrder())
	if p.N > 0 {
		r.mu.idle.since = now
	}
	return p, nil
}

// settledOrder: nothing that was delivered before is still to come.
func (g *guarded) settledOrder() bool { return g.order.whole() && g.start.resolved() }

// takeLocked hands h over, or deals with it otherwise.
func (r *reader) takeLocked(h *held, dst *source.Message) bool {
	d, ok := parseAck(h.msg.Reply, r.prefix)
	if !ok {
		r.statusLocked(h.msg)
		return false
	}
	if !h.checked && !r.admitLocked(h, &d) {
		return false
	}
	r.mu.order.first = max(r.mu.order.first, d.seq)
	if d.attempt > 1 {
		r.src.stats.redelivered.Add(1)
	}
	r.mu.start.observe(&d)
	r.mu.idle.observe(&d)
	if !r.mu.end.within(h, &d) {
		return false
	}
	fill(dst, h.msg, &d, h.received)
	return true
}

// admitLocked looks at the place of a message that comes from the broker.
func (r *reader) admitLocked(h *held, d *delivery) bool {
	h.checked, h.seq = true, d.seq
	r.mu.pulls.received(r.mu.inbox.looked)
	o := &r.mu.order
	if o.place(d) != inOrder {
		signal(r.ask)
		return false
	}
	if !o.collecting {
		return true
	}
	// What comes again comes before anything new.
	o.back = append(o.back, *h)
	if d.attempt == 1 {
		r.collectedLocked()
	}
	return false
}

// collectedLocked ends a rewind: all that was sent before has come again.
func (r *reader) collectedLocked() {
	r.mu.inbox.held = append(r.mu.order.collected(), r.mu.inbox.held...)
	signal(r.more)
}

// maybeArmLocked arms after a poll that found nothing. A message may have arrived
// since: the receiving goroutine takes it at once then.
func (r *reader) maybeArmLocked(p *source.Polled) bool {
	b := &r.mu.inbox
	if p.N > 0 || b.armed || len(b.held) > 0 || r.mu.end.finished {
		return false
	}
	b.armed = true
	return true
}

// idle gathers evidence that everything the broker had was handed over.
type idle struct {
	// last is the delivery handed over last, newest the latest time it was stored.
	last   delivery
	newest event.Time
	// at is the broker's time of evidence not yet told; empty for the deliveries'
	// own evidence.
	at   event.Time
	news bool
	// since is when something was last handed over, to know who is idle.
	since time.Time
}

// observe: the broker wrote into the delivery that nothing was behind it.
func (i *idle) observe(d *delivery) {
	i.last = *d
	i.newest = max(i.newest, event.Time(d.stored/int64(time.Microsecond)))
	i.at, i.news = i.newest, d.pending == 0
}

// evidence takes the broker's word that nothing was pending at that time.
func (i *idle) evidence(at event.Time) { i.at, i.news = max(i.at, at), true }

// caughtUp tells evidence once, when all of it has been handed over.
func (i *idle) caughtUp(handedOver bool) (event.Time, bool) {
	if !i.news || !handedOver {
		return 0, false
	}
	i.news = false
	return i.at, true
}

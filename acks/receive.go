package acks

import "time"

// receive enters a delivery. A new one gets state s.
func (b *book[P]) receive(ch Channel, pos Position, payload *P, bytes int, now time.Time, s state) (*delivery[P], Ref, Arrival) {
	c := b.channel(ch)
	if c == nil || pos > MaxPosition {
		b.total.refused++
		return nil, 0, Refused
	}
	b.total.received++
	if pos == 0 {
		pos = max(c.last, c.known.top()) + 1
	}
	if c.missing > 0 {
		c.noteArrival(pos)
	}
	if pos <= c.last {
		if d := c.find(pos); d != nil {
			return d, d.ref, b.copyOf(c, d, payload, bytes, now, s)
		}
	}
	if c.known.Has(pos) {
		b.total.duplicates++
		return nil, b.again(c, pos, payload, bytes, now), Committed
	}
	d := b.admit(c, pos, payload, bytes, now, s)
	return d, d.ref, New
}

// copyOf enters a copy of d, which is held.
func (b *book[P]) copyOf(c *channel[P], d *delivery[P], payload *P, bytes int, now time.Time, s state) Arrival {
	b.replace(d, payload, bytes, now)
	if d.state == settling && d.verdict.Action == Rejected { // the broker has heard already
		d.turn++
		d.verdict = Verdict{}
		b.set(c, d, s)
		c.revert(d.pos())
		return New
	}
	b.total.duplicates++
	if !d.state.durable() {
		return InFlight
	}
	if d.state == settling && b.mode == Individual { // the older delivery is being settled: this one too
		d.turn++
		b.setDue(c, d)
	}
	return Committed
}

// again has a copy of what is committed and forgotten settled once more.
func (b *book[P]) again(c *channel[P], pos Position, payload *P, bytes int, now time.Time) Ref {
	if b.mode == Contiguous {
		if pos > c.settledTo {
			b.admit(c, pos, payload, bytes, now, committed)
			b.lowerFloor(c)
		}
		return MakeRef(c.id, pos)
	}
	d := b.admit(c, pos, payload, bytes, now, due)
	b.due.push(d)
	return d.ref
}

func (b *book[P]) setDue(c *channel[P], d *delivery[P]) {
	b.set(c, d, due)
	b.due.push(d)
}

// take puts d into the bundle of epoch.
func (b *book[P]) take(ref Ref, epoch uint64) bool {
	c, d := b.find(ref)
	if d == nil || d.state.durable() {
		return false
	}
	if d.state != read {
		b.set(c, d, read)
	}
	d.epoch, d.verdict = epoch, Verdict{}
	return true
}

func (b *book[P]) judge(ref Ref, v Verdict) error {
	if b.mode == Contiguous && (v.Action == Rejected || v.Action == Terminated) {
		return ErrContiguous
	}
	if b.channel(ref.Channel()) == nil {
		return ErrClosed
	}
	_, d := b.find(ref)
	if d == nil || d.state != read {
		return ErrNotTaken
	}
	d.verdict = v
	return nil
}

package acks

import "time"

// incoming is a delivery that arrives. Its payload goes beside it: a pointer in here
// would move each payload to the heap.
type incoming struct {
	ch    Channel
	pos   Position
	bytes int
	now   time.Time
	// taken: if it is new, it enters the bundle of epoch at once.
	taken bool
	epoch uint64
}

// receive enters a delivery.
func (b *book[P]) receive(in *incoming, payload *P) (Ref, Arrival) {
	c := b.channel(in.ch)
	if c == nil || in.pos > MaxPosition {
		b.total.refused++
		return 0, Refused
	}
	b.total.received++
	if in.pos == 0 {
		in.pos = max(c.last, c.known.top()) + 1
	}
	if c.missing > 0 && c.noteArrival(in.pos) {
		defer b.floorMoved(c) // once the delivery is held
	}
	if in.pos <= c.last {
		if d := c.find(in.pos); d != nil {
			return d.ref, b.copyOf(c, d, in, payload)
		}
	}
	if c.known.Has(in.pos) {
		b.total.duplicates++
		return b.again(c, in, payload), Committed
	}
	if !in.taken {
		return b.admit(c, in, payload, fresh).ref, New
	}
	d := b.admit(c, in, payload, read)
	d.epoch = in.epoch
	c.noteTake(in.pos, in.epoch)
	return d.ref, New
}

// copyOf enters a copy of d, which is held.
func (b *book[P]) copyOf(c *channel[P], d *delivery[P], in *incoming, payload *P) Arrival {
	b.replace(d, in, payload)
	if d.state == settling && d.verdict.Action == Rejected { // the broker has heard already
		d.verdict = Verdict{}
		b.set(c, d, fresh)
		c.revert(in.pos)
		if in.taken {
			b.take(d.ref, in.epoch)
		}
		return New
	}
	b.total.duplicates++
	if !d.state.durable() {
		return InFlight
	}
	if d.state == settling && b.mode == Individual { // the older delivery is being settled: this one too
		b.setDue(c, d)
	}
	return Committed
}

// again has a copy of what is committed and forgotten settled once more.
func (b *book[P]) again(c *channel[P], in *incoming, payload *P) Ref {
	switch {
	case b.mode == Individual:
		b.due.push(b.admit(c, in, payload, due))
	case in.pos > c.settledTo:
		b.admit(c, in, payload, committed)
		b.floorMoved(c)
	}
	return MakeRef(c.id, in.pos)
}

func (b *book[P]) setDue(c *channel[P], d *delivery[P]) {
	b.set(c, d, due)
	b.due.push(d)
}

// take puts the delivery of ref into the bundle of epoch.
func (b *book[P]) take(ref Ref, epoch uint64) bool {
	c, d := b.find(ref)
	if d == nil || d.state.durable() {
		return false
	}
	if d.state != read {
		b.set(c, d, read)
	}
	d.epoch, d.verdict = epoch, Verdict{}
	c.noteTake(d.pos(), epoch)
	return true
}

func (b *book[P]) judge(ref Ref, v Verdict) error {
	if b.mode == Contiguous && (v.Action == Rejected || v.Action == Terminated) {
		return ErrContiguous
	}
	if b.channel(ref.Channel()) == nil {
		return ErrClosed
	}
	c, d := b.find(ref)
	if d == nil || d.state != read {
		return ErrNotTaken
	}
	d.verdict = v
	c.irregular = c.irregular || v.Action != Acked
	return nil
}

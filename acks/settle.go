package acks

import "slices"

// commit makes the epochs up to epoch durable.
func (b *book[P]) commit(epoch uint64) {
	for _, c := range b.channels {
		if c != nil && !c.closed && c.count[read] > 0 {
			b.commitChannel(c, epoch)
		}
	}
}

func (b *book[P]) commitChannel(c *channel[P], epoch uint64) {
	if c.regular() {
		c.known.Floor = c.regularFloor(epoch)
		b.commitRegular(c)
	} else {
		m := c.mark(epoch, c.spareHoles[:0], c.spareAhead[:0])
		c.spareHoles, c.spareAhead = c.known.Holes, c.known.Ahead
		c.known = m
		b.commitWalk(c, epoch)
	}
	c.firstNotDurable()
	b.floorMoved(c)
}

func (b *book[P]) commitWalk(c *channel[P], epoch uint64) {
	for it := c.notDurable(); ; {
		d := it.next()
		if d == nil {
			return
		}
		if d.state == read && d.epoch <= epoch {
			b.decide(c, d)
		}
	}
}

// commitRegular is commitWalk for a regular channel whose floor is found.
func (b *book[P]) commitRegular(c *channel[P]) {
	for i := c.main.search(c.main.from); i < c.main.n; i++ {
		s := c.main.at(i)
		if s.pos > c.known.Floor {
			return
		}
		if s.d != nil && s.d.state == read {
			b.decide(c, s.d)
		}
	}
}

// decide makes the verdict on d final.
func (b *book[P]) decide(c *channel[P], d *delivery[P]) {
	switch {
	case d.verdict.Action == Blocked:
		b.set(c, d, blocked)
	case b.mode == Contiguous:
		b.set(c, d, committed)
	default:
		b.setDue(c, d)
	}
}

// floorMoved finds the newest delivery of a contiguous channel that speaks for all
// before it and makes it due instead of an older one. While one is being settled nothing is due: its
// outcome comes first, so that an older floor never overtakes a newer.
func (b *book[P]) floorMoved(c *channel[P]) {
	if b.mode != Contiguous || c.busy {
		return
	}
	d := c.settleable()
	if d == nil || d == c.floor {
		return
	}
	if old := c.floor; old != nil {
		b.due.remove(old)
		b.set(c, old, committed)
	}
	c.floor = d
	b.setDue(c, d)
}

// settleable is the highest delivery below everything that is not committed. While
// the channel is open there is none: what it spoke for would not come again, and
// the channel stay open for ever.
func (c *channel[P]) settleable() *delivery[P] {
	if c.open() {
		return nil
	}
	limit := MaxPosition
	if p := c.firstNotDurable(); p > 0 {
		limit = p - 1
	}
	if len(c.known.Holes) > 0 {
		limit = min(limit, c.known.Holes[0]-1)
	}
	d, side := c.main.below(limit), c.side.below(limit)
	if d == nil || side != nil && side.pos() > d.pos() {
		d = side
	}
	return d
}

// below is the highest delivery up to limit.
func (q *deque[P]) below(limit Position) *delivery[P] {
	for i := q.search(limit+1) - 1; i >= 0; i-- {
		if d := q.at(i).d; d != nil {
			return d
		}
	}
	return nil
}

// takeDue moves up to limit due deliveries to dst and to state settling.
func (b *book[P]) takeDue(dst []Settlement[P], limit int) []Settlement[P] {
	if limit <= 0 {
		limit = b.count[due]
	}
	for d := b.due.first; d != nil && limit > 0; d = b.due.first {
		limit--
		c := b.channels[d.ref.Channel()]
		b.due.remove(d)
		b.set(c, d, settling)
		c.busy = b.mode == Contiguous
		c.floor = nil
		dst = slices.Grow(dst, 1)[:len(dst)+1] // and no second copy of a large payload
		to := &dst[len(dst)-1]
		b.turn++
		d.turn = b.turn
		to.Ref, to.Verdict, to.turn = d.ref, d.verdict, d.turn
		to.Payload = d.payload
	}
	return dst
}

// settled takes the broker's confirmation of s.
func (b *book[P]) settled(s *Settlement[P]) {
	c, d := b.find(s.Ref)
	if d == nil || d.state != settling || d.turn != s.turn {
		return
	}
	if b.mode == Individual {
		b.total.settled++
		b.forget(c, d)
		return
	}
	c.settledTo = max(c.settledTo, d.pos())
	b.total.settled += b.forgetUpTo(c, d.pos())
	b.settleEnded(c)
}

// failed takes the broker's refusal, or its silence.
func (b *book[P]) failed(ref Ref, lost bool) {
	c, d := b.find(ref)
	if d == nil || d.state != settling {
		return
	}
	switch {
	case b.mode == Individual && lost:
		b.total.lost++
		b.forget(c, d)
	case b.mode == Individual:
		b.setDue(c, d)
	case lost:
		b.total.lost += b.forgetUpTo(c, d.pos())
		b.settleEnded(c)
	default:
		b.set(c, d, committed)
		b.settleEnded(c)
	}
}

func (b *book[P]) settleEnded(c *channel[P]) {
	c.busy = false
	b.floorMoved(c)
}

// forgetUpTo forgets what one settlement of a contiguous channel spoke for.
func (b *book[P]) forgetUpTo(c *channel[P], pos Position) (n uint64) {
	for _, q := range []*deque[P]{&c.main, &c.side} {
		for q.n > 0 && q.at(0).pos <= pos && q.at(0).d.state.durable() {
			b.forget(c, q.at(0).d)
			n++
		}
	}
	return n
}

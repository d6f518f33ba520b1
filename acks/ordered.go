package acks

// ordered walks the deliveries of a channel in position order. The channel must
// not change meanwhile, but for the states of its deliveries.
type ordered[P any] struct {
	main, side *deque[P]
	i, j       int
}

// from starts at the first delivery at or above pos.
func (c *channel[P]) from(pos Position) ordered[P] {
	return ordered[P]{&c.main, &c.side, c.main.search(pos), c.side.search(pos)}
}

// notDurable starts at or before the first delivery that is not durable.
func (c *channel[P]) notDurable() ordered[P] {
	return ordered[P]{&c.main, &c.side, c.main.search(c.main.from), c.side.search(c.side.from)}
}

// next is nil after the last delivery.
func (it *ordered[P]) next() *delivery[P] {
	main, side := it.main.heldFrom(&it.i), it.side.heldFrom(&it.j)
	if side == nil || main != nil && main.pos() < side.pos() {
		it.i++
		return main
	}
	it.j++
	return side
}

// heldFrom is the first delivery from index i on, to which it moves i.
func (q *deque[P]) heldFrom(i *int) *delivery[P] {
	for ; *i < q.n; *i++ {
		if d := q.at(*i).d; d != nil {
			return d
		}
	}
	return nil
}

// firstNotDurable is the lowest position that is held and not durable, 0 if there
// is none. It moves from up to there.
func (c *channel[P]) firstNotDurable() Position {
	if c.undecided() == 0 {
		c.main.from, c.side.from = c.last+1, c.last+1
		return 0
	}
	first := min(c.main.skipDurable(), c.side.skipDurable())
	if first > MaxPosition {
		return 0
	}
	return first
}

// skipDurable moves from to the first delivery that is not durable, beyond
// MaxPosition if there is none.
func (q *deque[P]) skipDurable() Position {
	for i := q.search(q.from); i < q.n; i++ {
		if s := q.at(i); s.d != nil && !s.d.state.durable() {
			q.from = s.pos
			return s.pos
		}
	}
	q.from = MaxPosition + 1
	return q.from
}

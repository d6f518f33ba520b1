package acks

import "sort"

// Most of the time a channel is regular: first deliveries only, taken in position
// order into epochs that do not go back, every verdict an Ack. Then what the epochs
// up to one commit is a prefix of main, and no walk is needed to find it.

// regular says whether it is so now. Whatever it says, sweep finds the same.
func (c *channel[P]) regular() bool {
	return !c.irregular && c.side.n == 0 && len(c.known.Holes)+len(c.known.Ahead) == 0 && c.unread() == 0 && !c.open()
}

// noteTake notices a take out of order.
func (c *channel[P]) noteTake(pos Position, epoch uint64) {
	if c.count[read] == 1 { // the one that is being taken
		c.irregular = false
	} else if pos < c.takenTo || epoch < c.takenIn {
		c.irregular = true
	}
	c.takenTo, c.takenIn = pos, epoch
}

// regularFloor is the floor of a regular channel once the epochs up to epoch are
// committed.
func (c *channel[P]) regularFloor(epoch uint64) Position {
	q := &c.main
	first := q.search(q.from)
	n := sort.Search(q.n-first, func(i int) bool {
		d := q.at(first + i).d
		return d != nil && d.state == read && d.epoch > epoch
	})
	// Below the first that stays: empty slots and durable deliveries are committed.
	floor := c.known.Floor
	for i := first + n - 1; i >= first; i-- {
		if s := q.at(i); s.d != nil && s.d.state == read {
			return max(floor, s.pos)
		}
	}
	return floor
}

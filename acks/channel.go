package acks

import (
	"fmt"
	"slices"
)

// channel is what the ledger knows of one channel.
//
// The simple version would be one mark and one deque. What makes it harder: copies
// of old deliveries come in any order, so they stand in a deque of their own
// (side) and the one for first deliveries (main) is only appended to; and while
// deliveries from before the start are outstanding, nobody knows which positions
// above the floor they have, so the floor cannot pass them.
//
// Invariants:
//  1. A delivery is in main or side, never both, while it is unsettled.
//  2. known is what the durable epochs committed, and nothing more; its Holes may
//     lie above its Floor: positions that are known not to be committed.
//  3. A delivery that is not durable and lies at or below the floor is a hole.
//  4. Contiguous: nothing is settled at or above a delivery that is not durable or
//     a hole, and nothing at all while the channel is open.
type channel[P any] struct {
	id         Channel
	main, side deque[P]
	known      Mark
	// last is the highest position received.
	last   Position
	closed bool
	// count is how many deliveries stand in each state.
	count [states]int

	// through and missing: so many distinct positions up to through are still to
	// come again. arrived are those that have.
	through Position
	missing int
	arrived map[Position]struct{}

	// takenTo and takenIn are position and epoch of the last take, see regular.go.
	takenTo   Position
	takenIn   uint64
	irregular bool

	// replayFrom: nothing waits below it.
	replayFrom Position

	// Contiguous: the newest position the broker confirmed, the delivery that is
	// due, and whether one is being settled.
	settledTo Position
	floor     *delivery[P]
	busy      bool

	// Storage of the next known, so that commits do not allocate.
	spareHoles []Position
	spareAhead []Span
}

func newChannel[P any](id Channel, s Start) (*channel[P], error) {
	if err := s.Mark.Validate(); err != nil {
		return nil, err
	}
	if s.Outstanding < 0 || s.Through > MaxPosition || s.Outstanding > 0 && s.Through == 0 {
		return nil, fmt.Errorf("acks: channel %d starts with %d outstanding through %d", id, s.Outstanding, s.Through)
	}
	c := &channel[P]{id: id, through: s.Through, missing: s.Outstanding}
	c.known = Mark{Floor: s.Mark.Floor, Holes: slices.Clone(s.Mark.Holes), Ahead: slices.Clone(s.Mark.Ahead)}
	if s.Outstanding > 0 {
		c.arrived = map[Position]struct{}{}
	}
	return c, nil
}

// open says whether unknown positions above the floor are outstanding.
func (c *channel[P]) open() bool { return c.missing > 0 && c.through > c.known.Floor }

// noteArrival counts what was outstanding at the start and has come again. It says
// whether this was the last.
func (c *channel[P]) noteArrival(pos Position) (last bool) {
	if c.missing == 0 || pos > c.through {
		return false
	}
	if _, again := c.arrived[pos]; again {
		return false
	}
	c.arrived[pos] = struct{}{}
	c.missing--
	if c.missing == 0 {
		c.arrived = nil
	}
	return c.missing == 0
}

func (c *channel[P]) resolve() { c.missing, c.arrived = 0, nil }

// find is the unsettled delivery at pos, nil if there is none.
func (c *channel[P]) find(pos Position) *delivery[P] {
	if d := c.main.find(pos); d != nil || c.side.n == 0 {
		return d
	}
	return c.side.find(pos)
}

// hold takes d in.
func (c *channel[P]) hold(d *delivery[P]) {
	if pos := d.pos(); pos > c.last {
		c.last = pos
		c.main.push(d)
	} else {
		c.side.insert(d)
	}
}

// release lets go of d.
func (c *channel[P]) release(d *delivery[P]) {
	if !c.main.remove(d) {
		c.side.remove(d)
	}
}

// revert says that d, at pos, is not durable any more.
func (c *channel[P]) revert(pos Position) {
	c.main.from = min(c.main.from, pos)
	c.side.from = min(c.side.from, pos)
}

func (c *channel[P]) unread() int { return c.count[fresh] + c.count[waiting] + c.count[blocked] }

// undecided is how many deliveries are not durable.
func (c *channel[P]) undecided() int { return c.unread() + c.count[read] }

// prefix is the highest position up to which everything is read or committed.
func (c *channel[P]) prefix(mode Mode) (pos Position, resolved bool) {
	if c.missing > 0 && (c.open() || c.absentHole(c.through) > 0) {
		return c.known.Floor, false
	}
	pos = max(c.last, c.known.top(), c.through)
	if mode == Contiguous {
		if h := c.absentHole(pos); h > 0 {
			pos = h - 1
		}
	}
	if c.unread() == 0 {
		return pos, true
	}
	for it := c.notDurable(); ; {
		d := it.next()
		if d == nil || d.pos() > pos {
			return pos, true
		}
		if d.state.unread() {
			return d.pos() - 1, true
		}
	}
}

// absentHole is the lowest hole up to limit that is not held, 0 if there is none.
func (c *channel[P]) absentHole(limit Position) Position {
	for _, h := range c.known.Holes {
		if h > limit {
			break
		}
		if c.find(h) == nil {
			return h
		}
	}
	return 0
}

// forget takes pos out of the holes.
func (c *channel[P]) forget(pos Position) {
	if c.find(pos) != nil {
		return
	}
	c.noteArrival(pos)
	if i, found := slices.BinarySearch(c.known.Holes, pos); found {
		c.known.Holes = slices.Delete(c.known.Holes, i, i+1)
	}
}

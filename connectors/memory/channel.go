package memory

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gosluice/sluice/core/source"
)

// channel is one log with the state of its only consumer. Guarded by the queue's mu.
type channel struct {
	index   int
	name    string
	entries []*entry
	// next is how many were delivered at least once.
	next int
	// floor is how many from the start are settled.
	floor int
	// again are entries to deliver again, first first. Not all of them are due: an
	// entry may have been settled since, or wait for its delay.
	again []*entry
	// unsettled counts deliveries that are held by a reader.
	unsettled int
}

// entry is a message with what became of it.
type entry struct {
	Message
	position source.Position
	record   Record
	// leased until; zero: for ever, while isLeased.
	isLeased bool
	until    time.Time
	// notBefore delays the next delivery.
	notBefore time.Time
	waiting   bool // in again
	// outstanding: delivered to an earlier reader, and not since.
	outstanding bool
}

func (e *entry) done() bool { return e.record.Acked || e.record.Terminated }

// lease hands e over until that time.
func (c *channel) lease(e *entry, until time.Time) {
	if !e.isLeased {
		c.unsettled++
	}
	e.isLeased, e.until, e.waiting, e.outstanding = true, until, false, false
	e.record.Delivered++
}

// unlease takes e back.
func (c *channel) unlease(e *entry) {
	if e.isLeased {
		c.unsettled--
	}
	e.isLeased = false
}

// settle ends e for good.
func (c *channel) settle(e *entry) {
	c.unlease(e)
	e.outstanding = false
	for c.floor < len(c.entries) && c.entries[c.floor].done() {
		c.floor++
	}
}

// redeliver puts e in the queue of what comes again.
func (c *channel) redeliver(e *entry, notBefore time.Time) {
	c.unlease(e)
	e.notBefore = notBefore
	if !e.waiting {
		e.waiting = true
		c.again = append(c.again, e)
	}
}

// expire takes back what is leased no longer.
func (c *channel) expire(now time.Time) {
	for _, e := range c.entries[c.floor:c.next] {
		if e.isLeased && !e.until.IsZero() && !now.Before(e.until) {
			c.redeliver(e, time.Time{})
		}
	}
}

// release takes back everything that is not settled, in position order or shuffled.
func (c *channel) release(shuffle *rand.Rand) {
	for _, e := range c.entries[c.floor:c.next] {
		if !e.done() {
			c.redeliver(e, time.Time{})
		}
	}
	slices.SortStableFunc(c.again, func(a, b *entry) int { return cmp.Compare(a.position, b.position) })
	if shuffle != nil {
		shuffle.Shuffle(len(c.again), func(i, j int) { c.again[i], c.again[j] = c.again[j], c.again[i] })
	}
}

// rewind lets a contiguous channel begin again behind its floor.
func (c *channel) rewind() {
	for _, e := range c.entries[c.floor:c.next] {
		c.unlease(e)
		e.waiting = false
	}
	c.again, c.next = nil, c.floor
}

// take returns what is to be delivered next, nil if nothing is.
func (c *channel) take(now time.Time) *entry {
	for i := 0; i < len(c.again); i++ {
		e := c.again[i]
		if !e.waiting || e.done() {
			e.waiting = false
			c.again = slices.Delete(c.again, i, i+1)
			i--
			continue
		}
		if !e.notBefore.After(now) {
			c.again = slices.Delete(c.again, i, i+1)
			return e
		}
	}
	if c.next < len(c.entries) {
		c.next++
		return c.entries[c.next-1]
	}
	return nil
}

// nextDue is when a lease or a delay ends; zero: no time is known.
func (c *channel) nextDue() (next time.Time) {
	for _, e := range c.entries[c.floor:c.next] {
		at := e.until
		if e.waiting {
			at = e.notBefore
		}
		if (e.isLeased || e.waiting) && !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// left says whether something is still to be handed over.
func (c *channel) left() bool {
	if c.next < len(c.entries) {
		return true
	}
	return slices.ContainsFunc(c.again, func(e *entry) bool { return e.waiting && !e.done() })
}

// outstanding counts what earlier readers had and this one has not seen.
func (c *channel) outstanding() (n int, through source.Position) {
	for _, e := range c.entries[c.floor:c.next] {
		if e.outstanding {
			n, through = n+1, e.position
		}
	}
	return n, through
}

package memory

import (
	"time"

	"github.com/gosluice/sluice/core/source"
)

// Record is what happened to one message.
type Record struct {
	Channel  string
	Position source.Position
	Data     []byte
	// Delivered counts deliveries, Acks, Nacks, Terms and Extensions what was told
	// and applied.
	Delivered, Acks, Nacks, Terms, Extensions int
	// Acked or Terminated: it is settled. In a contiguous queue a message is acked by
	// a later one's ack without an ack of its own.
	Acked, Terminated bool
	// Leased: a reader holds it.
	Leased bool
}

// Event is one settlement as it arrived.
type Event struct {
	At       time.Time
	Channel  string
	Position source.Position
	// Attempt is that of the delivery it speaks of.
	Attempt int
	Verdict source.Verdict
	Delay   time.Duration
	Reason  string
	// Applied: it took effect. Known: the caller was told so.
	Applied, Known bool
}

// Record returns what happened to a message; the zero value if there is none.
func (q *Queue) Record(channel string, p source.Position) Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.channelLocked(channel)
	if p < 1 || int(p) > len(c.entries) {
		return Record{}
	}
	return c.record(c.entries[p-1])
}

// Records lists all messages, channel by channel, by position.
func (q *Queue) Records() (all []Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.mu.channels {
		for _, e := range c.entries {
			all = append(all, c.record(e))
		}
	}
	return all
}

func (c *channel) record(e *entry) Record {
	r := e.record
	r.Channel, r.Position, r.Data, r.Leased = c.name, e.position, e.Data, e.isLeased
	return r
}

// Events lists the settlements in the order they arrived.
func (q *Queue) Events() []Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]Event(nil), q.mu.events...)
}

// Unsettled counts the messages that are neither acked nor terminated.
func (q *Queue) Unsettled() (n int) {
	for _, r := range q.Records() {
		if !r.Acked && !r.Terminated {
			n++
		}
	}
	return n
}

// Acked lists the acked positions of a channel, ascending.
func (q *Queue) Acked(channel string) []source.Position {
	return q.positions(channel, func(r Record) bool { return r.Acked })
}

// Terminated lists the terminated positions of a channel, ascending.
func (q *Queue) Terminated(channel string) []source.Position {
	return q.positions(channel, func(r Record) bool { return r.Terminated })
}

// Nacked lists the positions of a channel that were nacked at least once, ascending.
func (q *Queue) Nacked(channel string) []source.Position {
	return q.positions(channel, func(r Record) bool { return r.Nacks > 0 })
}

func (q *Queue) positions(channel string, want func(Record) bool) (list []source.Position) {
	for _, r := range q.Records() {
		if r.Channel == channel && want(r) {
			list = append(list, r.Position)
		}
	}
	return list
}

package memory

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

// Message is what is published.
type Message struct {
	Data       []byte
	Attributes source.Attributes
	Subject    string
	Key        []byte
	ID         string
	// Time is when the broker stores it; zero: now.
	Time event.Time
}

// Queue is a broker. Safe for concurrent use.
type Queue struct {
	cfg Config
	mu  struct {
		sync.Mutex
		channels []*channel
		// readers are the open ones by index, nil elsewhere.
		readers  []*reader
		claim    string
		finished bool
		events   []Event
		timer    *time.Timer
	}
}

// NewQueue makes an empty queue. It panics where Validate would return an error:
// the configuration is part of a test.
func NewQueue(cfg Config) *Queue {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	q := &Queue{cfg: cfg.withDefaults()}
	for i, name := range q.cfg.Channels {
		q.mu.channels = append(q.mu.channels, &channel{index: i, name: name})
	}
	return q
}

func (q *Queue) now() time.Time {
	if q.cfg.Now != nil {
		return q.cfg.Now()
	}
	return time.Now()
}

// Publish stores messages in a channel and returns the position of the last.
func (q *Queue) Publish(channel string, msgs ...Message) source.Position {
	q.mu.Lock()
	now := q.now()
	c := q.channelLocked(channel)
	for _, m := range msgs {
		if m.Time == 0 {
			m.Time = event.At(now)
		}
		c.entries = append(c.entries, &entry{Message: m, position: source.Position(len(c.entries) + 1)})
	}
	last := source.Position(len(c.entries))
	q.mu.Unlock()
	q.Tick()
	return last
}

// channelLocked panics where there is none of that name: a mistake of the test.
func (q *Queue) channelLocked(name string) *channel {
	i := slices.IndexFunc(q.mu.channels, func(c *channel) bool { return c.name == name })
	if i < 0 {
		panic(fmt.Sprintf("memory: no channel %q", name))
	}
	return q.mu.channels[i]
}

// Finish says that nothing will be published any more: bounded readers finish when
// they have handed over everything, redeliveries that are due or delayed included.
func (q *Queue) Finish() {
	q.mu.Lock()
	q.mu.finished = true
	q.mu.Unlock()
	q.Tick()
}

// Tick wakes the readers. A test with a clock of its own calls it when time has
// passed.
func (q *Queue) Tick() {
	q.mu.Lock()
	open := slices.Clone(q.mu.readers)
	q.mu.Unlock()
	for _, r := range open {
		if r != nil {
			r.opts.Wake()
		}
	}
}

// Crash voids all leases and forgets the open readers, as when their process dies:
// what they had is due again, and they can do nothing any more.
func (q *Queue) Crash() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, r := range q.mu.readers {
		if r != nil {
			r.closed = true
			q.mu.readers[i] = nil
		}
	}
	for _, c := range q.mu.channels {
		c.release(q.cfg.Shuffle)
	}
}

// armLocked has the readers woken when the next lease or delay ends, where the
// clock is the wall clock.
func (q *Queue) armLocked() {
	if q.cfg.Now != nil {
		return
	}
	var next time.Time
	for _, c := range q.mu.channels {
		if at := c.nextDue(); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if next.IsZero() {
		return
	}
	wait := max(0, time.Until(next))
	if q.mu.timer == nil {
		q.mu.timer = time.AfterFunc(wait, q.Tick)
	} else {
		q.mu.timer.Reset(wait)
	}
}

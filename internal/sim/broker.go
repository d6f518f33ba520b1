package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

// BrokerConfig says what kind of broker a [Broker] is.
type BrokerConfig struct {
	Name string
	// Partitions are channels, spread over Readers.
	Partitions, Readers int
	// Caps are told to the engine; the broker keeps to them: Contiguous, Confirmed,
	// Reject, Terminate, Lease, Quota. Positions and Readers are filled in.
	Caps source.Capabilities
	// Strict refuses an ack or an extension after the lease has ended (class Lost);
	// else any ack of a message counts.
	Strict bool
	// Bounded: a reader is finished when every message is settled or handed over.
	Bounded bool
	// Again and LostAcks are rates in a thousand, of deliveries that come twice and
	// of settlements that the broker never gets to see; at most Faults of both.
	Again, LostAcks, Faults int
	// CaughtUp: readers say when they have handed over everything.
	CaughtUp bool
}

// Broker is a model of a message queue that checks can ask. It is a
// [source.Source] and an [Actor]. Messages survive every process.
type Broker struct {
	w      *World
	cfg    BrokerConfig
	parts  []*partition
	faults int
	// OnSettled is called when a message is acked or terminated for the first time.
	OnSettled func(channel string, m *Queued, v source.Verdict)
}

// partition is one channel.
type partition struct {
	name string
	// local is its channel number at its reader.
	local    source.Channel
	messages []*Queued
	// next is the first that was never delivered.
	next int
	// floor is how many from the start are settled, for contiguous channels.
	floor  int
	reader *brokerReader
}

// Queued is a message as the broker keeps it.
type Queued struct {
	Data     []byte
	Position source.Position
	Time     event.Time
	// Done: acked or terminated, with Verdict.
	Done    bool
	Verdict source.Verdict
	// Deliveries and Settled count what was sent and what was settled.
	Deliveries, Settled int

	owner *brokerReader
	lease time.Time
	// from is when it may be delivered again.
	from time.Time
	// before: delivered before the current reader opened and not since.
	before bool
}

// NewBroker puts a broker into the world.
func NewBroker(w *World, cfg BrokerConfig) *Broker {
	cfg.Partitions, cfg.Readers = max(1, cfg.Partitions), max(1, cfg.Readers)
	cfg.Caps.Positions, cfg.Caps.Readers = true, cfg.Readers
	b := &Broker{w: w, cfg: cfg}
	for i := range cfg.Partitions {
		b.parts = append(b.parts, &partition{name: fmt.Sprintf("%s/%d", cfg.Name, i)})
	}
	w.Add(b)
	return b
}

// Publish adds a message to a partition.
func (b *Broker) Publish(part int, data []byte, at event.Time) {
	p := b.parts[part%len(b.parts)]
	p.messages = append(p.messages, &Queued{Data: data, Position: source.Position(len(p.messages) + 1), Time: at})
}

// Unsettled counts the messages that are not done with.
func (b *Broker) Unsettled() (n int) {
	for _, p := range b.parts {
		for _, m := range p.messages[p.floor:] {
			if !m.Done {
				n++
			}
		}
	}
	return n
}

// Partitions lists every channel's messages.
func (b *Broker) Partitions() map[string][]*Queued {
	all := map[string][]*Queued{}
	for _, p := range b.parts {
		all[p.name] = p.messages
	}
	return all
}

// Capabilities implements [source.Source].
func (b *Broker) Capabilities() source.Capabilities { return b.cfg.Caps }

// Open implements [source.Source]. What an earlier reader had is given out again,
// at once or when its lease ends.
func (b *Broker) Open(_ context.Context, o source.Options) (source.Reader, error) {
	r := &brokerReader{b: b, wake: o.Wake}
	for i := o.Index; i < len(b.parts); i += o.Count {
		p := b.parts[i]
		p.local = source.Channel(len(r.parts))
		p.reopen(b, r)
		r.parts = append(r.parts, p)
	}
	return r, nil
}

// reopen hands the partition to r.
func (p *partition) reopen(b *Broker, r *brokerReader) {
	p.reader = r
	through, outstanding := source.Position(0), 0
	for _, m := range p.messages[:p.next] {
		m.before = !m.Done
		if m.Done {
			continue
		}
		through = m.Position
		outstanding++
		if m.owner != nil && b.cfg.Caps.Lease > 0 && b.w.rng.IntN(2) == 0 {
			continue // its lease runs on
		}
		m.owner = nil
	}
	if b.cfg.Caps.Contiguous { // all that is not settled comes again, in order
		p.next, through, outstanding = p.floor, 0, 0
		for _, m := range p.messages {
			m.owner, m.before = nil, false
		}
	}
	r.starts = append(r.starts, source.Start{Channel: p.local, Name: p.name, Through: through, Outstanding: outstanding})
	r.waiting = append(r.waiting, outstanding > 0)
}

// Name implements [Actor].
func (b *Broker) Name() string { return b.cfg.Name }

// Ready implements [Actor]: a delivery can be made, or a lease has ended.
func (b *Broker) Ready(now time.Time) (next time.Time) {
	for _, p := range b.parts {
		if p.reader == nil || p.reader.closed {
			continue
		}
		if p.next < len(p.messages) && b.grants(p) {
			return now
		}
		if b.cfg.Caps.Contiguous {
			continue
		}
		for _, m := range p.messages[p.floor:p.next] {
			if at := m.due(); !m.Done && !at.IsZero() {
				next = earliest(next, at)
			}
		}
	}
	return next
}

// due is when m can be delivered again; zero: not while its lease runs for ever.
func (m *Queued) due() time.Time {
	if m.owner == nil {
		if m.from.IsZero() {
			return time.Unix(0, 0)
		}
		return m.from
	}
	return m.lease
}

// grants says whether the quota allows another delivery.
func (b *Broker) grants(p *partition) bool {
	if b.cfg.Caps.Quota == 0 {
		return true
	}
	out := 0
	for _, m := range p.messages[p.floor:p.next] {
		if !m.Done && m.owner != nil {
			out++
		}
	}
	return out < b.cfg.Caps.Quota
}

// Act implements [Actor]: one delivery of one partition.
func (b *Broker) Act(now time.Time) string {
	p := b.parts[b.w.rng.IntN(len(b.parts))]
	if p.reader == nil || p.reader.closed {
		return "nobody reads"
	}
	again := p.redeliverable(b, now)
	fresh := p.next < len(p.messages) && b.grants(p)
	var m *Queued
	switch {
	case len(again) > 0 && (!fresh || b.w.rng.IntN(2) == 0):
		m = again[b.w.rng.IntN(len(again))]
	case fresh:
		m = p.messages[p.next]
		p.next++
	default:
		return "nothing to deliver"
	}
	p.deliver(b, m, now)
	return fmt.Sprintf("delivers %s %d", p.name, m.Position)
}

// redeliverable lists what may come again now, sometimes what may not.
func (p *partition) redeliverable(b *Broker, now time.Time) (list []*Queued) {
	if b.cfg.Caps.Contiguous {
		return nil
	}
	twice := !b.w.calm && b.faults < b.cfg.Faults && b.w.chance(b.cfg.Again)
	for _, m := range p.messages[p.floor:p.next] {
		if !m.Done && (twice || !m.due().IsZero() && !m.due().After(now)) {
			list = append(list, m)
		}
	}
	if twice && len(list) > 0 {
		b.faults++
	}
	return list
}

func (p *partition) deliver(b *Broker, m *Queued, now time.Time) {
	m.Deliveries++
	m.owner, m.lease = p.reader, time.Time{}
	if b.cfg.Caps.Lease > 0 {
		m.lease = now.Add(b.cfg.Caps.Lease)
	}
	p.reader.inbox = append(p.reader.inbox, source.Message{
		Data: m.Data, Time: m.Time, Channel: p.local, Position: m.Position, Attempt: m.Deliveries,
		Received: now, Handle: handle{m, m.Deliveries},
	})
	p.reader.wake()
}

package natsio

import (
	"time"

	"github.com/nats-io/nats.go"
)

// inbox is what has been received and not polled. Guarded by the reader's mu,
// but for the client, which writes the channel.
//
// Order: what is held came before what is in the channel. While armed the receiving
// goroutine waits on the channel and nobody else takes out of it.
type inbox struct {
	ch    chan *nats.Msg
	held  []held
	armed bool

	// batches tell when what is in the channel arrived, at the earliest, oldest
	// first: batch i are the next n messages. looked is when the channel was last
	// looked at; what is in no batch arrived after that.
	batches []batch
	batched int
	looked  time.Time
}

// held is a message taken out of the channel.
type held struct {
	msg *nats.Msg
	// received is when the lease began, at the latest extension.
	received time.Time
	// checked: its place in the order of deliveries has been looked at.
	checked bool
	// seq is its position, for those collected in a rewind.
	seq uint64
}

type batch struct {
	n     int
	after time.Time
}

// look notes what has arrived since the last look. A lease counted from the look
// before is never too long, and the client need not read the clock per message.
func (b *inbox) look(now time.Time) {
	if b.armed {
		return // the receiving goroutine notes the first arrival
	}
	if fresh := len(b.ch) - b.batched; fresh > 0 {
		b.batches = append(b.batches, batch{n: fresh, after: b.looked})
		b.batched += fresh
	}
	b.looked = now
}

// pop takes the oldest message; ok is false if there is none to take.
func (b *inbox) pop() (h held, ok bool) {
	if len(b.held) > 0 {
		h = b.held[0]
		b.held[0].msg = nil
		b.held = b.held[1:]
		return h, true
	}
	if b.armed {
		return held{}, false
	}
	select {
	case m := <-b.ch:
		return held{msg: m, received: b.arrival()}, true
	default:
		return held{}, false
	}
}

// arrival is the earliest time at which the message just taken can have arrived.
func (b *inbox) arrival() time.Time {
	if b.batched == 0 {
		return b.looked
	}
	after := b.batches[0].after
	b.batched--
	if b.batches[0].n--; b.batches[0].n == 0 {
		b.batches = b.batches[1:]
	}
	return after
}

// empty says whether pop would find nothing.
func (b *inbox) empty() bool { return len(b.held) == 0 && (b.armed || len(b.ch) == 0) }

// hold takes everything out of the channel, so that its leases can be kept.
func (b *inbox) hold() {
	if b.armed {
		return
	}
	kept := b.held
	b.held = nil
	for {
		h, ok := b.pop()
		if !ok {
			break
		}
		kept = append(kept, h)
	}
	b.held = kept
}

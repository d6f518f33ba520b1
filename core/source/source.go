// Package source is the contract between the engine and a connector that reads
// a queue: what a message is, how a reader is polled, how deliveries are settled.
//
// The life of a delivery: the connector's client receives it; [Reader.Poll]
// hands it over; the engine's ledger keeps it, lease and payload, until it is
// settled; after the commit of the epoch that read it, [Reader.Settle] tells the
// broker the verdict. Until then [Reader.Extend] keeps its lease.
//
// Invariants a connector keeps:
//  1. Poll never blocks. It calls Options.Wake, from any goroutine, when a later
//     Poll would return something new.
//  2. Nothing is settled but by Settle: no automatic acks, no nack at close of
//     what was handed over.
//  3. First deliveries of a channel come in position order. A redelivery may come
//     at any time and in any order.
//  4. A delivery that was handed over counts against the broker's quota until it
//     is settled; the connector asks the broker for at most Quota of them.
package source

import (
	"context"
	"log/slog"
	"time"

	"github.com/gosluice/sluice/core/event"
)

// Channel is the index of a channel (the source's unit of order: a partition, a
// stream consumer, an ordering key) among those its reader started. The first is 0.
type Channel uint16

// Position orders the messages of one channel: a stream sequence, an offset plus
// one. It is at least 1 and below 1<<48; zero where the broker has no positions.
type Position uint64

// Attributes are the message's headers as the broker gave them. Read only.
type Attributes map[string][]string

// Get returns the first value of key, "" if there is none.
func (a Attributes) Get(key string) string {
	if v := a[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Message is one delivery of one message.
type Message struct {
	// Data is the payload. Nobody changes it after Poll.
	Data []byte
	// Attributes may be nil.
	Attributes Attributes
	// Subject is where it was published: NATS subject, Kafka topic, "" elsewhere.
	Subject string
	// Key is the broker's key (Kafka key, ordering key), nil if there is none.
	Key []byte
	// ID is the broker's own identity of the message, "" where position serves.
	ID string
	// Time is when the broker stored it.
	Time event.Time
	// Channel and Position tell where it stands.
	Channel  Channel
	Position Position
	// Attempt counts deliveries of this message as the broker does, from 1.
	Attempt int
	// Received is the wall clock at receipt: the lease runs from here.
	Received time.Time
	// Handle is the connector's own (what it needs to settle). Not for users.
	Handle any
}

// Capabilities are plain data that the engine checks before anything starts.
type Capabilities struct {
	// Contiguous: settling a position settles all before it (offsets, AckAll).
	// There is no individual verdict then.
	Contiguous bool
	// Reject: Nack with delay works for one message.
	Reject bool
	// Terminate: a message can be given up for good.
	Terminate bool
	// Positions: messages carry positions that order a channel.
	Positions bool
	// Confirmed: Settle returns only what the broker confirmed.
	Confirmed bool
	// Lease is how long a delivery is ours without Extend; zero: for ever.
	Lease time.Duration
	// Quota is how many unsettled deliveries the broker grants; zero: no limit.
	Quota int
	// Readers is how many readers the source can be split into; at least 1.
	Readers int
}

// Options is what the engine gives to a reader it opens.
type Options struct {
	// Index of this reader among Count.
	Index, Count int
	// Wake asks for a Poll. Never nil, never blocks.
	Wake func()
	// Claim is the id of the state directory; "" for a pipeline without one. A
	// source that can record it refuses another id (both named in the error).
	Claim string
	// Marks are what earlier runs committed, by channel name. A reader that keeps
	// its own positions (Kafka with state) starts there.
	Marks map[string]Position
	// Logger is never nil.
	Logger *slog.Logger
}

// Source opens readers. Safe for concurrent use.
type Source interface {
	// Capabilities are constant.
	Capabilities() Capabilities
	// Open connects reader o.Index. It may block until ctx ends; a transient error
	// is retried by the engine with backoff, a permanent one ends the run.
	Open(ctx context.Context, o Options) (Reader, error)
}

// Reader reads channels. Poll is called by one goroutine at a time; Settle,
// Extend and Close may run on others at the same time as Poll.
type Reader interface {
	// Poll moves what has been received into dst, without blocking. An error of
	// class Transient is logged and Poll called again later (the reader recovers by
	// itself); any other ends the run.
	Poll(dst []Message) (Polled, error)
	// Settle tells the broker the verdicts and waits for its confirmation where
	// Capabilities.Confirmed. The failures it returns are keyed by Ref: of class
	// Lost (never retried) or another (retried). All others are done. It is
	// idempotent: a delivery may be settled again.
	Settle(ctx context.Context, s []Settlement) []Failure
	// Extend asks for a full lease for each delivery, from now. The failures are
	// those whose lease was lost or could not be extended.
	Extend(ctx context.Context, s []Settlement) []Failure
	// Close gives back what was received and not yet polled and frees the client's
	// subscription. Settle may still be called by then and must work until Close
	// returns. Idempotent.
	Close(ctx context.Context) error
}

// Polled says what one Poll found.
type Polled struct {
	// N messages are in dst.
	N int
	// Started channels precede their messages. A channel starts once.
	Started []Start
	// Resolved channels have nothing outstanding any more (see Start.Outstanding).
	Resolved []Channel
	// Watermark, where HasWatermark, is the reader's own over all its channels, in
	// place of the policy that is applied to event times: for a source that knows. It
	// is announced with every Poll, does not go back, and covers what is in dst.
	Watermark    event.Time
	HasWatermark bool
	// CaughtUp: at CaughtUpAt, broker time, every message the broker had was handed
	// over. It is evidence of idleness, never a guess from silence.
	CaughtUp   bool
	CaughtUpAt event.Time
	// Finished: a bounded reader has handed over its last message.
	Finished bool
}

// Start announces a channel.
type Start struct {
	Channel Channel
	// Name is stable over runs: "ORDERS/worker", "orders/3".
	Name string
	// Through and Outstanding: that many messages at positions up to Through were
	// delivered before this reader opened, are not settled, and will be delivered
	// again in any order. Until they have been, the watermark stays.
	Through     Position
	Outstanding int
}

// Verdict is what to tell the broker of a delivery.
type Verdict uint8

// The verdicts.
const (
	// Ack: done.
	Ack Verdict = iota
	// Nack: deliver again, not before Delay.
	Nack
	// Terminate: never deliver again.
	Terminate
)

// Settlement is one verdict on one delivery.
type Settlement struct {
	// Ref identifies the delivery towards the engine.
	Ref      uint64
	Channel  Channel
	Position Position
	Verdict  Verdict
	Delay    time.Duration
	Reason   string
	// Handle is Message.Handle of the newest delivery.
	Handle any
}

// Failure is a settlement or extension that did not happen. Its class is that
// of Err (package fault).
type Failure struct {
	Ref uint64
	Err error
}

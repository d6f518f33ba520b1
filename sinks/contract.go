package sinks

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// RecordID names one record of a batch. Where the element stands for a delivery
// it is the delivery's identity and the output's ordinal, the same after every
// crash and replay: an idempotency key. Otherwise it only addresses the record
// within its batch.
type RecordID struct {
	// Source names the source transform and the channel, "" where the record stands
	// for no delivery.
	Source string
	// Ref is the delivery: its position is the same in every run, its channel number
	// only in this one. Ordinal counts the outputs made of it from 0. Without a
	// delivery Ordinal counts the records of the batch.
	Ref     element.Ref
	Ordinal uint32
}

// Stable says whether the ID is the same after a replay.
func (id RecordID) Stable() bool { return id.Ref != 0 }

// String prints a stable ID as source/channel/position/ordinal: the same in every
// run, an idempotency key.
func (id RecordID) String() string {
	if !id.Stable() {
		return "#" + strconv.FormatUint(uint64(id.Ordinal), 10)
	}
	const positionBits = 48
	return fmt.Sprintf("%s/%d/%d", id.Source, id.Ref&(1<<positionBits-1), id.Ordinal)
}

// Record is one element of a batch.
type Record[T any] struct {
	ID    RecordID
	Value T
	Time  event.Time
}

// Batch is what a writer is given at once: records of one destination and window.
type Batch[T any] struct {
	Destination string
	Window      window.Window
	// Len is the number of records.
	Len int
	// All yields the records in the order they arrived. An error (the store could
	// not be read) ends the iteration; the writer returns it as it is. All may be
	// called again and yields the same records.
	All iter.Seq2[Record[T], error]
}

// FailedRecord is a record that can never be written, and why.
type FailedRecord struct {
	ID  RecordID
	Err error
}

// Outcome says what became of a batch: its results, and the records that failed
// for good. A record that is not among Failed was written.
type Outcome[R any] struct {
	Results []R
	Failed  []FailedRecord
}

// Writer writes inside the bundle, before the commit: at least once. After an
// error the whole batch is written again, with the same stable record IDs;
// class Permanent fails every record of it. Used by one goroutine at a time per
// worker; several workers share it.
type Writer[T, R any] interface {
	Write(ctx context.Context, b Batch[T]) (Outcome[R], error)
}

// Token is what Stage leaves for Publish, kept in the store: a path, a job, or
// the payload itself.
type Token []byte

// EffectID names one batch for ever: it contains the store's identity and the
// durable epoch that closed the batch, so no two batches share it and the same
// batch has it after every crash.
type EffectID struct {
	Store     string
	Transform string
	Epoch     uint64
	Batch     uint32
}

// String prints transform/store/epoch/batch.
func (id EffectID) String() string {
	return fmt.Sprintf("%s/%s/%d/%d", id.Transform, id.Store, id.Epoch, id.Batch)
}

// Staged is what Stage prepared.
type Staged struct {
	Token Token
	// Failed records are not in what was staged.
	Failed []FailedRecord
}

// Stager writes after the commit: exactly once where the target allows it.
//
// Stage prepares a batch where nobody looks (a temporary object) and makes it
// durable. Its token is committed as a pending effect. Publish makes it visible
// under id; it is repeated until it returns nil, in later runs too, and
// concurrent repeats of one id must leave one result. "Already exists" is
// success only where the object carries the same effect ID and checksum (a file
// carries the ID in its name); anything else is an error.
type Stager[T, R any] interface {
	Stage(ctx context.Context, b Batch[T]) (Staged, error)
	Publish(ctx context.Context, id EffectID, token Token) (Outcome[R], error)
	// Discard removes what was staged for a token that will never be published.
	// A token unknown by now is success.
	Discard(ctx context.Context, token Token) error
	// Recover is called once per run before anything is staged, with the tokens
	// still to be published: everything else that an earlier run staged is left
	// over and may be removed.
	Recover(ctx context.Context, pending []Token) error
}

// OutMessage is one message to publish.
type OutMessage struct {
	// ID lets the target or the receiver recognise a repeat. The framework sets it.
	ID   string
	Data []byte
	// Attributes may be nil. The framework adds AttributeID.
	Attributes map[string]string
	// Key orders: messages of one key arrive in order, where the target can.
	Key string
	// Subject overrides the publisher's default where the target has subjects.
	Subject string
}

// AttributeID is the attribute that carries OutMessage.ID to receivers.
const AttributeID = "sluice-id"

// Published is the result of one message.
type Published struct {
	// ID is OutMessage.ID, MessageID what the broker called it.
	ID, MessageID string
	// Duplicate: the broker had it already.
	Duplicate bool
}

// PublishFailure is a message that was not confirmed, by ID. Class Permanent: it
// can never be (too large, refused); else the framework retries it.
type PublishFailure struct {
	ID  string
	Err error
}

// Publisher sends messages to a broker and waits for its confirmation.
// Connectors implement it; safe for concurrent use.
type Publisher interface {
	// Publish sends msgs in order and returns when each is confirmed or failed.
	// Nothing of a call is sent after it returned.
	Publish(ctx context.Context, msgs []OutMessage) ([]Published, []PublishFailure)
	// Deduplicates: the broker drops a repeated ID (for as long as it remembers).
	Deduplicates() bool
}

package acks

import (
	"errors"
	"sync"
	"time"
)

// Errors of a ledger.
var (
	// ErrStarted says that a channel was started before.
	ErrStarted = errors.New("acks: channel is started already")
	// ErrClosed says that a channel was given up, or never started.
	ErrClosed = errors.New("acks: channel is closed")
	// ErrNotTaken says that a delivery is in no bundle: it was never taken, or its
	// epoch is committed.
	ErrNotTaken = errors.New("acks: delivery is in no bundle")
	// ErrContiguous says that a contiguous channel has no verdict on one delivery.
	ErrContiguous = errors.New("acks: a contiguous channel has no verdict on one delivery")
)

// Mode is how a broker is told.
type Mode uint8

// The modes.
const (
	// Individual: each delivery is settled on its own.
	Individual Mode = iota
	// Contiguous: settling a position settles all before it (offsets, AckAll).
	Contiguous
)

// Ledger holds every unsettled delivery of one source, payload and lease, from
// receipt until the broker has confirmed its verdict. P is the caller's: what it
// needs to process a delivery again and to settle it.
//
// A delivery is received, taken into the bundle of an epoch, committed with that
// epoch, due, settling, and forgotten. See the package comment for its invariants.
//
// All methods are safe for concurrent use and never block but for one another.
type Ledger[P any] struct {
	mu struct {
		sync.Mutex
		book book[P]
	}
}

// NewLedger makes a ledger without channels.
func NewLedger[P any](mode Mode) *Ledger[P] {
	l := &Ledger[P]{}
	l.mu.book = newBook[P](mode)
	return l
}

// Start is how a channel begins.
type Start struct {
	// Outstanding is how many messages at positions up to Through were delivered
	// before and will be delivered again, in any order. Until as many have come (or
	// Resolve), a position up to Through that has not come may still come.
	Through     Position
	Outstanding int
	// Mark is what earlier runs committed; zero for nothing. It is copied.
	Mark Mark
}

// StartChannel begins ch. It refuses a channel that was started before, closed or
// not: another assignment gets another number, so that what is late for the old
// one cannot reach it.
func (l *Ledger[P]) StartChannel(ch Channel, s Start) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.start(ch, s)
}

// CloseChannel gives ch up, because it belongs to someone else by now. It returns
// the payloads of its unsettled deliveries in position order. From here on nothing
// of the channel is due or replayed, and what comes late for it does nothing.
func (l *Ledger[P]) CloseChannel(ch Channel) []P {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.close(ch)
}

// Arrival is what a delivery turns out to be.
type Arrival uint8

// The arrivals. All but New are dropped by the caller.
const (
	// New: to be processed.
	New Arrival = iota
	// InFlight: a copy of a delivery that is held and not committed. The ledger goes
	// on with the copy's payload and lease.
	InFlight
	// Committed: what it would cause is durable. The ledger settles it again.
	Committed
	// Refused: the channel is not started, or closed, or the position impossible.
	Refused
)

// Receive enters a delivery. bytes is what it takes in memory, now is when it was
// received: its lease runs from there.
//
// Position zero is for brokers that have none: the ledger numbers the delivery, and
// it is always New. Such a channel must have no other positions.
func (l *Ledger[P]) Receive(ch Channel, pos Position, payload P, bytes int, now time.Time) (Ref, Arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.receive(&incoming{ch: ch, pos: pos, bytes: bytes, now: now}, &payload)
}

// TakeNew is Receive, and Take if the delivery is New.
func (l *Ledger[P]) TakeNew(ch Channel, pos Position, payload P, bytes int, now time.Time, epoch uint64) (Ref, Arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.receive(&incoming{ch: ch, pos: pos, bytes: bytes, now: now, taken: true, epoch: epoch}, &payload)
}

// Take puts a received, replayed or blocked delivery into the bundle of epoch, with
// the verdict Ack. It returns false if the delivery is not held any more or is
// committed: the caller drops it.
func (l *Ledger[P]) Take(ref Ref, epoch uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.take(ref, epoch)
}

// Verdict says what shall become of a delivery that is in a bundle; the last word
// before the commit counts. An abort undoes it. Errors: ErrNotTaken, ErrClosed,
// ErrContiguous for Reject and Terminate on a contiguous ledger.
func (l *Ledger[P]) Verdict(ref Ref, v Verdict) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.judge(ref, v)
}

// Commit says that all epochs up to epoch are durable: what they read is due.
func (l *Ledger[P]) Commit(epoch uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.book.commit(epoch)
}

// Abort says that nothing that is not committed counts: all of it that was
// received waits to be replayed, verdicts undone. The broker is not asked.
func (l *Ledger[P]) Abort() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.book.abort()
}

// Stats are a ledger's counts.
type Stats struct {
	// Unsettled deliveries are held now; Bytes is their size as the caller gave it.
	Unsettled int
	Bytes     int64
	// Each unsettled delivery is one of these. Unread: with the caller, in no
	// bundle. Replaying: waits to be replayed. Reading: in a bundle. Blocked.
	// Durable: committed, and another position speaks for it or will. Due, Settling.
	Unread, Replaying, Reading, Blocked, Durable, Due, Settling int
	// Totals. Received counts copies as well, Duplicates only copies. Settled is what
	// the broker confirmed, Lost what it will not confirm any more.
	Received, Settled, Duplicates, Lost, Refused uint64
	// Oldest is when the delivery that was received first came; zero for none.
	Oldest time.Time
}

// Stats counts.
func (l *Ledger[P]) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &l.mu.book
	s := Stats{
		Unsettled: b.unsettled(), Bytes: b.bytes,
		Unread: b.count[fresh], Replaying: b.count[waiting], Reading: b.count[read], Blocked: b.count[blocked],
		Durable: b.count[committed], Due: b.count[due], Settling: b.count[settling],
		Received: b.total.received, Settled: b.total.settled, Duplicates: b.total.duplicates,
		Lost: b.total.lost, Refused: b.total.refused,
	}
	if d := b.receipts.first; d != nil {
		s.Oldest = b.base.Add(time.Duration(d.lease.received))
	}
	return s
}

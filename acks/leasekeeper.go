package acks

import "time"

// Lease is how long deliveries are ours. One setting, for all.
type Lease struct {
	// Duration is how long the broker grants at receipt; zero: for ever, nothing is
	// ever extended.
	Duration time.Duration
	// MaxExtension is the longest that one extension asks for; zero: Duration. It
	// bounds how long a message is stuck after a crash.
	MaxExtension time.Duration
}

// Extension is how long one extension asks for.
func (l Lease) Extension() time.Duration {
	if l.MaxExtension > 0 && l.MaxExtension < l.Duration {
		return l.MaxExtension
	}
	return l.Duration
}

// Extension is a lease that the broker is to be asked to extend.
type Extension[P any] struct {
	Ref Ref
	// For is how long the lease shall run from now.
	For     time.Duration
	Payload P
}

// LeaseStats count.
type LeaseStats struct {
	// Extended counts extensions asked for, Failed those reported to fail, Late
	// those asked for when the lease had run out already.
	Extended, Failed, Late uint64
	// Lost counts deliveries whose lease was lost before they were settled.
	Lost uint64
}

// LeaseKeeper finds the leases of a ledger's deliveries that need an extension:
// from receipt, the time in queues included, until the broker has confirmed the
// verdict. A ledger has one keeper at most.
//
// A lease is extended when what is left is between two thirds and one third of an
// extension: once one delivery needs it, all those go along that will soon, how
// soon differing from call to call, so that the calls are few and those of many
// processes do not keep step. In the ledger's order of receipt that is a scan of what is due and
// one look at what is not.
//
// All methods are safe for concurrent use and lock the ledger.
type LeaseKeeper[P any] struct {
	ledger *Ledger[P]
	jitter func() float64
	// q is guarded by the ledger's lock.
	q extensions[P]
}

// NewLeaseKeeper makes the keeper of l's leases. jitter returns numbers in [0, 1)
// and is safe for use by whoever calls Due; nil means always one half.
func NewLeaseKeeper[P any](l *Ledger[P], lease Lease, jitter func() float64) *LeaseKeeper[P] {
	if jitter == nil {
		jitter = func() float64 { return 0.5 }
	}
	q := extensions[P]{first: lease.Duration, further: lease.Extension(), book: &l.mu.book}
	return &LeaseKeeper[P]{ledger: l, jitter: jitter, q: q}
}

// Due appends to dst the leases to extend now, at most limit (all, for a limit of 0
// or less), and takes it that they are extended. The caller reports those that are
// not with Lost or Failed.
func (k *LeaseKeeper[P]) Due(dst []Extension[P], limit int, now time.Time) []Extension[P] {
	jitter := k.jitter()
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	return k.q.due(dst, limit, now, jitter)
}

// Next is when to call Due again, zero for not before something is received.
// Receipt, Failed and a limit that Due reached bring it forward.
func (k *LeaseKeeper[P]) Next() time.Time {
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	return k.q.next()
}

// Lost says that the lease of ref belongs to someone else. It is not extended any
// more and is counted. The delivery stays: its work may still commit, its
// settlement is still tried, and another delivery of it brings a new lease.
func (k *LeaseKeeper[P]) Lost(ref Ref) {
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	k.q.lost(ref)
}

// Failed says that the lease of ref was not extended and may still be. It is asked
// for again when a quarter of what is left has passed, and lost at its end.
func (k *LeaseKeeper[P]) Failed(ref Ref) {
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	k.q.failed(ref)
}

// Stats counts.
func (k *LeaseKeeper[P]) Stats() LeaseStats {
	k.ledger.mu.Lock()
	defer k.ledger.mu.Unlock()
	return k.q.stats
}

package acks

// Settlement is a verdict that the broker is to be told.
type Settlement[P any] struct {
	Ref     Ref
	Verdict Verdict
	// Payload is that of the newest delivery of the message.
	Payload P

	turn uint64
}

// Failure is a settlement that did not happen.
type Failure struct {
	Ref Ref
	// Lost: it never will, the lease or channel belongs to someone else.
	Lost bool
}

// Due appends to dst up to limit deliveries that the broker is to be told of (all,
// for a limit of 0 or less) and moves them to settling: first committed, first
// served, copies of committed ones included. On a contiguous ledger it is at most
// one per channel, the newest that speaks for all before it, and none while the
// outcome of another is open.
//
// The caller owes Settled or SettleFailed for each.
func (l *Ledger[P]) Due(dst []Settlement[P], limit int) []Settlement[P] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.takeDue(dst, limit)
}

// Settled takes the outcome of a batch that Due gave: the broker confirmed all of
// it but failed. What is confirmed is forgotten. See SettleFailed for the others.
func (l *Ledger[P]) Settled(batch []Settlement[P], failed ...Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range failed {
		l.mu.book.failed(f.Ref, f.Lost)
	}
	for i := range batch {
		l.mu.book.settled(&batch[i])
	}
}

// SettleFailed says that the broker did not confirm ref. It is due again at once
// (the caller backs off), or, if lost, dropped and counted; its position stays
// known, so that another delivery of it is Committed, or New if it was rejected.
func (l *Ledger[P]) SettleFailed(ref Ref, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.book.failed(ref, lost)
}

// Entry is one unsettled delivery.
type Entry[P any] struct {
	Ref     Ref
	Payload P
}

// Replay fills dst with what an abort left to be fed again, channel by channel, in
// position order, and returns how many it found. The caller Takes each into its
// new epoch; an abort before that returns it to the queue.
func (l *Ledger[P]) Replay(dst []Entry[P]) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.replayAll(dst)
}

// ReplayChannel is Replay for one channel, where readers share a ledger.
func (l *Ledger[P]) ReplayChannel(ch Channel, dst []Entry[P]) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.replay(l.mu.book.channel(ch), dst)
}

// Unblock has a blocked delivery replayed. To commit it without processing, since
// what stands for it has become durable, Take it instead.
func (l *Ledger[P]) Unblock(ref Ref) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.book.unblock(ref)
}

// Unsettled appends everything that is held, in the order of receipt.
func (l *Ledger[P]) Unsettled(dst []Entry[P]) []Entry[P] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return appendEntries(dst, &l.mu.book, func(*delivery[P]) bool { return true })
}

// Blocked appends the blocked deliveries, in the order of receipt.
func (l *Ledger[P]) Blocked(dst []Entry[P]) []Entry[P] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.book.count[blocked] == 0 {
		return dst
	}
	return appendEntries(dst, &l.mu.book, func(d *delivery[P]) bool { return d.state == blocked })
}

func appendEntries[P any](dst []Entry[P], b *book[P], which func(*delivery[P]) bool) []Entry[P] {
	for d := b.receipts.first; d != nil; d = d.links[byReceipt].after {
		if which(d) {
			dst = append(dst, Entry[P]{Ref: d.ref, Payload: d.payload})
		}
	}
	return dst
}

package acks

import "time"

// extensions is a lease keeper's queue. Leases that were never extended are found
// in the ledger's order of receipt; those that were, in queue, in the order of
// their ends, since each extension asks for the same time. Neither is exact where
// the caller's clock readings are out of order: the third of the lease that is
// left when it is asked for allows for that.
type extensions[P any] struct {
	book           *book[P]
	first, further time.Duration
	// queue[head:] are extended leases, again those whose extension failed.
	queue []queuedLease[P]
	head  int
	again []queuedLease[P]
	stats LeaseStats
}

// queuedLease is out of date unless turn is the delivery's.
type queuedLease[P any] struct {
	d    *delivery[P]
	turn uint32
	at   int64 // end of the lease; in again, when to ask
}

func (l queuedLease[P]) current() bool { return l.d.lease.turn == l.turn }

// early is how long before its end a lease is extended at the latest: a third of
// what an extension brings.
func (q *extensions[P]) early() int64 { return int64(q.further / 3) }

// window is how much earlier it may go along with another: a sixth to a third.
func (q *extensions[P]) window(jitter float64) int64 {
	return int64(float64(q.further) * (1 + jitter) / 6)
}

func (q *extensions[P]) due(dst []Extension[P], limit int, now time.Time, jitter float64) []Extension[P] {
	if limit <= 0 {
		limit = q.book.unsettled()
	}
	at := int64(now.Sub(q.book.base))
	if next := q.earliest(); next == never || next > at {
		return dst
	}
	limit += len(dst)
	ends := at + q.early() + q.window(jitter)
	dst = q.failedDue(dst, limit, at)
	dst = q.extendedDue(dst, limit, at, ends)
	return q.receivedDue(dst, limit, at, ends)
}

func (q *extensions[P]) failedDue(dst []Extension[P], limit int, at int64) []Extension[P] {
	kept := q.again[:0]
	for _, l := range q.again {
		switch {
		case !l.current():
		case l.at > at || len(dst) == limit:
			kept = append(kept, l)
		default:
			dst = q.ask(dst, l.d, at)
		}
	}
	clear(q.again[len(kept):])
	q.again = kept
	return dst
}

func (q *extensions[P]) extendedDue(dst []Extension[P], limit int, at, ends int64) []Extension[P] {
	for q.skipOld(); q.head < len(q.queue) && len(dst) < limit; q.skipOld() {
		l := q.queue[q.head]
		if l.at > ends {
			break
		}
		q.head++
		dst = q.ask(dst, l.d, at)
	}
	return dst
}

// skipOld moves head to a lease that is current.
func (q *extensions[P]) skipOld() {
	for q.head < len(q.queue) && !q.queue[q.head].current() {
		q.head++
	}
	if q.head > 64 && q.head > len(q.queue)/2 {
		n := copy(q.queue, q.queue[q.head:])
		clear(q.queue[n:])
		q.queue, q.head = q.queue[:n], 0
	}
}

func (q *extensions[P]) receivedDue(dst []Extension[P], limit int, at, ends int64) []Extension[P] {
	for d := q.firstReceived(); d != nil && len(dst) < limit; d = q.firstReceived() {
		if d.lease.received+int64(q.first) > ends {
			break
		}
		q.book.unasked = d.links[byReceipt].after
		d.lease.end = d.lease.received + int64(q.first)
		dst = q.ask(dst, d, at)
	}
	return dst
}

// firstReceived is the first delivery whose lease was never extended.
func (q *extensions[P]) firstReceived() *delivery[P] {
	for d := q.book.unasked; d != nil && d.lease.lost; d = q.book.unasked {
		q.book.unasked = d.links[byReceipt].after
	}
	return q.book.unasked
}

// ask appends the extension of d and takes it as granted.
func (q *extensions[P]) ask(dst []Extension[P], d *delivery[P], at int64) []Extension[P] {
	e := &d.lease
	if at > e.end {
		q.stats.Late++
	}
	e.sure, e.end, e.asked = e.end, at+int64(q.further), at
	q.queue = append(q.queue, queuedLease[P]{d, e.turn, e.end})
	q.stats.Extended++
	return append(dst, Extension[P]{Ref: d.ref, For: q.further, Payload: d.payload})
}

const never = int64(-1) << 63

// earliest is when the first lease needs an extension, or never.
func (q *extensions[P]) earliest() int64 {
	next := never
	sooner := func(at int64) {
		if next == never || at < next {
			next = at
		}
	}
	for _, l := range q.again {
		if l.current() {
			sooner(l.at)
		}
	}
	if q.skipOld(); q.head < len(q.queue) {
		sooner(q.queue[q.head].at - q.early())
	}
	if d := q.firstReceived(); d != nil && q.first > 0 {
		sooner(d.lease.received + int64(q.first) - q.early())
	}
	return next
}

func (q *extensions[P]) next() time.Time {
	if at := q.earliest(); at != never {
		return q.book.base.Add(time.Duration(at))
	}
	return time.Time{}
}

func (q *extensions[P]) lost(ref Ref) {
	_, d := q.book.find(ref)
	if d == nil || d.lease.lost {
		return
	}
	d.lease.lost = true
	d.lease.turn++
	q.stats.Lost++
}

func (q *extensions[P]) failed(ref Ref) {
	_, d := q.book.find(ref)
	if d == nil || d.lease.lost || d.lease.asked == 0 {
		return
	}
	q.stats.Failed++
	e := &d.lease
	e.end = e.sure
	left := e.end - e.asked
	if left <= 0 {
		q.lost(ref)
		return
	}
	e.turn++
	at := e.asked + max(left/4, int64(q.further/50))
	q.again = append(q.again, queuedLease[P]{d, e.turn, at})
}

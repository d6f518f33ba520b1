package natsio

import (
	"cmp"
	"slices"
)

// order follows the numbers that the broker gives to the deliveries of a consumer.
// Guarded by the reader's mu.
//
// A number that is skipped was sent and never arrived: the connection broke. What
// makes it hard: nobody knows which message it was; it comes again by itself, but
// only after its AckWait; by then the watermark has passed it, and where an
// acknowledgement covers all before it (AckAll), it has been acknowledged.
//
// So an exclusive reader hands nothing on from behind a hole. It rewinds: see
// rewind.go. Where others read the consumer too, their numbers are missing here and
// tell nothing.
type order struct {
	exclusive bool
	// next is the number of the next delivery.
	next uint64
	// first is the highest position handed over.
	first uint64
	// hole is why the reader has to rewind; empty: it need not.
	hole string
	// behind is the number of the last delivery sent, when an idle reader had not
	// got that far.
	behind uint64
	// back, while collecting, is what has come again so far: not in order.
	collecting bool
	back       []held
}

// place is what a delivery is in the order.
type place uint8

const (
	// inOrder: to be handed over.
	inOrder place = iota
	// stale: from before the last rewind, it comes again.
	stale
	// beyondHole: it comes again after the rewind.
	beyondHole
)

func (o *order) place(d *delivery) place {
	if o.exclusive {
		switch {
		case d.number < o.next:
			return stale
		case d.number > o.next:
			o.broken("a delivery is missing")
			return beyondHole
		}
		o.next++
	}
	return inOrder
}

// broken has an exclusive reader rewind. The first reason counts.
func (o *order) broken(why string) {
	if o.exclusive && o.hole == "" {
		o.hole = why
	}
}

// resumed: everything up to that number has arrived or was asked back. What was is
// to be collected first.
func (o *order) resumed(number uint64, collect bool) {
	o.hole, o.next, o.behind = "", number+1, 0
	o.collecting, o.back = collect, nil
}

// collected returns what has come again, in order of position.
func (o *order) collected() []held {
	back := o.back
	o.collecting, o.back = false, nil
	slices.SortStableFunc(back, func(a, b held) int { return cmp.Compare(a.seq, b.seq) })
	return back
}

// whole says that nothing that was sent before is still to come.
func (o *order) whole() bool { return o.hole == "" && !o.collecting }

// tail compares with the number of the last delivery the broker sent, while nothing
// arrives. Missing once it may be on its way, twice it was lost.
func (o *order) tail(sent uint64) (suspect bool) {
	if !o.exclusive || o.hole != "" || sent < o.next {
		o.behind = 0
		return false
	}
	if o.behind == sent {
		o.broken("the last delivery is missing")
	}
	o.behind = sent
	return true
}

package natsio

// order finds holes in the sequence of deliveries and keeps what lies behind one
// back until it is filled (invariant 3). Guarded by the reader's mu.
//
// The simple version: the broker numbers the deliveries of a consumer; a number
// that is skipped was sent and lost when the connection broke. What makes it hard:
// the messages that were lost are unknown, only how many; they come again by
// themselves only after their AckWait; and some of the lost deliveries may have
// been redeliveries of what this reader has long handed over.
//
// So the watch goroutine asks back everything above the last first delivery handed
// over that is not here (the broker ignores what is not pending), a round per
// InfoEvery. Each message that comes back is handed over. The hole is closed when
// as many have come as were lost, or when two rounds brought none: the rest were
// redeliveries.
type order struct {
	// exclusive: all deliveries of the consumer are ours, so a skipped number is a
	// hole.
	exclusive bool
	// next is the number of the next delivery.
	next uint64
	// first is the highest position handed over.
	first uint64
	gap   *gap
	// behind is the number of the last delivery sent, as of a look at an idle
	// consumer that did not agree with next.
	behind uint64
}

// gap is a hole.
type gap struct {
	// after is the highest position handed over when it was found.
	after uint64
	// lost deliveries; got are the messages that came back.
	lost int
	got  map[uint64]struct{}
	// withheld are first deliveries from behind the hole, in order.
	withheld []held
	places   map[uint64]int // in withheld
	// rounds of asking back; quiet of them in a row brought nothing. base is len(got)
	// at the end of the last.
	rounds, quiet, base int
	// counted of lost are in the statistics.
	counted int
}

// admit says whether a delivery is to be handed over now.
func (o *order) admit(h *held, d *delivery) bool {
	if o.exclusive {
		if d.number > o.next {
			o.widen(int(d.number - o.next))
		}
		o.next = max(o.next, d.number+1)
	}
	if o.gap == nil {
		o.first = max(o.first, d.seq)
		return true
	}
	return o.gap.admit(h, d)
}

// widen opens a hole of n deliveries, or makes the open one larger.
func (o *order) widen(n int) {
	if o.gap == nil {
		o.gap = &gap{after: o.first, got: map[uint64]struct{}{}, places: map[uint64]int{}}
	}
	o.gap.lost += n
	o.gap.quiet = 0
}

func (g *gap) admit(h *held, d *delivery) bool {
	if i, ok := g.places[d.seq]; ok {
		g.withheld[i] = *h // the newer lease
		return false
	}
	if d.attempt == 1 && d.seq > g.after {
		g.places[d.seq] = len(g.withheld)
		g.withheld = append(g.withheld, *h)
		return false
	}
	if d.seq > g.after {
		g.got[d.seq] = struct{}{}
	}
	return true
}

// filled says whether nothing is missing any more.
func (g *gap) filled() bool {
	const quietRounds = 2
	return len(g.got) >= g.lost || g.quiet >= quietRounds
}

// round notes that everything missing was asked back once more.
func (g *gap) round() {
	g.rounds++
	if len(g.got) == g.base {
		g.quiet++
	} else {
		g.quiet = 0
	}
	g.base = len(g.got)
}

// close ends a hole and returns what was withheld behind it.
func (o *order) close() []held {
	g := o.gap
	o.gap = nil
	for seq := range g.got {
		o.first = max(o.first, seq)
	}
	for seq := range g.places {
		o.first = max(o.first, seq)
	}
	return g.withheld
}

// tail compares with the number of the last delivery the broker sent while nothing
// arrives. Seen twice, what is missing at the end was lost.
func (o *order) tail(sent uint64) (suspect bool) {
	if !o.exclusive || sent < o.next {
		o.behind = 0
		return false
	}
	if o.behind != sent {
		o.behind = sent
		return true
	}
	o.behind = 0
	o.widen(int(sent + 1 - o.next))
	o.next = sent + 1
	return true
}

// followGapLocked closes the hole when it is filled, and has one that was found or
// became larger looked at.
func (r *reader) followGapLocked() {
	g := r.mu.order.gap
	if g == nil {
		return
	}
	if fresh := g.lost - g.counted; fresh > 0 {
		g.counted = g.lost
		r.src.stats.lostInFlight.Add(uint64(fresh))
		signal(r.ask)
	}
	if g.filled() {
		r.src.stats.recovered.Add(uint64(len(g.got)))
		r.mu.inbox.held = append(r.mu.order.close(), r.mu.inbox.held...)
	}
}

package acks

// state is where a delivery stands.
type state uint8

const (
	fresh     state = iota // with the caller, in no epoch
	waiting                // in the replay queue
	read                   // in the bundle of an epoch that is not committed
	blocked                // its epoch committed with the verdict Block
	committed              // durable; a later position of a contiguous channel speaks for it
	due                    // durable; the broker is to be told
	settling               // the broker is being told
	states
)

// durable says whether the epoch that read the delivery is committed and its
// verdict final.
func (s state) durable() bool { return s >= committed }

// unread says whether the delivery holds the prefix of its channel.
func (s state) unread() bool { return s == fresh || s == waiting || s == blocked }

// delivery is one unsettled delivery.
type delivery[P any] struct {
	ref   Ref
	epoch uint64
	state state
	// turn tells the settlement that is under way from older ones.
	turn    uint64
	bytes   int
	verdict Verdict
	lease   lease
	links   [2]link[P]
	payload P
}

// lease is when a delivery came and how long it is ours, in nanoseconds since the
// ledger's base.
type lease struct {
	received int64
	// end is when it runs out if asked is as we hope, sure when it does at the least.
	end, sure int64
	// asked is when it was last extended.
	asked int64
	// turn changes whenever what the keeper has queued for it is out of date. It goes
	// on when the delivery is reused.
	turn uint32
	lost bool
}

func (d *delivery[P]) pos() Position { return d.ref.Position() }

// joins says whether d is committed, with nothing left to do but to tell the
// broker, once all epochs up to epoch are.
func (d *delivery[P]) joins(epoch uint64) bool {
	return d.state == read && d.epoch <= epoch && (d.verdict.Action == Acked || d.verdict.Action == Terminated)
}

// link ties a delivery into one chain.
type link[P any] struct{ before, after *delivery[P] }

// Which of a delivery's links a chain uses.
const (
	byReceipt = iota
	byDue
)

// chain is a queue of deliveries from which any can be taken out.
type chain[P any] struct {
	by          uint8
	first, last *delivery[P]
}

func (l *chain[P]) push(d *delivery[P]) {
	d.links[l.by] = link[P]{before: l.last}
	if l.last == nil {
		l.first = d
	} else {
		l.last.links[l.by].after = d
	}
	l.last = d
}

func (l *chain[P]) remove(d *delivery[P]) {
	k := d.links[l.by]
	if k.before == nil {
		l.first = k.after
	} else {
		k.before.links[l.by].after = k.after
	}
	if k.after == nil {
		l.last = k.before
	} else {
		k.after.links[l.by].before = k.before
	}
	d.links[l.by] = link[P]{}
}

// pool hands out deliveries and takes them back.
type pool[P any] struct{ free *delivery[P] }

// poolPage is how many deliveries are allocated at once.
const poolPage = 64

func (p *pool[P]) get() *delivery[P] {
	if p.free == nil {
		page := make([]delivery[P], poolPage)
		for i := range page {
			page[i].links[byDue].after = p.free
			p.free = &page[i]
		}
	}
	d := p.free
	p.free = d.links[byDue].after
	d.links[byDue].after = nil
	return d
}

// put takes d back, out of all chains. What admit sets anyway stays.
func (p *pool[P]) put(d *delivery[P]) {
	var none P
	d.payload = none
	d.verdict, d.epoch = Verdict{}, 0
	d.lease.turn++
	d.links[byDue].after = p.free
	p.free = d
}

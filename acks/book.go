package acks

import (
	"fmt"
	"time"
)

// book is a ledger without its lock.
type book[P any] struct {
	mode     Mode
	channels []*channel[P]
	pool     pool[P]
	// receipts are all unsettled deliveries, the one received first in front; due
	// are those in state due.
	receipts, due chain[P]
	// unasked is the first of receipts whose lease was never extended; all before it
	// were, or are lost.
	unasked *delivery[P]
	// base is what times are counted from; the clock's monotonic reading counts.
	base  time.Time
	count [states]int
	bytes int64
	// turn counts settlements handed out.
	turn  uint64
	total totals
}

// totals only grow.
type totals struct{ received, settled, duplicates, lost, refused uint64 }

func newBook[P any](mode Mode) book[P] {
	return book[P]{mode: mode, receipts: chain[P]{by: byReceipt}, due: chain[P]{by: byDue}}
}

func (b *book[P]) start(ch Channel, s Start) error {
	if c := b.known(ch); c != nil {
		if c.closed {
			return fmt.Errorf("%w: channel %d", ErrClosed, ch)
		}
		return fmt.Errorf("%w: channel %d", ErrStarted, ch)
	}
	c, err := newChannel[P](ch, s)
	if err != nil {
		return err
	}
	for len(b.channels) <= int(ch) {
		b.channels = append(b.channels, nil)
	}
	b.channels[ch] = c
	return nil
}

// known is channel ch, closed or not, nil if it never started.
func (b *book[P]) known(ch Channel) *channel[P] {
	if int(ch) < len(b.channels) {
		return b.channels[ch]
	}
	return nil
}

// channel is channel ch if it is started and not closed, else nil.
func (b *book[P]) channel(ch Channel) *channel[P] {
	if c := b.known(ch); c != nil && !c.closed {
		return c
	}
	return nil
}

// find is the unsettled delivery of ref with its channel; both may be nil.
func (b *book[P]) find(ref Ref) (*channel[P], *delivery[P]) {
	c := b.channel(ref.Channel())
	if c == nil {
		return nil, nil
	}
	return c, c.find(ref.Position())
}

// set moves d to state s.
func (b *book[P]) set(c *channel[P], d *delivery[P], s state) {
	c.count[d.state]--
	b.count[d.state]--
	c.count[s]++
	b.count[s]++
	d.state = s
}

// admit holds a new delivery in state s.
func (b *book[P]) admit(c *channel[P], in *incoming, payload *P, s state) *delivery[P] {
	d := b.pool.get()
	d.payload = *payload
	d.ref, d.bytes, d.state = MakeRef(c.id, in.pos), in.bytes, s
	c.count[s]++
	b.count[s]++
	b.bytes += int64(in.bytes)
	c.hold(d)
	b.received(d, in.now)
	return d
}

// received puts d at the end of receipts, with a new lease.
func (b *book[P]) received(d *delivery[P], now time.Time) {
	if b.base.IsZero() {
		b.base = now
	}
	d.lease = lease{received: int64(now.Sub(b.base)), turn: d.lease.turn + 1}
	b.receipts.push(d)
	if b.unasked == nil {
		b.unasked = d
	}
}

func (b *book[P]) unreceive(d *delivery[P]) {
	if b.unasked == d {
		b.unasked = d.links[byReceipt].after
	}
	b.receipts.remove(d)
}

// replace gives d the payload and lease of a newer copy.
func (b *book[P]) replace(d *delivery[P], in *incoming, payload *P) {
	b.bytes += int64(in.bytes - d.bytes)
	d.payload, d.bytes = *payload, in.bytes
	b.unreceive(d)
	b.received(d, in.now)
}

// forget drops d.
func (b *book[P]) forget(c *channel[P], d *delivery[P]) {
	c.count[d.state]--
	b.count[d.state]--
	b.bytes -= int64(d.bytes)
	if d.state == due {
		b.due.remove(d)
	}
	b.unreceive(d)
	c.release(d)
	b.pool.put(d)
}

func (b *book[P]) unsettled() (n int) {
	for _, c := range b.count {
		n += c
	}
	return n
}

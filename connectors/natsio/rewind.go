package natsio

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A rewind brings an exclusive reader and the broker to the same state after
// deliveries may have been lost:
//
//  1. The subscription ends, and the requests with it: the broker sends nothing.
//  2. What has been received in order is kept, the rest is forgotten.
//  3. Everything above the last position kept is given back. The broker ignores
//     what is not pending, so nobody needs to know what was lost; the rest it will
//     deliver again, in this order and before anything new.
//  4. A new subscription; the next number is one above the broker's last.
//  5. A request that does not wait collects what comes again. The broker may have
//     mixed up its order; when the request has ended, or something new has come, it
//     is all there and can be sorted.
//
// If the connection breaks meanwhile, the numbers show it, and it begins again.

// giveBackMax bounds how many sequences are given back at once. With filters over a
// vast stream more may lie between two deliveries: then the reader waits for
// their AckWait instead.
const giveBackMax = 1 << 20

// rewind is called by the watch goroutine.
func (r *reader) rewind(ctx context.Context) error {
	if err := r.sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrBadSubscription) {
		return err
	}
	if err := r.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	info, err := r.handle.Info(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	why, after, missing := r.mu.order.hole, r.keepLocked(), uint64(0)
	if sent := info.Delivered.Consumer; sent >= r.mu.order.next {
		missing = sent - r.mu.order.next + 1
	}
	r.mu.Unlock()
	if missing > 0 {
		if err := r.takeBack(ctx, after, info, why, missing); err != nil {
			return err
		}
	}
	return r.resume(info.Delivered.Consumer, missing > 0)
}

// keepLocked keeps what has been received in order and returns the last position of
// it.
func (r *reader) keepLocked() (after uint64) {
	b, o := &r.mu.inbox, &r.mu.order
	b.look(time.Now())
	b.hold()
	kept := b.held[:0]
	after = o.first
	for _, h := range b.held {
		d, ok := parseAck(h.msg.Reply, r.prefix)
		if !ok {
			continue
		}
		if !h.checked {
			if d.number != o.next {
				break
			}
			o.next++
			h.checked = true
		}
		after = max(after, d.seq)
		kept = append(kept, h)
	}
	clear(b.held[len(kept):])
	b.held = kept
	return after
}

// takeBack has the broker deliver again what was sent above a position.
func (r *reader) takeBack(ctx context.Context, after uint64, info *jetstream.ConsumerInfo, why string, missing uint64) error {
	r.opts.Logger.Warn("nats: asking again for deliveries that did not arrive", "consumer", r.name,
		"why", why, "deliveries", missing, "after", after, "through", info.Delivered.Stream)
	r.src.stats.rewinds.Add(1)
	r.src.stats.askedBack.Add(missing)
	if err := r.giveBackAbove(ctx, after, info); !errors.Is(err, errTooMany) {
		return err
	}
	timer := time.NewTimer(r.cfg.AckWait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// resume reads on with a new subscription.
func (r *reader) resume(number uint64, collect bool) error {
	inbox := r.nc.NewInbox() + "."
	r.mu.Lock()
	r.mu.order.resumed(number, collect)
	r.mu.pulls.inbox = inbox
	r.restartLocked(time.Now(), false)
	r.mu.Unlock()
	sub, err := r.nc.ChanSubscribe(inbox+"*", r.mu.inbox.ch)
	if err != nil {
		r.mu.Lock()
		r.mu.order.broken("no subscription")
		r.mu.Unlock()
		return err
	}
	r.sub = sub
	signal(r.more)
	return nil
}

// maybeTakeOver has the broker deliver again at once what an earlier process left
// unsettled, if there is no other reader: its leases are void. Only the first
// reader of a source does: the deliveries of later ones may be its own process's.
func (r *reader) maybeTakeOver(ctx context.Context, info *jetstream.ConsumerInfo) {
	if first := !r.src.opened.Swap(true); !first || !r.mu.order.exclusive || info.NumAckPending == 0 {
		return
	}
	if err := r.giveBackAbove(ctx, info.AckFloor.Stream, info); err != nil {
		r.opts.Logger.Warn("nats: unsettled deliveries of an earlier run come again after their AckWait",
			"consumer", r.name, "unsettled", info.NumAckPending, "ackWait", r.cfg.AckWait, "error", err)
		return
	}
	r.opts.Logger.Info("nats: took over unsettled deliveries of an earlier run",
		"consumer", r.name, "unsettled", info.NumAckPending)
}

var errTooMany = errors.New("too many sequences between two deliveries to give them back one by one")

// giveBackAbove tells the broker that the deliveries of all sequences above after
// are given back, in order, and returns when it has confirmed.
func (r *reader) giveBackAbove(ctx context.Context, after uint64, info *jetstream.ConsumerInfo) error {
	last := info.Delivered.Stream
	if last <= after {
		return nil
	}
	if last-after > giveBackMax {
		return errTooMany
	}
	ops := make([]op, 0, last-after)
	for seq := after + 1; seq <= last; seq++ {
		ops = append(ops, op{subject: r.ackSubject(seq, info.Delivered.Consumer), body: bodyNak})
	}
	r.send(ctx, ops, ConfirmBatch)
	return ops[len(ops)-1].err
}

// ackSubject is the ack subject of a delivery that is not here. Of its numbers the
// broker reads the sequence, and from the delivery's number whether there can be
// such a delivery.
func (r *reader) ackSubject(seq, number uint64) string {
	b := append(make([]byte, 0, len(r.prefix)+48), r.prefix...)
	b = strconv.AppendUint(append(b, "1."...), seq, 10)
	b = strconv.AppendUint(append(b, '.'), number, 10)
	return string(append(b, ".0.0"...))
}

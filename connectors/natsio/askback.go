package natsio

import (
	"context"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// askBackMax bounds how many sequences are asked back at once.
const askBackMax = 1 << 18

// maybeTakeOver has the broker deliver again at once what an earlier process left
// unsettled, if there is no other reader: its leases are void. Only the first
// reader of a source does: the deliveries of later ones may be its own process's.
func (r *reader) maybeTakeOver(ctx context.Context, info *jetstream.ConsumerInfo) {
	if first := !r.src.opened.Swap(true); !first || !r.mu.order.exclusive || info.NumAckPending == 0 {
		return
	}
	asked, err := r.askAgain(ctx, info.AckFloor.Stream+1, info, nil)
	if err != nil {
		r.opts.Logger.Warn("nats: unsettled deliveries of an earlier run come again after their AckWait",
			"consumer", r.name, "unsettled", info.NumAckPending, "ackWait", r.cfg.AckWait, "error", err)
		return
	}
	r.opts.Logger.Info("nats: took over unsettled deliveries of an earlier run",
		"consumer", r.name, "unsettled", info.NumAckPending, "asked", asked)
}

// askBack is one round of filling a hole.
func (r *reader) askBack(ctx context.Context, info *jetstream.ConsumerInfo) (news bool) {
	r.mu.Lock()
	g := r.mu.order.gap
	if g == nil {
		r.mu.Unlock()
		return false
	}
	after, here, lost, rounds := g.after, r.hereLocked(g), g.lost, g.rounds
	r.mu.Unlock()
	if rounds == 0 {
		r.opts.Logger.Warn("nats: deliveries were lost in flight; asking for them again",
			"consumer", r.name, "lost", lost, "after", after)
	}

	if _, err := r.askAgain(ctx, after+1, info, here); err != nil {
		return false // the next round
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if g = r.mu.order.gap; g != nil {
		g.round()
		r.followGapLocked()
	}
	return r.mu.order.gap == nil
}

// hereLocked are the positions that have been received and not handed over, or came
// back.
func (r *reader) hereLocked(g *gap) map[uint64]bool {
	here := map[uint64]bool{}
	for seq := range g.got {
		here[seq] = true
	}
	for seq := range g.places {
		here[seq] = true
	}
	r.mu.inbox.hold()
	for i := range r.mu.inbox.held {
		if d, ok := parseAck(r.mu.inbox.held[i].msg.Reply, r.prefix); ok {
			here[d.seq] = true
		}
	}
	return here
}

// askAgain tells the broker that the deliveries of the sequences from first on are
// given back, except those that are here. It ignores sequences that are not
// pending, so nobody needs to know which are. It returns when the broker has
// confirmed, with the number asked for.
func (r *reader) askAgain(ctx context.Context, first uint64, info *jetstream.ConsumerInfo, here map[uint64]bool) (int, error) {
	last := info.Delivered.Stream
	if last < first {
		return 0, nil
	}
	if last-first >= askBackMax {
		first = last - askBackMax + 1
	}
	ops := make([]op, 0, last-first+1)
	for seq := first; seq <= last; seq++ {
		if !here[seq] {
			ops = append(ops, op{subject: r.ackSubject(seq, info.Delivered.Consumer), body: bodyNak})
		}
	}
	if len(ops) == 0 {
		return 0, nil
	}
	r.send(ctx, ops, ConfirmBatch)
	return len(ops), ops[len(ops)-1].err
}

// ackSubject is the ack subject of a delivery that never arrived. Of its numbers
// the broker reads the sequence and whether such a delivery can exist.
func (r *reader) ackSubject(seq, number uint64) string {
	b := append(make([]byte, 0, len(r.prefix)+48), r.prefix...)
	b = strconv.AppendUint(append(b, "1."...), seq, 10)
	b = strconv.AppendUint(append(b, '.'), number, 10)
	return string(append(b, ".0.0"...))
}

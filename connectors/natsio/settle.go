package natsio

import (
	"context"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// Bodies of acknowledgements.
var (
	bodyAck      = []byte("+ACK")
	bodyNak      = []byte("-NAK")
	bodyProgress = []byte("+WPI")
)

var (
	errHandle     = fault.Errorf(fault.Bug, "the handle is not a delivery of this source")
	errVerdict    = fault.Errorf(fault.Permanent, "no such verdict here (AckAll has none on one message)")
	errUnresolved = fault.Errorf(fault.Transient, "earlier deliveries are still to come again")
)

// Settle publishes the verdicts and waits for confirmation. It may be called by
// several goroutines. A delivery may be settled twice, and after its lease was lost:
// the broker takes that.
func (r *reader) Settle(ctx context.Context, list []source.Settlement) []source.Failure {
	if len(list) == 0 {
		return nil
	}
	if r.cfg.AckPolicy == AckAll {
		return r.settleUpTo(ctx, list)
	}
	ops := r.ops.get(len(list))
	for i := range list {
		ops[i] = operation(&list[i])
		if list[i].Verdict == source.Nack && r.cfg.bounded() {
			r.mu.Lock()
			r.mu.end.gaveBack(uint64(list[i].Position))
			r.mu.Unlock()
		}
	}
	written := r.send(ctx, ops, r.cfg.Confirm)
	r.count(list, ops)
	failures := r.failures(ctx, "settle", list, ops)
	if written {
		r.ops.put(ops)
	}
	return failures
}

// operation is what to publish for a verdict.
func operation(s *source.Settlement) op {
	m, ok := s.Handle.(*nats.Msg)
	if !ok {
		return op{err: errHandle}
	}
	o := op{subject: m.Reply, body: bodyAck}
	switch s.Verdict {
	case source.Ack:
	case source.Nack:
		o.body = bodyNak
		if s.Delay > 0 {
			o.body = strconv.AppendInt([]byte(`-NAK {"delay":`), int64(s.Delay), 10)
			o.body = append(o.body, '}')
		}
	case source.Terminate:
		o.body = []byte("+TERM")
		if s.Reason != "" {
			o.body = append(append(o.body, ' '), s.Reason...)
		}
	default:
		return op{err: errVerdict}
	}
	return o
}

// settleUpTo acknowledges the highest position, and so all of the list. Not while
// deliveries of an earlier run are still to come: that would acknowledge them too.
func (r *reader) settleUpTo(ctx context.Context, list []source.Settlement) []source.Failure {
	top, acks := -1, 0
	for i := range list {
		if list[i].Verdict != source.Ack {
			continue
		}
		if acks++; top < 0 || list[i].Position > list[top].Position {
			top = i
		}
	}
	var err error
	if top >= 0 {
		err = r.acknowledge(ctx, &list[top])
	}
	if err == nil && acks == len(list) {
		r.src.stats.acked.Add(uint64(acks))
		return nil
	}
	ops := make([]op, len(list))
	for i := range list {
		if ops[i].err = err; list[i].Verdict != source.Ack {
			ops[i].err = errVerdict
		}
	}
	r.count(list, ops)
	return r.failures(ctx, "settle", list, ops)
}

func (r *reader) acknowledge(ctx context.Context, s *source.Settlement) error {
	r.mu.Lock()
	resolved := r.mu.start.resolved()
	r.mu.Unlock()
	if !resolved {
		return errUnresolved
	}
	one := []op{r.upTo(s)}
	r.send(ctx, one, ConfirmBatch)
	return one[0].err
}

// upTo is the acknowledgement of all up to a position.
//
// The broker ignores one whose delivery number is not above that of the one before,
// and confirms it all the same. A redelivery has a higher number than deliveries of
// later positions: acknowledged with that, it would have theirs ignored. So it is
// acknowledged with the number next to the last one used, which is not above that
// of its first delivery.
func (r *reader) upTo(s *source.Settlement) op {
	o := operation(s)
	d, ok := parseAck(o.subject, r.prefix)
	if !ok {
		return op{err: errHandle}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &r.mu.acked
	if d.attempt > 1 && d.seq != a.seq {
		d.number = min(d.number, a.number+1)
		o.subject = r.ackSubject(d.seq, d.number)
	} else if d.attempt > 1 {
		o.subject = r.ackSubject(d.seq, a.number) // once more
		return o
	}
	a.seq, a.number = d.seq, max(a.number, d.number)
	return o
}

// Extend asks for a full lease for each, and one confirmation that the broker has
// seen it. An extension cannot take a delivery back that has lost its lease.
func (r *reader) Extend(ctx context.Context, list []source.Settlement) []source.Failure {
	if len(list) == 0 {
		return nil
	}
	ops := make([]op, len(list))
	for i := range list {
		if m, ok := list[i].Handle.(*nats.Msg); ok {
			ops[i] = op{subject: m.Reply, body: bodyProgress}
		} else {
			ops[i].err = errHandle
		}
	}
	r.send(ctx, ops, ConfirmBatch)
	failures := r.failures(ctx, "extend", list, ops)
	r.src.stats.extended.Add(uint64(len(list) - len(failures)))
	return failures
}

package natsio

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

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

// op is one acknowledgement on its way.
type op struct {
	subject string
	body    []byte
	err     error
}

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
	ops := make([]op, len(list))
	if r.cfg.AckPolicy == AckAll {
		r.settleUpTo(ctx, list, ops)
	} else {
		r.settleEach(ctx, list, ops)
	}
	r.count(list, ops)
	return r.failures(ctx, "settle", list, ops)
}

func (r *reader) settleEach(ctx context.Context, list []source.Settlement, ops []op) {
	for i := range list {
		ops[i] = operation(&list[i])
		if list[i].Verdict == source.Nack && r.cfg.bounded() {
			r.mu.Lock()
			r.mu.end.gaveBack(uint64(list[i].Position))
			r.mu.Unlock()
		}
	}
	r.send(ctx, ops, r.cfg.Confirm)
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
func (r *reader) settleUpTo(ctx context.Context, list []source.Settlement, ops []op) {
	r.mu.Lock()
	resolved := r.mu.start.resolved()
	r.mu.Unlock()
	top := -1
	for i := range list {
		switch {
		case list[i].Verdict != source.Ack:
			ops[i].err = errVerdict
		case !resolved:
			ops[i].err = errUnresolved
		case top < 0 || list[i].Position > list[top].Position:
			top = i
		}
	}
	if top < 0 {
		return
	}
	one := []op{operation(&list[top])}
	r.send(ctx, one, ConfirmBatch)
	for i := range list {
		if list[i].Verdict == source.Ack {
			ops[i].err = one[0].err
		}
	}
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

// send publishes all without waiting in between, then waits until the broker has
// confirmed the last, or each. The outcome is in the ops; those with an error are
// left out.
func (r *reader) send(ctx context.Context, ops []op, how Confirm) {
	last := lastSound(ops)
	if last < 0 {
		return
	}
	if err := r.cannotSend(); err != nil {
		setErrors(ops, err)
		return
	}
	call := r.confirms.begin(expected(ops, how))
	written := make(chan error, 1)
	go func() { written <- r.write(ctx, ops, call, last, how) }()
	err := r.await(ctx, call, written)
	for i, e := range r.confirms.end(call, err) {
		if how == ConfirmEach {
			setErrors(ops[i:i+1], e)
		} else {
			setErrors(ops, e)
		}
	}
}

// expected tells for each reply whether it will come.
func expected(ops []op, how Confirm) []bool {
	if how == ConfirmBatch {
		return []bool{true}
	}
	will := make([]bool, len(ops))
	for i := range ops {
		will[i] = ops[i].err == nil
	}
	return will
}

// write is the goroutine of one call.
func (r *reader) write(ctx context.Context, ops []op, call *confirmation, last int, how Confirm) error {
	for i := range ops {
		o := &ops[i]
		if o.subject == "" {
			continue
		}
		reply := ""
		if how == ConfirmEach {
			reply = call.subject(i)
		} else if i == last {
			reply = call.subject(0)
		}
		if err := r.publish(o, reply); err != nil {
			return err
		}
		const checkEvery = 256
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (r *reader) publish(o *op, reply string) error {
	if reply == "" {
		return r.nc.Publish(o.subject, o.body)
	}
	return r.nc.PublishRequest(o.subject, reply, o.body)
}

// await returns nil when all replies are there, else why they are not.
func (r *reader) await(ctx context.Context, call *confirmation, written <-chan error) error {
	timer := time.NewTimer(r.cfg.ConfirmWait)
	defer timer.Stop()
	for {
		select {
		case <-call.done:
			return nil
		case err := <-written:
			if err != nil {
				return err
			}
			written = nil
		case <-ctx.Done():
			return ctx.Err()
		case <-r.closed:
			return errClosed
		case <-timer.C:
			return fmt.Errorf("no confirmation for %v", r.cfg.ConfirmWait)
		}
	}
}

var errClosed = fault.Errorf(fault.Closed, "the reader is closed")

// cannotSend says why nothing should be written now: what is written while
// reconnecting would be sent later, when nobody waits for it.
func (r *reader) cannotSend() error {
	select {
	case <-r.closed:
		return errClosed
	default:
	}
	r.mu.Lock()
	down := r.mu.pulls.down
	r.mu.Unlock()
	if down {
		return fault.Errorf(fault.Transient, "disconnected")
	}
	return nil
}

func lastSound(ops []op) int {
	for i := len(ops) - 1; i >= 0; i-- {
		if ops[i].err == nil {
			return i
		}
	}
	return -1
}

func setErrors(ops []op, err error) {
	for i := range ops {
		if ops[i].err == nil {
			ops[i].err = err
		}
	}
}

// failures lists what did not happen. Where nobody answered the consumer may be
// gone: then its deliveries are lost.
func (r *reader) failures(ctx context.Context, verb string, list []source.Settlement, ops []op) (out []source.Failure) {
	lost := false
	for i := range ops {
		err := ops[i].err
		if err == nil {
			continue
		}
		if out == nil {
			lost = errors.Is(err, nats.ErrNoResponders) && r.isGone(ctx)
		}
		out = append(out, source.Failure{Ref: list[i].Ref, Err: r.settleFailure(verb, &list[i], err, lost)})
	}
	if verb == "settle" {
		r.src.stats.settleFailed.Add(uint64(len(out)))
	}
	return out
}

func (r *reader) settleFailure(verb string, s *source.Settlement, err error, lost bool) error {
	class := fault.Of(err)
	switch {
	case lost:
		class, err = fault.Lost, errors.New("the consumer was deleted")
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionDraining):
		class = fault.Closed
	}
	return fault.As(class, fmt.Errorf("nats: %s %s %d: %w", verb, r.name, s.Position, err))
}

func (r *reader) isGone(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, infoWait)
	defer cancel()
	_, err := r.handle.Info(ctx)
	return gone(err)
}

// count adds up what was confirmed.
func (r *reader) count(list []source.Settlement, ops []op) {
	var n [source.Terminate + 1]uint64
	for i := range list {
		if ops[i].err == nil && int(list[i].Verdict) < len(n) {
			n[list[i].Verdict]++
		}
	}
	r.src.stats.acked.Add(n[source.Ack])
	r.src.stats.nacked.Add(n[source.Nack])
	r.src.stats.terminated.Add(n[source.Terminate])
}

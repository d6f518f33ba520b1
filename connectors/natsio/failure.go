package natsio

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

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

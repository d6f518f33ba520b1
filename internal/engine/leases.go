package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// maybeExtend asks for longer leases where they run out, those of deliveries that
// wait in queues included.
func (rd *reader) maybeExtend(now time.Time) time.Time {
	if rd.leases == nil || rd.extending {
		return time.Time{}
	}
	if rd.leaseAt.After(now) {
		return rd.leaseAt
	}
	due := rd.leases.Due(nil, extendBatchMax, now)
	rd.leaseAt = rd.leases.Next()
	if len(due) == 0 {
		return rd.leaseAt
	}
	list := make([]source.Settlement, len(due))
	for i, d := range due {
		list[i] = source.Settlement{
			Ref: uint64(d.Ref), Channel: source.Channel(d.Ref.Channel()), Position: source.Position(d.Ref.Position()),
			Handle: d.Payload.handle,
		}
	}
	rd.extending = true
	rd.region.ports.Call(Call{
		Name: rd.name() + ": extend leases", Kind: CallExtend,
		Run: func(ctx context.Context) (any, error) { return rd.conn.Extend(ctx, list), nil },
		Complete: func(v any, err error) {
			rd.region.mail.post(func() {
				failures, _ := v.([]source.Failure)
				rd.extended(list, failures, err)
			})
		},
	})
	return rd.leaseAt
}

// extendBatchMax is how many leases one call extends.
const extendBatchMax = 1000

// extended notes leases that were lost (their ack will not count) or could not be
// extended (they are tried again).
func (rd *reader) extended(list []source.Settlement, failures []source.Failure, err error) {
	rd.extending = false
	if err != nil {
		for i := range list {
			failures = append(failures, source.Failure{Ref: list[i].Ref, Err: err})
		}
	}
	for _, f := range failures {
		if fault.Of(f.Err) == fault.Lost {
			rd.leases.Lost(acks.Ref(f.Ref))
			rd.counts.Lost.Add(1)
		} else {
			rd.leases.Failed(acks.Ref(f.Ref))
		}
	}
	key := "extend leases of " + rd.name()
	if len(failures) == 0 {
		rd.region.healthy(key)
		return
	}
	rd.region.degraded(key, fmt.Errorf("%s: %d of %d leases: %w", rd.name(), len(failures), len(list), failures[0].Err))
}

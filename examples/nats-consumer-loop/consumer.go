package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/acks"
)

// stream is the only channel: positions are stream sequences.
const stream acks.Channel = 0

// consumer is the loop. Its goroutine does everything.
type consumer struct {
	queue      *queue
	files      *files
	ledger     *acks.Ledger[jetstream.Msg]
	leases     *acks.LeaseKeeper[jetstream.Msg]
	finalizers *acks.Registry
	epoch      uint64
	counts     counts
}

// newConsumer begins where the newest file says. What the broker has delivered and
// not had acknowledged will come again.
func newConsumer(ctx context.Context, queue *queue, files *files) (*consumer, error) {
	epoch, mark, err := files.last()
	if err != nil {
		return nil, err
	}
	info, err := queue.consumer.Info(ctx)
	if err != nil {
		return nil, err
	}
	ledger := acks.NewLedger[jetstream.Msg](acks.Individual)
	start := acks.Start{Mark: mark, Through: acks.Position(info.Delivered.Stream), Outstanding: info.NumAckPending}
	if err := ledger.StartChannel(stream, start); err != nil {
		return nil, err
	}
	return &consumer{
		queue: queue, files: files, epoch: epoch, ledger: ledger,
		leases:     acks.NewLeaseKeeper(ledger, acks.Lease{Duration: ackWait}, nil),
		finalizers: acks.NewRegistry(acks.RegistryOptions{}),
	}, nil
}

// loop consumes until the queue is empty, or dies before the acks of its dies-th
// file.
func (c *consumer) loop(ctx context.Context, dies int) error {
	for written := 0; ; {
		batch, err := c.fetch(ctx)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			if done, err := c.idle(ctx); done || err != nil {
				return err
			}
			continue
		}
		lines := c.process(batch)
		if err := c.files.write(c.epoch, c.ledger.Mark(stream, c.epoch), lines); err != nil {
			return err
		}
		c.counts.written += len(lines)
		if written++; written == dies {
			return nil
		}
		if err := c.committed(ctx); err != nil {
			return err
		}
	}
}

// fetch takes what the broker has into the bundle of a new epoch.
func (c *consumer) fetch(ctx context.Context) (batch []acks.Entry[jetstream.Msg], err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	messages, err := c.queue.consumer.Fetch(batchSize, jetstream.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return nil, err
	}
	c.epoch++
	for m := range messages.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return nil, err
		}
		c.counts.read++
		pos := acks.Position(meta.Sequence.Stream)
		ref, arrival := c.ledger.TakeNew(stream, pos, m, len(m.Data()), time.Now(), c.epoch)
		if arrival == acks.New {
			batch = append(batch, acks.Entry[jetstream.Msg]{Ref: ref, Payload: m})
		} else {
			c.counts.copies++
		}
	}
	return batch, messages.Error()
}

// process makes lines of messages. One in two hundred fails at its first delivery
// and is rejected: the others do not wait for it.
func (c *consumer) process(batch []acks.Entry[jetstream.Msg]) (lines [][]byte) {
	for _, e := range batch {
		meta, err := e.Payload.Metadata()
		if err == nil && meta.NumDelivered == 1 && e.Ref.Position()%200 == 0 {
			err = c.ledger.Verdict(e.Ref, acks.Reject(50*time.Millisecond, "not today"))
			if err == nil {
				continue
			}
		}
		lines = append(lines, e.Payload.Data())
	}
	return lines
}

// committed does what waited for the file: acks, and the announcement.
func (c *consumer) committed(ctx context.Context) error {
	c.ledger.Commit(c.epoch)
	c.settle(ctx)
	bundle, epoch := acks.Bundle(c.epoch), c.epoch
	announce := acks.Callback{
		Name: "announce", Expiry: time.Now().Add(time.Minute),
		Fn: func(context.Context) error {
			c.counts.announced++
			return c.queue.conn.Publish("files", fmt.Appendf(nil, "file %d is complete", epoch))
		},
	}
	if err := c.finalizers.Register(bundle, []acks.Callback{announce}); err != nil {
		return err
	}
	return c.finalizers.Finalize(ctx, bundle, time.Now())
}

// settle tells the broker what is due and waits for its confirmation; what it did
// not confirm is due again.
func (c *consumer) settle(ctx context.Context) {
	due := c.ledger.Due(nil, 0)
	var failed []acks.Failure
	for _, s := range due {
		if s.Verdict.Action == acks.Rejected {
			if err := s.Payload.NakWithDelay(s.Verdict.Delay); err != nil {
				failed = append(failed, acks.Failure{Ref: s.Ref})
			} else {
				c.counts.rejected++
			}
			continue
		}
		if err := s.Payload.DoubleAck(ctx); err != nil {
			failed = append(failed, acks.Failure{Ref: s.Ref})
		} else {
			c.counts.acked++
		}
	}
	c.ledger.Settled(due, failed...)
}

// idle settles copies, keeps leases and says whether the queue is empty.
func (c *consumer) idle(ctx context.Context) (done bool, err error) {
	c.settle(ctx)
	for _, e := range c.leases.Due(nil, 0, time.Now()) {
		if e.Payload.InProgress() != nil {
			c.leases.Failed(e.Ref)
		}
	}
	info, err := c.queue.consumer.Info(ctx)
	if err != nil {
		return false, err
	}
	return info.NumPending == 0 && info.NumAckPending == 0 && c.ledger.Stats().Unsettled == 0, nil
}

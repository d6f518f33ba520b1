package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
)

// settleEach is how many messages a loop acknowledges at a time, the last of them
// confirmed by the broker: what the pipeline does in each epoch.
const settleEach = 500

// rawLoop is a consumer loop as one would write it with nats.go alone.
type rawLoop struct {
	policy   natsio.AckPolicy
	messages int
	total    int
	batch    []jetstream.Msg
}

func newRawLoop(policy natsio.AckPolicy, messages int) *rawLoop {
	return &rawLoop{policy: policy, messages: messages, batch: make([]jetstream.Msg, 0, settleEach)}
}

// take does the work of one message and settles when the batch is full.
func (r *rawLoop) take(m jetstream.Msg) error {
	work(len(m.Data()))
	r.batch = append(r.batch, m)
	r.total++
	if len(r.batch) < settleEach && r.total < r.messages {
		return nil
	}
	return r.settle()
}

func (r *rawLoop) settle() error {
	last := len(r.batch) - 1
	if r.policy == natsio.AckExplicit {
		for _, m := range r.batch[:last] {
			if err := m.Ack(); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := r.batch[last].DoubleAck(ctx)
	r.batch = r.batch[:0]
	return err
}

// work is what a message is for, here and in the pipelines.
func work(n int) int {
	blackHole += n
	return n
}

// rawConsume drains by Consume. A long expiry could wait for a lost request.
func rawConsume(policy natsio.AckPolicy, n int) func(jetstream.JetStream, string) error {
	return func(js jetstream.JetStream, consumer string) error {
		c, err := js.Consumer(context.Background(), streamName, consumer)
		if err != nil {
			return err
		}
		loop, done := newRawLoop(policy, n), make(chan error, 1)
		cc, err := c.Consume(func(m jetstream.Msg) {
			if err := loop.take(m); err != nil || loop.total == n {
				done <- err
			}
		}, jetstream.PullMaxMessages(1000), jetstream.PullExpiry(2*time.Second), jetstream.PullHeartbeat(500*time.Millisecond))
		if err != nil {
			return err
		}
		defer cc.Stop()
		return <-done
	}
}

// rawFetch drains by one Fetch after the other.
func rawFetch(policy natsio.AckPolicy, n int) func(jetstream.JetStream, string) error {
	return func(js jetstream.JetStream, consumer string) error {
		c, err := js.Consumer(context.Background(), streamName, consumer)
		if err != nil {
			return err
		}
		for loop := newRawLoop(policy, n); loop.total < n; {
			got, err := c.Fetch(1000)
			if err != nil {
				return err
			}
			for m := range got.Messages() {
				if err := loop.take(m); err != nil {
					return err
				}
			}
			if err := got.Error(); err != nil {
				return err
			}
		}
		return nil
	}
}

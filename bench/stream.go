package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
)

const (
	streamName  = "ORDERS"
	subjectName = "orders.a"
	// ackPending is the quota of every consumer.
	ackPending = 20_000
)

func connect(url string) (jetstream.JetStream, error) {
	nc, err := nats.Connect(url)
	if err != nil {
		return nil, err
	}
	return jetstream.New(nc)
}

// body is message i: its key, filled up to size.
func body(key string, size int) []byte {
	return append(append([]byte(key), ' '), bytes.Repeat([]byte("x"), size-len(key)-1)...)
}

// keyIn is the key that body put in.
func keyIn(data []byte) string {
	key, _, _ := bytes.Cut(data, []byte(" "))
	return string(key)
}

// makeStream makes the stream and publishes n messages.
func makeStream(url string, n, size int) error {
	js, err := connect(url)
	if err != nil {
		return err
	}
	defer js.Conn().Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: streamName, Subjects: []string{"orders.>"}}); err != nil {
		return err
	}
	keys := benchKeys()
	for i := range n {
		if _, err := js.PublishAsync(subjectName, body(keys[i%len(keys)], size), jetstream.WithStallWait(time.Minute)); err != nil {
			return err
		}
	}
	select {
	case <-js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// withConsumer runs drain against a consumer of its own and returns what the client
// and the broker spent on each of n messages.
func (b *broker) withConsumer(name string, policy natsio.AckPolicy, n int, drain func(js jetstream.JetStream, consumer string) error) (sample, error) {
	js, err := connect(b.url)
	if err != nil {
		return nil, err
	}
	defer js.Conn().Close()
	ctx := context.Background()
	cfg := jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: ackPending, AckWait: 30 * time.Second, MaxDeliver: -1}
	if policy == natsio.AckAll {
		cfg.AckPolicy = jetstream.AckAllPolicy
	}
	if _, err = js.CreateConsumer(ctx, streamName, cfg); err != nil {
		return nil, err
	}
	serverBefore, err := b.cpu()
	if err != nil {
		return nil, err
	}
	out, err := perElement(n, func() error { return drain(js, name) })
	if err != nil {
		return nil, err
	}
	serverAfter, err := b.cpu()
	if err != nil {
		return nil, err
	}
	out[nsPerMessage], out[messagesPerSecond] = out[nsPerElement], out[perSecond]
	out[serverNsPerMessage] = float64((serverAfter - serverBefore).Nanoseconds()) / float64(n)
	delete(out, nsPerElement)
	delete(out, perSecond)
	return out, settledAll(ctx, js, name)
}

const (
	nsPerMessage       = "client cpu ns/msg"
	serverNsPerMessage = "broker cpu ns/msg"
	messagesPerSecond  = "msg/s"
)

// settledAll checks that nothing is left and removes the consumer.
func settledAll(ctx context.Context, js jetstream.JetStream, name string) error {
	c, err := js.Consumer(ctx, streamName, name)
	if err != nil {
		return err
	}
	if i := c.CachedInfo(); i.NumPending > 0 || i.NumAckPending > 0 {
		return fmt.Errorf("%s left %d messages undelivered and %d unsettled", name, i.NumPending, i.NumAckPending)
	}
	return js.DeleteConsumer(ctx, streamName, name)
}

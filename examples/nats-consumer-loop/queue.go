package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ackWait is how long the broker waits for an ack before it delivers again. It is
// short so that the second consumer need not wait.
const ackWait = time.Second

// queue is an embedded NATS server with one stream and one durable consumer.
type queue struct {
	server   *server.Server
	conn     *nats.Conn
	js       jetstream.JetStream
	consumer jetstream.Consumer
}

func startQueue(ctx context.Context, dir string) (*queue, error) {
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: dir, DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	go s.Start()
	q := &queue{server: s}
	if err := q.connect(ctx); err != nil {
		q.stop()
		return nil, err
	}
	return q, nil
}

func (q *queue) connect(ctx context.Context) (err error) {
	if !q.server.ReadyForConnections(10 * time.Second) {
		return errors.New("the NATS server does not start")
	}
	if q.conn, err = nats.Connect("", nats.InProcessServer(q.server)); err != nil {
		return err
	}
	if q.js, err = jetstream.New(q.conn); err != nil {
		return err
	}
	stream, err := q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders"}})
	if err != nil {
		return err
	}
	q.consumer, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 4 * batchSize,
	})
	return err
}

func (q *queue) publish(ctx context.Context, n int) error {
	for i := range n {
		if _, err := q.js.PublishAsync("orders", fmt.Appendf(nil, "order %d", i+1)); err != nil {
			return err
		}
	}
	select {
	case <-q.js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *queue) stop() {
	if q.conn != nil {
		q.conn.Close()
	}
	q.server.Shutdown()
	q.server.WaitForShutdown()
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

// The names in the queue.
const (
	streamName   = "ORDERS"
	orderSubject = "orders.new"
	consumerName = "after-write"
)

// queue is where the orders are.
type queue struct {
	js     jetstream.JetStream
	nc     *nats.Conn
	server *natsemu.Server // nil with -nats
	where  string
	// last is the sequence of the last order in the stream.
	last uint64
	// published were missing.
	published int
}

// openQueue connects to or starts the server and publishes the missing orders.
func openQueue(ctx context.Context, s settings) (*queue, error) {
	q := &queue{where: s.natsURL}
	if err := q.connect(s); err != nil {
		return nil, err
	}
	err := q.fill(ctx, s.messages)
	if err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

func (q *queue) connect(s settings) (err error) {
	if s.natsURL != "" {
		q.nc, err = nats.Connect(s.natsURL, nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
		if err != nil {
			return fmt.Errorf("connect to %s: %w", s.natsURL, err)
		}
	} else {
		dir := filepath.Join(s.dir, "nats")
		q.where = "embedded, in " + dir
		if q.server, err = natsemu.Open(dir); err != nil {
			return err
		}
		if q.nc, err = q.server.Connect(); err != nil {
			q.server.Shutdown()
			return err
		}
	}
	q.js, err = jetstream.New(q.nc)
	return err
}

// fill makes the stream and publishes what it lacks of n orders. A message id keeps
// an order from being stored twice.
func (q *queue) fill(ctx context.Context, n int) error {
	stream, err := q.stream(ctx)
	if err != nil {
		return err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return err
	}
	for id := int(info.State.LastSeq) + 1; id <= n; id++ {
		data, err := json.Marshal(sample(id))
		if err != nil {
			return err
		}
		if _, err := q.js.PublishAsync(orderSubject, data, jetstream.WithMsgID("order-"+strconv.Itoa(id)), jetstream.WithStallWait(publishStall)); err != nil {
			return fmt.Errorf("publish order %d: %w", id, err)
		}
		q.published++
	}
	select {
	case <-q.js.PublishAsyncComplete():
	case <-ctx.Done():
		return ctx.Err()
	}
	if info, err = stream.Info(ctx); err != nil {
		return err
	}
	if q.last = info.State.LastSeq; q.last < uint64(n) {
		return fmt.Errorf("stream %s has %d orders after %d were published; start again to publish the rest", streamName, q.last, q.published)
	}
	return nil
}

// stream makes the stream, waiting for a server that is not up yet.
func (q *queue) stream(ctx context.Context) (jetstream.Stream, error) {
	for waited := false; ; waited = true {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		stream, err := q.js.CreateOrUpdateStream(try, jetstream.StreamConfig{
			Name: streamName, Subjects: []string{"orders.*"}, Storage: jetstream.FileStorage,
		})
		cancel()
		switch {
		case err == nil:
			return stream, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrNoResponders):
			return nil, fmt.Errorf("make stream %s on %s: %w", streamName, q.where, err)
		}
		if !waited {
			fmt.Printf("waiting for the NATS server (%s): %v\n", q.where, err)
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// publishStall is how long the server may leave all messages under way unconfirmed.
const publishStall = 30 * time.Second

// source reads the stream to its end, or for ever with -follow.
func (q *queue) source(s settings) natsio.Config {
	c := natsio.Config{Stream: streamName, Consumer: consumerName}
	if !s.follow {
		c.StopAt = q.last
	}
	return c
}

func (q *queue) close() {
	q.nc.Close()
	if q.server != nil {
		q.server.Shutdown()
	}
}

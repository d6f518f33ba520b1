package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store/pebble"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

const (
	ackEvery    = 10 * time.Millisecond
	ackMessages = 200
)

// ackFigure publishes at a steady rate and takes the time from the publication to
// the acknowledgement as another client sees it.
func ackFigure(s *session) ([]row, error) {
	n := s.size(ackMessages)
	b, err := s.startBroker("ack")
	if err != nil {
		return nil, err
	}
	defer b.stop()
	if err := makeStream(b.url, 0, 0); err != nil {
		return nil, err
	}
	run := 0
	steady := func(start func(js jetstream.JetStream, consumer string) (stop func() error, err error)) func() (sample, error) {
		return func() (sample, error) {
			run++
			return b.steady(fmt.Sprintf("c%d", run), n, start)
		}
	}
	synced := func() (sample, error) { return s.syncedWrites(n) }
	c, err := s.alternate("ack",
		variant{"synced write", synced}, variant{"synced write again", synced},
		variant{"with Pebble", steady(s.ackWithState)},
		variant{"without state", steady(ackStateless)},
		variant{"nats.go loop", steady(ackRaw)},
	)
	if err != nil {
		return nil, err
	}
	with := func(name, metric string) row {
		return c.compare(metric, name, "synced write", "synced write again", asDifference)
	}
	return []row{
		with("with Pebble", p50).want(atMost, 2), with("with Pebble", p99),
		with("without state", p50).want(atMost, 2), with("without state", p99),
		with("nats.go loop", p50), with("nats.go loop", p99),
	}, nil
}

// steady measures n messages, after one that says that the consumer is up.
func (b *broker) steady(consumer string, n int, start func(jetstream.JetStream, string) (func() error, error)) (sample, error) {
	js, err := connect(b.url)
	if err != nil {
		return nil, err
	}
	defer js.Conn().Close()
	ctx := context.Background()
	if _, err := js.CreateConsumer(ctx, streamName, jetstream.ConsumerConfig{
		Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: ackPending, AckWait: 30 * time.Second,
		MaxDeliver: -1, DeliverPolicy: jetstream.DeliverNewPolicy,
	}); err != nil {
		return nil, err
	}
	acks, err := watchAcks(b.url, consumer)
	if err != nil {
		return nil, err
	}
	defer acks.close()
	stop, err := start(js, consumer)
	if err != nil {
		return nil, err
	}
	list, err := publishSteadily(ctx, b.url, acks, n)
	if e := stop(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	return latencies(list), js.DeleteConsumer(ctx, streamName, consumer)
}

func publishSteadily(ctx context.Context, url string, acks *ackWatch, n int) ([]time.Duration, error) {
	js, err := connect(url)
	if err != nil {
		return nil, err
	}
	defer js.Conn().Close()
	first, err := js.Publish(ctx, subjectName, body("first", 100))
	if err != nil {
		return nil, err
	}
	if _, err := acks.wait(first.Sequence); err != nil {
		return nil, err
	}
	keys, sent := benchKeys(), make([]time.Time, n)
	for i, tick := 0, time.NewTicker(ackEvery); i < n; i++ {
		<-tick.C
		sent[i] = time.Now()
		if err := js.Conn().Publish(subjectName, body(keys[i], 100)); err != nil {
			return nil, err
		}
	}
	list := make([]time.Duration, n)
	for i := range list {
		at, err := acks.wait(first.Sequence + 1 + uint64(i))
		if err != nil {
			return nil, err
		}
		list[i] = at.Sub(sent[i])
	}
	return list, nil
}

// syncedWrites writes as little as can be made durable, as often: in place, into a
// file that has its size already.
func (s *session) syncedWrites(n int) (sample, error) {
	f, err := os.Create(filepath.Join(s.dir, "synced"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	record := body("record", 128)
	if _, err := f.Write(make([]byte, n*len(record))); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	list := make([]time.Duration, n)
	for i, tick := 0, time.NewTicker(ackEvery); i < n; i++ {
		<-tick.C
		start := time.Now()
		if _, err := f.WriteAt(record, int64(i*len(record))); err != nil {
			return nil, err
		}
		if err := syscall.Fdatasync(int(f.Fd())); err != nil {
			return nil, err
		}
		list[i] = time.Since(start)
	}
	return latencies(list), nil
}

// started runs p until stop.
func started(p *core.Pipeline, options ...core.RunOption) (stop func() error, err error) {
	r, err := core.Start(p, append(options, core.WithLogger(quiet))...)
	if err != nil {
		return nil, err
	}
	return func() error {
		r.Stop()
		_, err := r.Wait()
		return err
	}, nil
}

func liveSource(js jetstream.JetStream, consumer string) *natsio.Source {
	return natsio.NewSource(js, natsio.Config{Stream: streamName, Consumer: consumer, Existing: true, MaxAckPending: ackPending})
}

func (s *session) ackWithState(js jetstream.JetStream, consumer string) (func() error, error) {
	p := core.NewPipeline("ack")
	keyed, _ := core.Read(p, "orders", liveSource(js, consumer), func(m core.Message) (pair, error) {
		return pair{Key: keyIn(m.Data), Value: 1}, nil
	})
	discard(stateful.CombinePerKey(core.WindowInto(keyed, "minutes", window.Fixed(time.Minute)), "count", stateful.Count[int]()))
	return started(p, core.WithStore(pebble.Dir(filepath.Join(s.dir, "ack-state-"+consumer))))
}

func ackStateless(js jetstream.JetStream, consumer string) (func() error, error) {
	p := core.NewPipeline("ack")
	lengths, _ := core.Read(p, "orders", liveSource(js, consumer), func(m core.Message) (int, error) { return len(m.Data), nil })
	core.Map(lengths, "work", work)
	return started(p)
}

func ackRaw(js jetstream.JetStream, consumer string) (func() error, error) {
	c, err := js.Consumer(context.Background(), streamName, consumer)
	if err != nil {
		return nil, err
	}
	cc, err := c.Consume(func(m jetstream.Msg) {
		work(len(m.Data()))
		_ = m.Ack()
	})
	if err != nil {
		return nil, err
	}
	return func() error { cc.Stop(); return nil }, nil
}

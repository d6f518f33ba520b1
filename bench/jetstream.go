package main

import (
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store/pebble"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

const jetstreamMessages = 100_000

// jetstreamFigure drains a stream with loops of nats.go and with pipelines. The
// goals are for the client's CPU, since the broker is another process.
func jetstreamFigure(s *session) (rows []row, err error) {
	for _, size := range []int{100, 1024} {
		more, err := s.jetstream(size)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

var policyNames = map[natsio.AckPolicy]string{natsio.AckExplicit: "each", natsio.AckAll: "all"}

func (s *session) jetstream(size int) ([]row, error) {
	n := s.size(jetstreamMessages)
	b, err := s.startBroker(fmt.Sprintf("js-%d", size))
	if err != nil {
		return nil, err
	}
	defer b.stop()
	if err := makeStream(b.url, n, size); err != nil {
		return nil, err
	}
	var variants []variant
	for _, policy := range []natsio.AckPolicy{natsio.AckExplicit, natsio.AckAll} {
		variants = append(variants, s.drains(b, policy, n)...)
	}
	c, err := s.alternate(fmt.Sprintf("jetstream/bytes=%d", size), variants...)
	if err != nil {
		return nil, err
	}
	return jetstreamRows(c, size), nil
}

// drains are the programs that are compared under one policy.
func (s *session) drains(b *broker, policy natsio.AckPolicy, n int) []variant {
	name := policyNames[policy]
	run := 0
	with := func(drain func(jetstream.JetStream, string) error) func() (sample, error) {
		return func() (sample, error) {
			run++
			return b.withConsumer(fmt.Sprintf("%s-%d", name, run), policy, n, drain)
		}
	}
	return []variant{
		{"consume/" + name, with(rawConsume(policy, n))},
		{"consume again/" + name, with(rawConsume(policy, n))},
		{"fetch/" + name, with(rawFetch(policy, n))},
		{"pipeline/" + name, with(func(js jetstream.JetStream, consumer string) error {
			p := core.NewPipeline("drain")
			lengths, _ := core.Read(p, "orders", streamSource(js, consumer, policy, n), func(m core.Message) (int, error) {
				return len(m.Data), nil
			})
			core.Map(lengths, "work", work)
			return complete(p, n)
		})},
		{"with state/" + name, with(func(js jetstream.JetStream, consumer string) error {
			return s.counted(streamSource(js, consumer, policy, n), n)
		})},
	}
}

func streamSource(js jetstream.JetStream, consumer string, policy natsio.AckPolicy, n int) *natsio.Source {
	return natsio.NewSource(js, natsio.Config{
		Stream: streamName, Consumer: consumer, AckPolicy: policy, MaxAckPending: ackPending, StopAt: uint64(n),
	})
}

// counted counts per key and minute, with a state directory.
func (s *session) counted(src *natsio.Source, n int) error {
	dir, err := os.MkdirTemp(s.dir, "state")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := core.NewPipeline("count")
	keyed, _ := core.Read(p, "orders", src, func(m core.Message) (pair, error) {
		return pair{Key: keyIn(m.Data), Value: work(len(m.Data))}, nil
	})
	discard(stateful.CombinePerKey(core.WindowInto(keyed, "minutes", window.Fixed(time.Minute)), "count", stateful.Count[int]()))
	return complete(p, n, core.WithStore(pebble.Dir(dir)))
}

func jetstreamRows(c *contest, size int) (rows []row) {
	at := func(format, policy string) string { return fmt.Sprintf("%d B, acks %s: "+format, size, policy) }
	for _, policy := range []string{"each", "all"} {
		consume, again := "consume/"+policy, "consume again/"+policy
		base := consume
		if c.median("fetch/"+policy, nsPerMessage) < c.median(consume, nsPerMessage) {
			base = "fetch/" + policy
		}
		with := func(variant, metric string) row {
			r := c.compare(metric, variant+"/"+policy, base, again, asRatio)
			r.spread = c.compare(metric, again, consume, again, asRatio).spread
			return r
		}
		rows = append(rows,
			with("pipeline", nsPerMessage).want(atMost, 1.05).named(at("pipeline", policy)),
			with("pipeline", messagesPerSecond).named(at("pipeline", policy)),
			with("pipeline", serverNsPerMessage).named(at("pipeline", policy)),
			with("with state", nsPerMessage).named(at("with state", policy)),
			with("with state", messagesPerSecond).want(hoped, 0.8).named(at("with state", policy)),
			with("fetch", nsPerMessage).named(at("nats.go Fetch", policy)),
		)
	}
	all := c.compare(messagesPerSecond, "pipeline/all", "pipeline/each", "pipeline/each", asRatio).want(atLeast, 1.4)
	all.spread = c.compare(messagesPerSecond, "consume again/each", "consume/each", "consume again/each", asRatio).spread
	raw := c.compare(messagesPerSecond, "consume/all", "consume/each", "consume again/each", asRatio)
	return append(rows,
		all.named(fmt.Sprintf("%d B: pipeline, acks all against each", size)),
		raw.named(fmt.Sprintf("%d B: nats.go Consume, acks all against each", size)),
	)
}

package pubsubio

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"

	"github.com/gosluice/sluice/sinks"
)

// BenchmarkPublish sends calls of n messages of 100 bytes and waits for them. It
// alternates with the client's own Publisher, flushed at once so that it does not
// wait its 10 ms, and reports the medians and their ratio.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 10, 1000} {
		b.Run(fmt.Sprint("messages=", n), func(b *testing.B) {
			s := newService(b)
			ours := s.publisher(b, PublisherConfig{})
			theirs := s.client.Publisher("orders")
			theirs.PublishSettings.CountThreshold = requestMessagesMax
			defer theirs.Stop()
			msgs := numbered(n, "m", "")
			for i := range msgs {
				msgs[i].Data = make([]byte, 100)
			}
			alternate(b, s,
				func() { publishOurs(b, ours, msgs) },
				func() { publishTheirs(b, theirs, msgs) },
				func() { publishTheirs(b, theirs, msgs) },
			)
		})
	}
}

// alternate runs each in turn, another one first each time, and reports the
// medians in microseconds.
func alternate(b *testing.B, s *service, runs ...func()) {
	times := make([][]time.Duration, len(runs))
	i := 0
	for b.Loop() {
		for k := range runs {
			j := (i + k) % len(runs)
			start := time.Now()
			runs[j]()
			times[j] = append(times[j], time.Since(start))
		}
		s.ClearMessages()
		s.requests = nil
		i++
	}
	medians := make([]float64, len(runs))
	for j := range times {
		slices.Sort(times[j])
		medians[j] = float64(times[j][len(times[j])/2].Nanoseconds()) / 1e3
	}
	b.ReportMetric(medians[0], "µs/call")
	b.ReportMetric(medians[1], "µs/client-publisher")
	b.ReportMetric(medians[0]/medians[1], "ratio")
	b.ReportMetric(medians[2]/medians[1], "A/A-ratio")
}

func publishOurs(b *testing.B, p *Publisher, msgs []sinks.OutMessage) {
	if published, failures := p.Publish(context.Background(), msgs); len(published) != len(msgs) {
		b.Fatal(failures)
	}
}

func publishTheirs(b *testing.B, p *pubsub.Publisher, msgs []sinks.OutMessage) {
	results := make([]*pubsub.PublishResult, len(msgs))
	for i, m := range msgs {
		results[i] = p.Publish(context.Background(), &pubsub.Message{Data: m.Data, Attributes: attributes(m)})
	}
	p.Flush()
	for _, r := range results {
		if _, err := r.Get(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

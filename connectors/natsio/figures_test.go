package natsio_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/source"
)

// BenchmarkAgainstRawLoops compares the CPU this process spends on a message (the
// server is another process) with that of loops of nats.go that make the same acks
// and confirmations. Medians of alternating rounds; "A/A" is the raw loop against
// itself in the same rounds: a difference inside it is none.
//
//	go test ./connectors/natsio -run '^$' -bench AgainstRawLoops -benchtime 1x
func BenchmarkAgainstRawLoops(b *testing.B) {
	for _, size := range []int{100, 1024} {
		for _, policy := range []natsio.AckPolicy{natsio.AckExplicit, natsio.AckAll} {
			b.Run(fmt.Sprintf("bytes=%d/%s", size, policyName(policy)), func(b *testing.B) {
				compare(b, size, policy)
			})
		}
	}
}

func policyName(p natsio.AckPolicy) string {
	return map[natsio.AckPolicy]string{natsio.AckExplicit: "explicit", natsio.AckAll: "all"}[p]
}

const (
	figureMessages = 50_000
	figureRounds   = 9
	// settleEach is how many deliveries are settled and confirmed at a time.
	settleEach = 500
)

// loop drains the consumer of that name.
type loop struct {
	name  string
	drain func(js jetstream.JetStream, consumer string, policy natsio.AckPolicy) error
}

func compare(b *testing.B, size int, policy natsio.AckPolicy) {
	url := startServer(b)
	fillStream(b, url, size)
	loops := []loop{{"consume", drainConsume}, {"consume again", drainConsume}, {"fetch", drainFetch}, {"source", drainSource}}
	cost, rate := map[string][]float64{}, map[string][]float64{}
	for round := range figureRounds {
		for i := range loops {
			l := loops[(i+round)%len(loops)]
			cpu, took := measure(b, url, fmt.Sprintf("c%d-%d", round, i), policy, l)
			cost[l.name] = append(cost[l.name], float64(cpu.Nanoseconds())/figureMessages)
			rate[l.name] = append(rate[l.name], figureMessages/took.Seconds())
		}
	}
	base := min(median(cost["consume"]), median(cost["fetch"]))
	b.ReportMetric(median(cost["source"]), "ns-cpu/msg")
	b.ReportMetric(median(cost["consume"]), "consume-ns-cpu/msg")
	b.ReportMetric(median(cost["fetch"]), "fetch-ns-cpu/msg")
	b.ReportMetric(median(cost["source"])/base, "ratio")
	b.ReportMetric(median(cost["consume again"])/median(cost["consume"]), "A/A")
	b.ReportMetric(median(rate["source"]), "msg/s")
	b.ReportMetric(median(rate["consume"]), "consume-msg/s")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// startServer runs this binary once more, as a server.
func startServer(b *testing.B) (url string) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverDir+"="+b.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if _, err := fmt.Fscanln(out, &url); err != nil {
		b.Fatal(err)
	}
	return url
}

func client(b *testing.B, url string) jetstream.JetStream {
	b.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		b.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		b.Fatal(err)
	}
	return js
}

func fillStream(b *testing.B, url string, size int) {
	b.Helper()
	js := client(b, url)
	defer js.Conn().Close()
	_, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	if err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat([]byte("x"), size)
	for range figureMessages {
		if _, err := js.PublishAsync("orders.a", body); err != nil {
			b.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
}

func measure(b *testing.B, url, consumer string, policy natsio.AckPolicy, l loop) (cpu, took time.Duration) {
	b.Helper()
	js := client(b, url)
	defer js.Conn().Close()
	ack := jetstream.AckExplicitPolicy
	if policy == natsio.AckAll {
		ack = jetstream.AckAllPolicy
	}
	_, err := js.CreateConsumer(b.Context(), "ORDERS", jetstream.ConsumerConfig{
		Durable: consumer, AckPolicy: ack, MaxAckPending: 20_000, AckWait: 30 * time.Second, MaxDeliver: -1,
	})
	if err != nil {
		b.Fatal(err)
	}
	began, start := cpuTime(), time.Now()
	err = l.drain(js, consumer, policy)
	cpu, took = cpuTime()-began, time.Since(start)
	if err != nil {
		b.Fatalf("%s: %v", l.name, err)
	}
	c, err := js.Consumer(b.Context(), "ORDERS", consumer)
	if err != nil {
		b.Fatal(err)
	}
	if i := c.CachedInfo(); i.NumPending > 0 || i.NumAckPending > 0 {
		b.Fatalf("%s left %d pending and %d unsettled", l.name, i.NumPending, i.NumAckPending)
	}
	_ = js.DeleteConsumer(b.Context(), "ORDERS", consumer)
	return cpu, took
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rawBatch settles as a consumer loop would: acks, one confirmation at the end.
type rawBatch struct {
	policy natsio.AckPolicy
	msgs   []jetstream.Msg
	total  int
}

func (r *rawBatch) take(m jetstream.Msg) error {
	r.msgs = append(r.msgs, m)
	r.total++
	if len(r.msgs) < settleEach && r.total < figureMessages {
		return nil
	}
	last := len(r.msgs) - 1
	if r.policy == natsio.AckExplicit {
		for _, m := range r.msgs[:last] {
			if err := m.Ack(); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := r.msgs[last].DoubleAck(ctx)
	r.msgs = r.msgs[:0]
	return err
}

func drainConsume(js jetstream.JetStream, consumer string, policy natsio.AckPolicy) error {
	c, err := js.Consumer(context.Background(), "ORDERS", consumer)
	if err != nil {
		return err
	}
	batch := rawBatch{policy: policy}
	done := make(chan error, 1)
	cc, err := c.Consume(func(m jetstream.Msg) {
		if err := batch.take(m); err != nil {
			done <- err
		} else if batch.total == figureMessages {
			done <- nil
		}
	}, jetstream.PullMaxMessages(1000), jetstream.PullExpiry(2*time.Second), jetstream.PullHeartbeat(500*time.Millisecond))
	if err != nil {
		return err
	}
	defer cc.Stop()
	return <-done
}

func drainFetch(js jetstream.JetStream, consumer string, policy natsio.AckPolicy) error {
	c, err := js.Consumer(context.Background(), "ORDERS", consumer)
	if err != nil {
		return err
	}
	batch := rawBatch{policy: policy}
	for batch.total < figureMessages {
		got, err := c.Fetch(1000)
		if err != nil {
			return err
		}
		for m := range got.Messages() {
			if err := batch.take(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// drainSource is a bare loop of Poll and Settle, as the engine's.
func drainSource(js jetstream.JetStream, consumer string, policy natsio.AckPolicy) error {
	src := natsio.NewSource(js, natsio.Config{Stream: "ORDERS", Consumer: consumer, AckPolicy: policy})
	wake := make(chan struct{}, 1)
	r, err := src.Open(context.Background(), source.Options{
		Count: 1, Logger: slog.New(slog.DiscardHandler),
		Wake: func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		return err
	}
	defer r.Close(context.Background())
	buf, list, total := make([]source.Message, 256), []source.Settlement(nil), 0
	for total < figureMessages {
		p, err := r.Poll(buf)
		if err != nil {
			return err
		}
		if p.N == 0 {
			<-wake
			continue
		}
		for i := range buf[:p.N] {
			m := &buf[i]
			list = append(list, source.Settlement{Ref: uint64(m.Position), Position: m.Position, Handle: m.Handle})
		}
		if total += p.N; len(list) < settleEach && total < figureMessages {
			continue
		}
		if f := r.Settle(context.Background(), list); len(f) > 0 {
			return f[0].Err
		}
		list = list[:0]
	}
	return nil
}

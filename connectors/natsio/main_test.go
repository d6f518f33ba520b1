package natsio_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/source"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

// serverDir has the test binary run as a NATS server, for measurements that must
// not count the server's work.
const serverDir = "SLUICE_NATSIO_SERVER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverDir); dir != "" {
		serve(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func serve(dir string) {
	s, err := natsemu.Open(dir, natsemu.TCP())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone
	s.Shutdown()
}

// rig is a server, a client and a stream ORDERS on orders.>.
type rig struct {
	t      testing.TB
	server *natsemu.Server
	js     jetstream.JetStream
}

func newRig(t testing.TB, opts ...natsemu.Option) *rig {
	t.Helper()
	r := &rig{t: t, server: natsemu.Start(t, opts...)}
	r.js = r.server.Client(t)
	r.createStream()
	return r
}

func (r *rig) createStream() {
	r.t.Helper()
	_, err := r.js.CreateStream(r.ctx(), jetstream.StreamConfig{Name: "ORDERS", Subjects: []string{"orders.>"}})
	r.must(err)
}

func (r *rig) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// publish stores n messages "0".."n-1" on orders.a.
func (r *rig) publish(n int) {
	r.t.Helper()
	for i := range n {
		_, err := r.js.Publish(r.ctx(), "orders.a", fmt.Append(nil, i))
		r.must(err)
	}
}

// fill stores n messages quickly.
func (r *rig) fill(n int) {
	r.t.Helper()
	js, err := jetstream.New(r.js.Conn(), jetstream.WithPublishAsyncMaxPending(n))
	r.must(err)
	defer js.CleanupPublisher()
	for i := range n {
		_, err := js.PublishAsync("orders.a", fmt.Append(nil, i))
		r.must(err)
	}
	<-js.PublishAsyncComplete()
}

func (r *rig) info(consumer string) *jetstream.ConsumerInfo {
	r.t.Helper()
	c, err := r.js.Consumer(r.ctx(), "ORDERS", consumer)
	r.must(err)
	return c.CachedInfo()
}

// tap is an open reader with what it has handed over.
type tap struct {
	t    testing.TB
	src  *natsio.Source
	r    source.Reader
	wake chan struct{}
	last source.Polled
	// errs are the errors of Poll, starts and resolved what it announced.
	errs     []error
	starts   []source.Start
	resolved []source.Channel
	buf      []source.Message
}

func config() natsio.Config {
	return natsio.Config{Stream: "ORDERS", Consumer: "worker"}
}

func options() source.Options {
	return source.Options{Count: 1, Wake: func() {}, Logger: slog.New(slog.DiscardHandler)}
}

// open opens a reader and closes it when the test ends.
func (r *rig) open(cfg natsio.Config) *tap {
	r.t.Helper()
	return r.openSource(natsio.NewSource(r.js, cfg), options())
}

func (r *rig) openSource(src *natsio.Source, o source.Options) *tap {
	r.t.Helper()
	p := &tap{t: r.t, src: src, wake: make(chan struct{}, 1), buf: make([]source.Message, 256)}
	o.Wake = func() {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	var err error
	p.r, err = src.Open(r.ctx(), o)
	r.must(err)
	r.t.Cleanup(p.close)
	return p
}

func (p *tap) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := p.r.Close(ctx); err != nil {
		p.t.Error(err)
	}
}

// poll polls once.
func (p *tap) poll() []source.Message {
	got, err := p.r.Poll(p.buf)
	if err != nil {
		p.errs = append(p.errs, err)
		return nil
	}
	p.last = got
	p.starts = append(p.starts, got.Started...)
	p.resolved = append(p.resolved, got.Resolved...)
	out := make([]source.Message, got.N)
	copy(out, p.buf)
	return out
}

// until polls as the engine does, again at once after messages, else when woken,
// until done says so; it fails after limit.
func (p *tap) until(limit time.Duration, what string, done func(fresh []source.Message) bool) {
	p.t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		fresh := p.poll()
		if done(fresh) {
			return
		}
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-p.wake:
		case <-timer.C:
			p.t.Fatalf("%s: not within %v (errors %v)", what, limit, p.errs)
		}
	}
}

// read returns n messages.
func (p *tap) read(n int) []source.Message {
	p.t.Helper()
	var all []source.Message
	p.until(20*time.Second, fmt.Sprintf("read %d messages", n), func(fresh []source.Message) bool {
		all = append(all, fresh...)
		return len(all) >= n
	})
	return all
}

func settlements(v source.Verdict, msgs ...source.Message) []source.Settlement {
	list := make([]source.Settlement, len(msgs))
	for i, m := range msgs {
		list[i] = source.Settlement{Ref: uint64(i) + 1, Position: m.Position, Verdict: v, Handle: m.Handle}
	}
	return list
}

func (p *tap) settle(list []source.Settlement) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if f := p.r.Settle(ctx, list); len(f) > 0 {
		p.t.Fatalf("settle: %d failures, first: %v", len(f), f[0].Err)
	}
}

func (p *tap) ack(msgs ...source.Message) {
	p.t.Helper()
	p.settle(settlements(source.Ack, msgs...))
}

func positions(msgs []source.Message) []source.Position {
	out := make([]source.Position, len(msgs))
	for i, m := range msgs {
		out[i] = m.Position
	}
	return out
}

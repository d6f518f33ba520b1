package natsio_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

func TestMessagesComeWithAllThatIsKnown(t *testing.T) {
	for name, opts := range map[string][]natsemu.Option{"in process": nil, "tcp": {natsemu.TCP()}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, opts...)
			m := nats.NewMsg("orders.eu")
			m.Data = []byte("body")
			m.Header.Add("Trace", "a")
			m.Header.Add("Trace", "b")
			before := time.Now()
			_, err := r.js.PublishMsg(r.ctx(), m)
			r.must(err)

			p := r.open(config())
			got := p.read(1)[0]
			if string(got.Data) != "body" || got.Subject != "orders.eu" || got.Position != 1 || got.Attempt != 1 || got.Channel != 0 {
				t.Errorf("%+v", got)
			}
			if fmt.Sprint(got.Attributes["Trace"]) != "[a b]" || got.Attributes.Get("Trace") != "a" {
				t.Errorf("attributes %v", got.Attributes)
			}
			if got.Time < event.At(before)-1 || got.Time > event.At(time.Now()) || got.Received.Before(before.Add(-time.Second)) {
				t.Errorf("stored %v, received %v, published after %v", got.Time, got.Received, before)
			}
			if len(p.starts) != 1 || p.starts[0] != (source.Start{Name: "ORDERS/worker"}) {
				t.Errorf("started %+v", p.starts)
			}
		})
	}
}

// First deliveries come in the order of the stream, however they are polled.
func TestOrder(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.FetchMessages = 7
	p := r.open(cfg)
	p.buf = p.buf[:5]
	go r.publish(500)
	for i, m := range p.read(500) {
		if int(m.Position) != i+1 || string(m.Data) != fmt.Sprint(i) {
			t.Fatalf("message %d: position %d, data %q", i, m.Position, m.Data)
		}
	}
}

func TestQuotaBoundsWhatIsUnsettled(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.MaxAckPending, cfg.FetchMessages = 10, 4
	r.publish(25)
	p := r.open(cfg)
	first := p.read(10)
	time.Sleep(50 * time.Millisecond)
	if more := p.poll(); len(more) > 0 {
		t.Fatalf("%d beyond the quota", len(more))
	}
	p.ack(first...)
	p.ack(p.read(10)...)
	p.ack(p.read(5)...)
}

func TestSubjectsAndStartPositions(t *testing.T) {
	r := newRig(t)
	for i := range 10 {
		_, err := r.js.Publish(r.ctx(), fmt.Sprintf("orders.%c", 'a'+i%5), nil)
		r.must(err)
	}
	for name, c := range map[string]struct {
		change func(*natsio.Config)
		want   []source.Position
	}{
		"one subject":  {func(c *natsio.Config) { c.Subjects = []string{"orders.b"} }, []source.Position{2, 7}},
		"two subjects": {func(c *natsio.Config) { c.Subjects = []string{"orders.a", "orders.d"} }, []source.Position{1, 4, 6, 9}},
		"a sequence":   {func(c *natsio.Config) { c.StartSequence = 9 }, []source.Position{9, 10}},
		"last":         {func(c *natsio.Config) { c.Deliver = jetstream.DeliverLastPolicy }, []source.Position{10}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Consumer = "c" + fmt.Sprint(len(name))
			cfg.StopWhenCaughtUp = true
			c.change(&cfg)
			p := r.open(cfg)
			var got []source.Message
			p.until(10*time.Second, "finished", func(fresh []source.Message) bool {
				got = append(got, fresh...)
				return p.last.Finished
			})
			if fmt.Sprint(positions(got)) != fmt.Sprint(c.want) {
				t.Errorf("read %v, want %v", positions(got), c.want)
			}
		})
	}
}

// A message larger than one request's bytes is delivered all the same.
func TestLargeMessagesPassASmallRequest(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.FetchBytes = 1000
	p := r.open(cfg)
	for i := range 20 {
		_, err := r.js.Publish(r.ctx(), "orders.a", bytes.Repeat([]byte("x"), 100+i*1000))
		r.must(err)
	}
	p.ack(p.read(20)...)
}

// D1: the client's own Consume and Messages can stall for 30 s with messages waiting
// when the server is in process. Many short drains, each far quicker than that.
func TestNoStallInProcess(t *testing.T) {
	r := newRig(t)
	r.fill(2000)
	drains := 60
	if testing.Short() {
		drains = 10
	}
	for i := range drains {
		cfg := config()
		cfg.Consumer = fmt.Sprint("drain", i)
		cfg.FetchMessages = 1 + i*37%500
		p := r.open(cfg)
		n := 0
		p.until(4*time.Second, "drain", func(fresh []source.Message) bool {
			n += len(fresh)
			return n >= 2000
		})
		p.close()
	}
}

// Evidence of idleness comes from the broker: after the last message, and again
// while nothing comes; never with a backlog (G74).
func TestCaughtUp(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.InfoEvery = 20 * time.Millisecond
	r.publish(10)
	p := r.open(cfg)
	p.buf = p.buf[:4]
	p.until(5*time.Second, "first", func(fresh []source.Message) bool { return len(fresh) > 0 })
	if p.last.CaughtUp {
		t.Error("caught up after the first poll of ten messages")
	}
	var at []event.Time
	p.until(5*time.Second, "caught up", func([]source.Message) bool {
		if p.last.CaughtUp {
			at = append(at, p.last.CaughtUpAt)
		}
		return len(at) == 3
	})
	if at[0] >= at[1] || at[1] >= at[2] || at[2] > event.At(time.Now()) {
		t.Errorf("caught up at %v", at)
	}
}

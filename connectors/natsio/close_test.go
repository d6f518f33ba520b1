package natsio_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// G57: what arrives while the reader closes is given back with no delay. Deliveries
// race with Close many times; each time the broker counts as unsettled exactly what
// was handed over.
func TestCloseGivesBackWhatWasNotPolled(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	r := newRig(t)
	stop := make(chan struct{})
	var publisher sync.WaitGroup
	publisher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = r.js.Conn().Publish("orders.a", []byte("x"))
				time.Sleep(50 * time.Microsecond)
			}
		}
	})
	defer publisher.Wait()
	defer close(stop)
	cfg := config()
	cfg.FetchMessages = 20
	for i := range rounds {
		p := r.open(cfg)
		p.buf = p.buf[:1+i%7]
		var taken []source.Message
		p.until(10*time.Second, "some", func(fresh []source.Message) bool {
			taken = append(taken, fresh...)
			return len(taken) > i%5
		})
		p.close()
		distinct := map[source.Position]bool{}
		for _, m := range taken {
			distinct[m.Position] = true
		}
		info := r.info("worker")
		// What was given back is pending until it is delivered again, but due at once;
		// so count what the next reader is told to expect, then settle by handle.
		if info.NumAckPending < len(distinct) {
			t.Fatalf("round %d: %d unsettled, %d handed over", i, info.NumAckPending, len(distinct))
		}
		for _, m := range taken {
			r.must(r.js.Conn().Publish(m.Handle.(*nats.Msg).Reply, []byte("+ACK")))
		}
	}
	// Nothing is stuck behind an AckWait of 30 s: all comes at once.
	p := r.open(cfg)
	info := r.info("worker")
	p.until(10*time.Second, "the rest", func(fresh []source.Message) bool {
		if len(fresh) > 0 {
			p.ack(fresh...)
		}
		i := r.info("worker")
		return i.AckFloor.Stream >= info.Delivered.Stream
	})
}

func TestCloseIsIdempotentAndTimely(t *testing.T) {
	r := newRig(t)
	p := r.open(config())
	r.publish(10)
	m := p.read(10)
	var all sync.WaitGroup
	for range 4 {
		all.Go(p.close)
	}
	all.Wait()
	p.close()
	if _, err := p.r.Poll(p.buf); fault.Of(err) != fault.Closed {
		t.Errorf("poll: %v", err)
	}
	if f := p.r.Settle(r.ctx(), settlements(source.Ack, m...)); len(f) != 10 || fault.Of(f[0].Err) != fault.Closed {
		t.Errorf("settle: %v", f)
	}
	if i := r.info("worker"); i.NumAckPending != 10 {
		t.Errorf("%d unsettled: what was handed over is not given back by Close", i.NumAckPending)
	}
}

// The connection takes no byte; Close returns with its context all the same.
func TestCloseOfAStuckConnection(t *testing.T) {
	r := newRig(t)
	p := r.open(config())
	r.publish(10)
	p.read(1)
	r.server.Freeze()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := p.r.Close(ctx); err == nil {
		t.Error("no error")
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	r.server.Thaw()
	p.close()
}

// The broker is down; nothing can be given back, and Close does not wait for it.
func TestCloseWhileDisconnected(t *testing.T) {
	r := newRig(t)
	p := r.open(config())
	r.publish(1)
	p.read(1)
	r.server.Shutdown()
	p.until(5*time.Second, "disconnected", func([]source.Message) bool { return len(p.errs) > 0 })
	began := time.Now()
	p.close()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

package natsio_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/source"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

// G54: a lease that is extended outlives its AckWait many times over; the message is
// delivered once.
func TestExtendKeepsALease(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.AckWait = 200 * time.Millisecond
	p := r.open(cfg)
	r.publish(3)
	m := p.read(3)
	list := settlements(source.Ack, m...)
	for range 5 * 4 { // five times AckWait
		time.Sleep(cfg.AckWait / 4)
		if f := p.r.Extend(r.ctx(), list); len(f) > 0 {
			t.Fatal(f[0].Err)
		}
	}
	if more := p.poll(); len(more) > 0 {
		t.Errorf("delivered again: position %d, attempt %d", more[0].Position, more[0].Attempt)
	}
	p.settle(list)
	if i := r.info("worker"); i.NumAckPending != 0 || i.Delivered.Consumer != 3 {
		t.Errorf("%d deliveries, %d pending", i.Delivered.Consumer, i.NumAckPending)
	}
	if s := p.src.Stats(); s.Extended != 3*5*4 || s.Redelivered != 0 {
		t.Errorf("%+v", s)
	}
}

// G17: the lease of what waits in the queue is kept as well. One message is worked
// on at a time, two seconds each, 100 are prefetched, AckWait is ten seconds.
// G25: and it costs no smaller fetches.
//
// Fake time, in a process of its own: the client keeps timers for later, and those
// of a bubble must not be used outside.
func TestQueuedLeasesAreKept(t *testing.T) {
	if os.Getenv(fakeTime) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestQueuedLeasesAreKept$")
		cmd.Env = append(os.Environ(), fakeTime+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	ats.Register() // its ticker must not be born in the bubble
	defer ats.Unregister()
	synctest.Test(t, func(t *testing.T) {
		server, err := natsemu.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		js := server.Client(t)
		readSlowly(&rig{t: t, server: server, js: js})
		js.Conn().Close()
		server.Shutdown()
	})
}

// fakeTime marks the child process.
const fakeTime = "SLUICE_NATSIO_FAKE_TIME"

func readSlowly(r *rig) {
	r.createStream()
	r.publish(100)
	cfg := config()
	cfg.AckWait = 10 * time.Second
	p := r.open(cfg)
	p.buf = p.buf[:1]
	for i := range 100 {
		m := p.readOne()
		if int(m.Position) != i+1 || m.Attempt != 1 {
			r.t.Fatalf("message %d: position %d, attempt %d", i, m.Position, m.Attempt)
		}
		if age := time.Since(m.Received); age > cfg.AckWait/2 {
			r.t.Fatalf("message %d: its lease is %v old", i, age)
		}
		time.Sleep(2 * time.Second)
		p.ack(m)
	}
	if i := r.info("worker"); i.Delivered.Consumer != 100 {
		r.t.Errorf("%d deliveries of 100 messages", i.Delivered.Consumer)
	}
	p.close()
}

// readOne returns the next message.
func (p *tap) readOne() source.Message {
	p.t.Helper()
	for {
		if m := p.poll(); len(m) > 0 {
			return m[0]
		}
		<-p.wake
	}
}

// A lease that was lost comes back as a redelivery with its attempt.
func TestLostLeaseComesAgain(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.AckWait = 100 * time.Millisecond
	p := r.open(cfg)
	r.publish(1)
	for want := 1; want <= 3; want++ {
		if m := p.read(1)[0]; m.Attempt != want || m.Position != 1 {
			t.Fatalf("attempt %d, want %d", m.Attempt, want)
		}
	}
}

// An ordinary NATS consumer beside this one: what is read here is not read there.
func TestReplicasShareTheConsumer(t *testing.T) {
	r := newRig(t)
	r.publish(1)
	cfg := config()
	cfg.FetchMessages = 10
	p := r.open(cfg)
	nc, err := r.server.Connect(nats.Name("replica"))
	r.must(err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	r.must(err)
	q := r.openSource(natsio.NewSource(js, cfg), options())
	seen := map[source.Position]int{}
	first := p.read(1)
	seen[first[0].Position]++
	r.publish(199)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for len(seen) < 200 && ctx.Err() == nil {
		for _, x := range []*tap{p, q} {
			m := x.poll()
			for _, m := range m {
				seen[m.Position]++
			}
			if len(m) > 0 {
				x.ack(m...)
			}
		}
	}
	for pos, n := range seen {
		if n != 1 {
			t.Errorf("position %d read %d times", pos, n)
		}
	}
	if len(seen) != 200 || p.src.Stats().Delivered == 0 || q.src.Stats().Delivered == 0 {
		t.Errorf("%d read: %d and %d", len(seen), p.src.Stats().Delivered, q.src.Stats().Delivered)
	}
}

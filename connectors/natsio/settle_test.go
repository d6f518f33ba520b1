package natsio_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

// One confirmation at the end of pipelined acks confirms them all: when Settle
// returns the broker counts none as pending. (D: not proven before.)
func TestOneConfirmationIsABarrier(t *testing.T) {
	for _, opts := range [][]natsemu.Option{nil, {natsemu.TCP()}} {
		r := newRig(t, opts...)
		p := r.open(config())
		for range 20 {
			r.publish(300)
			p.ack(p.read(300)...)
			if i := r.info("worker"); i.NumAckPending != 0 {
				t.Fatalf("%d acks on their way after Settle returned", i.NumAckPending)
			}
		}
	}
}

func TestConfirmEach(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.Confirm = natsio.ConfirmEach
	p := r.open(cfg)
	r.publish(50)
	list := settlements(source.Ack, p.read(50)...)
	list[3].Handle = "not a delivery"
	f := p.r.Settle(r.ctx(), list)
	if len(f) != 1 || f[0].Ref != list[3].Ref || fault.Of(f[0].Err) != fault.Bug {
		t.Errorf("%v", f)
	}
	if i := r.info("worker"); i.NumAckPending != 1 {
		t.Errorf("%d pending", i.NumAckPending)
	}
}

func TestVerdicts(t *testing.T) {
	r := newRig(t)
	advisories := make(chan string, 1)
	sub, err := r.js.Conn().SubscribeSync("$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.ORDERS.worker")
	r.must(err)
	p := r.open(config())
	r.publish(4)
	m := p.read(4)
	const delay = 300 * time.Millisecond
	list := settlements(source.Ack, m...)
	list[1].Verdict = source.Nack
	list[2].Verdict, list[2].Delay = source.Nack, delay
	list[3].Verdict, list[3].Reason = source.Terminate, "no such customer"
	began := time.Now()
	p.settle(list)

	again := p.read(1)[0]
	if again.Position != 2 || again.Attempt != 2 {
		t.Errorf("position %d, attempt %d", again.Position, again.Attempt)
	}
	later := p.read(1)[0]
	if took := time.Since(began); later.Position != 3 || took < delay-20*time.Millisecond {
		t.Errorf("position %d after %v", later.Position, took)
	}
	p.ack(again, later)
	if i := r.info("worker"); i.NumAckPending != 0 || i.NumPending != 0 {
		t.Errorf("%+v", i)
	}
	go func() {
		a, err := sub.NextMsg(5 * time.Second)
		if err != nil {
			advisories <- err.Error()
			return
		}
		advisories <- string(a.Data)
	}()
	if a := <-advisories; !strings.Contains(a, "no such customer") {
		t.Errorf("advisory %q", a)
	}
	s := p.src.Stats()
	if s.Delivered != 6 || s.Redelivered != 2 || s.Acked != 3 || s.Nacked != 2 || s.Terminated != 1 || s.SettleFailed != 0 {
		t.Errorf("%+v", s)
	}
}

// G32: one ack per message.
func TestAcksEqualMessages(t *testing.T) {
	r := newRig(t)
	acks, err := r.js.Conn().SubscribeSync("$JS.ACK.ORDERS.worker.>")
	r.must(err)
	p := r.open(config())
	r.publish(100)
	p.ack(p.read(100)...)
	r.must(r.js.Conn().Flush())
	if n, _, _ := acks.Pending(); n != 100 {
		t.Errorf("%d acks of 100 messages", n)
	}
	if s := p.src.Stats(); s.Acked != 100 || s.Redelivered != 0 || s.Extended != 0 {
		t.Errorf("%+v", s)
	}
}

func TestAckAll(t *testing.T) {
	r := newRig(t)
	acks, err := r.js.Conn().SubscribeSync("$JS.ACK.ORDERS.worker.>")
	r.must(err)
	cfg := config()
	cfg.AckPolicy = natsio.AckAll
	p := r.open(cfg)
	r.publish(20)
	m := p.read(20)
	p.ack(m[4], m[9], m[7])
	if i := r.info("worker"); i.AckFloor.Stream != 10 || i.NumAckPending != 10 {
		t.Errorf("floor %d, pending %d", i.AckFloor.Stream, i.NumAckPending)
	}
	if n, _, _ := acks.Pending(); n != 1 {
		t.Errorf("%d acks for one call", n)
	}
	f := p.r.Settle(r.ctx(), []source.Settlement{
		{Ref: 1, Position: 11, Handle: m[10].Handle},
		{Ref: 2, Position: 12, Handle: m[11].Handle, Verdict: source.Nack},
		{Ref: 3, Position: 13, Handle: m[12].Handle, Verdict: source.Terminate},
	})
	if len(f) != 2 || f[0].Ref != 2 || f[1].Ref != 3 || fault.Of(f[0].Err) != fault.Permanent {
		t.Errorf("%v", f)
	}
	if i := r.info("worker"); i.AckFloor.Stream != 11 {
		t.Errorf("floor %d", i.AckFloor.Stream)
	}
}

// G30: what the broker did not confirm is reported, by delivery and in words, and
// counted; the same settlement works later.
func TestFailuresNameTheDelivery(t *testing.T) {
	r := newRig(t, natsemu.TCP())
	cfg := config()
	cfg.ConfirmWait = 100 * time.Millisecond
	p := r.open(cfg)
	r.publish(3)
	list := settlements(source.Ack, p.read(3)...)

	r.server.Freeze()
	f := p.r.Settle(r.ctx(), list)
	r.server.Thaw()
	if len(f) != 3 {
		t.Fatalf("%d failures", len(f))
	}
	for i := range f {
		if want := fmt.Sprintf("settle ORDERS/worker %d:", i+1); f[i].Ref != list[i].Ref ||
			fault.Of(f[i].Err) != fault.Transient || !strings.Contains(f[i].Err.Error(), want) {
			t.Errorf("%d: %v (%v)", f[i].Ref, f[i].Err, fault.Of(f[i].Err))
		}
	}
	if s := p.src.Stats(); s.SettleFailed != 3 || s.Acked != 0 {
		t.Errorf("%+v", s)
	}
	p.settle(list)
}

func TestSettleGivesUpWithItsContext(t *testing.T) {
	r := newRig(t) // the in-process pipe takes no byte while frozen
	p := r.open(config())
	r.publish(2)
	list := settlements(source.Ack, p.read(2)...)
	r.server.Freeze()
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		began := time.Now()
		if f := p.r.Settle(ctx, list); len(f) != 2 {
			t.Errorf("%v", f)
		}
		if f := p.r.Extend(ctx, list); len(f) != 2 {
			t.Errorf("%v", f)
		}
		cancel()
		if took := time.Since(began); took > time.Second {
			t.Errorf("took %v", took)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if f := p.r.Settle(ctx, list); len(f) != 2 || fault.Of(f[0].Err) != fault.Closed {
		t.Errorf("%v", f)
	}
	r.server.Thaw()
	p.settle(list)
}

// D13: acks carry no fencing. The ack of a delivery that lost its lease settles the
// message all the same.
func TestStaleAckSettles(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.AckWait = 100 * time.Millisecond
	p := r.open(cfg)
	r.publish(1)
	first := p.read(1)[0]
	if again := p.read(1)[0]; again.Attempt != 2 {
		t.Fatalf("attempt %d", again.Attempt)
	}
	p.ack(first)
	if i := r.info("worker"); i.NumAckPending != 0 {
		t.Errorf("%d pending", i.NumAckPending)
	}
}

// The consumer is gone: what it had delivered is lost, and said to be.
func TestSettleAfterConsumerIsDeleted(t *testing.T) {
	r := newRig(t)
	p := r.open(config())
	r.publish(2)
	list := settlements(source.Ack, p.read(2)...)
	r.must(r.js.DeleteConsumer(r.ctx(), "ORDERS", "worker"))
	for _, f := range [][]source.Failure{p.r.Settle(r.ctx(), list), p.r.Extend(r.ctx(), list)} {
		if len(f) != 2 || fault.Of(f[0].Err) != fault.Lost || !strings.Contains(f[0].Err.Error(), "deleted") {
			t.Errorf("%v", f)
		}
	}
}

func TestOpenFailuresHaveAClass(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.Stream = "NONE"
	_, err := natsio.NewSource(r.js, cfg).Open(r.ctx(), options())
	if fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), "NONE/worker") || !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("no stream: %v", err)
	}
	cfg = config()
	cfg.Existing = true
	if _, err = natsio.NewSource(r.js, cfg).Open(r.ctx(), options()); fault.Of(err) != fault.Permanent {
		t.Errorf("no consumer: %v", err)
	}
	r.open(config())
	cfg.AckPolicy, cfg.AckWait = natsio.AckAll, time.Minute
	_, err = natsio.NewSource(r.js, cfg).Open(r.ctx(), options())
	if fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), "AckPolicy") || !strings.Contains(err.Error(), "AckWait") {
		t.Errorf("another consumer: %v", err)
	}
	cfg.Existing = false
	if _, err = natsio.NewSource(r.js, cfg).Open(r.ctx(), options()); fault.Of(err) != fault.Permanent {
		t.Errorf("a policy that cannot be changed: %v", err)
	}
	r.server.Shutdown()
	for r.js.Conn().IsConnected() {
		time.Sleep(time.Millisecond)
	}
	_, err = natsio.NewSource(r.js, config()).Open(r.ctx(), options())
	if fault.Of(err) != fault.Transient || !strings.Contains(err.Error(), "not connected") {
		t.Errorf("broker down: %v", err)
	}
	r.js.Conn().Close()
	if _, err = natsio.NewSource(r.js, config()).Open(r.ctx(), options()); fault.Of(err) != fault.Permanent {
		t.Errorf("closed: %v", err)
	}
}

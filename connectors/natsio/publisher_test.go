package natsio_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/fault"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
	"github.com/gosluice/sluice/sinks"
)

func outMessages(n int) []sinks.OutMessage {
	msgs := make([]sinks.OutMessage, n)
	for i := range msgs {
		msgs[i] = sinks.OutMessage{ID: fmt.Sprint("id-", i), Data: fmt.Append(nil, i)}
	}
	return msgs
}

func TestPublish(t *testing.T) {
	r := newRig(t)
	p := natsio.NewPublisher(r.js, natsio.PublisherConfig{Subject: "orders.out", Stream: "ORDERS", MaxPending: 7})
	msgs := outMessages(100)
	msgs[3].Attributes = map[string]string{"kind": "file", sinks.AttributeID: "id-3"}
	msgs[4].Subject = "orders.other"
	done, failures := p.Publish(r.ctx(), msgs)
	if len(done) != 100 || len(failures) != 0 {
		t.Fatalf("%d done, failures %v", len(done), failures)
	}
	if done[3] != (sinks.Published{ID: "id-3", MessageID: "ORDERS/4"}) {
		t.Errorf("%+v", done[3])
	}
	s, err := r.js.Stream(r.ctx(), "ORDERS")
	r.must(err)
	for i := range msgs { // in order
		m, err := s.GetMsg(r.ctx(), uint64(i+1))
		r.must(err)
		if string(m.Data) != fmt.Sprint(i) || m.Header.Get(jetstream.MsgIDHeader) != fmt.Sprint("id-", i) {
			t.Errorf("message %d: %q %v", i, m.Data, m.Header)
		}
		if i == 3 && (m.Header.Get("kind") != "file" || m.Header.Get(sinks.AttributeID) != "id-3") {
			t.Errorf("headers %v", m.Header)
		}
		if i == 4 && m.Subject != "orders.other" {
			t.Errorf("subject %s", m.Subject)
		}
	}
	done, failures = p.Publish(r.ctx(), msgs)
	if len(done) != 100 || len(failures) != 0 || !done[0].Duplicate || !done[99].Duplicate || done[3].MessageID != "ORDERS/4" {
		t.Errorf("again: %d done, %v, %+v", len(done), failures, done[0])
	}
	if n := s.CachedInfo().State.Msgs; n != 100 || !p.Deduplicates() {
		t.Errorf("%d stored", n)
	}
}

// G7: results address messages by ID, failures are told apart.
func TestPublishFailures(t *testing.T) {
	r := newRig(t)
	p := natsio.NewPublisher(r.js, natsio.PublisherConfig{Subject: "orders.out"})
	msgs := outMessages(7)
	msgs[1].Data = bytes.Repeat([]byte("x"), 1<<20+1)
	msgs[2].Attributes = map[string]string{"no header": "x"}
	msgs[3].Attributes = map[string]string{"ok": "two\r\nlines"}
	msgs[4].Subject = "elsewhere"
	msgs[5].Subject = "orders. x"
	done, failures := p.Publish(r.ctx(), msgs)
	if len(done) != 2 || done[0].ID != "id-0" || done[1].ID != "id-6" {
		t.Errorf("%+v", done)
	}
	want := map[string]fault.Class{
		"id-1": fault.Permanent, "id-2": fault.Permanent, "id-3": fault.Permanent,
		"id-4": fault.Transient, "id-5": fault.Permanent,
	}
	for _, f := range failures {
		if c, ok := want[f.ID]; !ok || fault.Of(f.Err) != c || !strings.Contains(f.Err.Error(), f.ID) {
			t.Errorf("%s: %v (%v)", f.ID, f.Err, fault.Of(f.Err))
		}
		delete(want, f.ID)
	}
	if len(want) > 0 {
		t.Errorf("no failure for %v", want)
	}
	other := natsio.NewPublisher(r.js, natsio.PublisherConfig{Subject: "orders.out", Stream: "OTHER"})
	if _, f := other.Publish(r.ctx(), outMessages(1)); len(f) != 1 || fault.Of(f[0].Err) != fault.Permanent {
		t.Errorf("another stream: %v", f)
	}
	none := natsio.NewPublisher(r.js, natsio.PublisherConfig{})
	if _, f := none.Publish(r.ctx(), outMessages(1)); len(f) != 1 || fault.Of(f[0].Err) != fault.Permanent {
		t.Errorf("no subject: %v", f)
	}
}

// G12: what timed out is ambiguous; retried under its IDs each is stored once,
// although the broker may have got the first attempt as well.
func TestPublishTimesOut(t *testing.T) {
	for name, opts := range map[string][]natsemu.Option{"in process": nil, "tcp": {natsemu.TCP()}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, opts...)
			p := natsio.NewPublisher(r.js, natsio.PublisherConfig{Subject: "orders.out"})
			msgs := outMessages(50)
			r.server.Freeze()
			ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			done, failures := p.Publish(ctx, msgs)
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %v", took)
			}
			r.server.Thaw()
			if len(done) != 0 || len(failures) != 50 {
				t.Fatalf("%d done, %d failures", len(done), len(failures))
			}
			// In process nothing left the client: the pipe takes no byte.
			if c := fault.Of(failures[0].Err); c != fault.Ambiguous && !(opts == nil && c == fault.Transient) {
				t.Errorf("%v: %v", c, failures[0].Err)
			}
			r.published(p, msgs)
		})
	}
}

// published retries until all are confirmed, and checks that each is stored once.
func (r *rig) published(p *natsio.Publisher, msgs []sinks.OutMessage) {
	r.t.Helper()
	confirmed := 0
	for end := time.Now().Add(10 * time.Second); confirmed < len(msgs) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		done, _ := p.Publish(r.ctx(), msgs)
		confirmed = len(done)
	}
	time.Sleep(100 * time.Millisecond)
	s, err := r.js.Stream(r.ctx(), "ORDERS")
	r.must(err)
	if n := s.CachedInfo().State.Msgs; confirmed != len(msgs) || int(n) != len(msgs) {
		r.t.Errorf("%d confirmed, %d stored, of %d", confirmed, n, len(msgs))
	}
}

// The broker goes away in the middle of calls and comes back.
func TestPublishAcrossRestarts(t *testing.T) {
	r := newRig(t, natsemu.TCP())
	p := natsio.NewPublisher(r.js, natsio.PublisherConfig{Subject: "orders.out", ConfirmWait: 200 * time.Millisecond})
	msgs := outMessages(3000)
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for range 3 {
			time.Sleep(20 * time.Millisecond)
			r.server.Cut()
		}
		if err := r.server.Restart(); err != nil {
			t.Error(err)
		}
	}()
	for range 5 {
		done, failures := p.Publish(r.ctx(), msgs)
		if len(done)+len(failures) != len(msgs) {
			t.Fatalf("%d done, %d failures", len(done), len(failures))
		}
		time.Sleep(10 * time.Millisecond)
	}
	<-stop
	r.connected()
	r.published(p, msgs)

	r.server.Shutdown()
	for r.js.Conn().IsConnected() {
		time.Sleep(time.Millisecond)
	}
	if _, f := p.Publish(r.ctx(), msgs[:2]); len(f) != 2 || fault.Of(f[0].Err) != fault.Transient {
		t.Errorf("broker down: %v", f)
	}
	r.js.Conn().Close()
	if _, f := p.Publish(r.ctx(), msgs[:1]); len(f) != 1 || fault.Of(f[0].Err) != fault.Closed {
		t.Errorf("closed: %v", f)
	}
}

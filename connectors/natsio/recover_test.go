package natsio_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

// G55: the server restarts with its files; reading goes on by itself, and settling
// works again.
func TestServerRestart(t *testing.T) {
	for name, opts := range map[string][]natsemu.Option{"in process": nil, "tcp": {natsemu.TCP()}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, opts...)
			cfg := config()
			cfg.AckWait = 2 * time.Second
			p := r.open(cfg)
			r.publish(100)
			before := p.read(100)
			for range 2 {
				r.must(r.server.Restart())
				r.connected()
				r.publish(100)
				p.ack(p.read(100)...)
			}
			p.ack(before...)
			if i := r.info("worker"); i.NumAckPending != 0 || i.NumPending != 0 {
				t.Errorf("%d unsettled, %d pending", i.NumAckPending, i.NumPending)
			}
			if s := p.src.Stats(); s.Reconnects < 2 {
				t.Errorf("%+v", s)
			}
			for _, err := range p.errs {
				if fault.Of(err) != fault.Transient || !strings.Contains(err.Error(), "ORDERS/worker") {
					t.Errorf("%v: %v", fault.Of(err), err)
				}
			}
			if len(p.errs) == 0 {
				t.Error("nothing was said")
			}
		})
	}
}

// connected waits until the client is.
func (r *rig) connected() {
	r.t.Helper()
	for end := time.Now().Add(10 * time.Second); !r.js.Conn().IsConnected(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("not connected")
		}
	}
	if _, err := r.js.AccountInfo(r.ctx()); err != nil {
		r.t.Fatal(err)
	}
}

// The network swallows everything for a while, the connection stays: heartbeats are
// missed, and requests sent again when it is back.
func TestSilence(t *testing.T) {
	r := newRig(t, natsemu.TCP())
	cfg := config()
	cfg.Heartbeat = 100 * time.Millisecond
	p := r.open(cfg)
	r.publish(10)
	p.ack(p.read(10)...)
	p.until(5*time.Second, "armed", func(fresh []source.Message) bool { return len(fresh) == 0 })
	r.server.Freeze()
	p.until(5*time.Second, "silence noticed", func([]source.Message) bool { return len(p.errs) > 0 })
	r.server.Thaw()
	if err := p.errs[0]; fault.Of(err) != fault.Transient || !strings.Contains(err.Error(), "no heartbeat") {
		t.Error(err)
	}
	r.publish(10)
	p.ack(p.read(10)...)
	if s := p.src.Stats(); s.MissedHeartbeats == 0 {
		t.Errorf("%+v", s)
	}
}

// G50: a consumer or stream that is deleted ends the run, by name, within moments.
func TestDeletedIsFatal(t *testing.T) {
	for name, c := range map[string]struct {
		remove func(r *rig) error
		want   string
	}{
		"consumer": {func(r *rig) error { return r.js.DeleteConsumer(r.ctx(), "ORDERS", "worker") }, "consumer ORDERS/worker was deleted"},
		"stream":   {func(r *rig) error { return r.js.DeleteStream(r.ctx(), "ORDERS") }, "stream ORDERS was deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			cfg := config()
			cfg.InfoEvery = 50 * time.Millisecond
			p := r.open(cfg)
			r.publish(1)
			p.read(1)
			r.must(c.remove(r))
			var fatal error
			p.until(5*time.Second, "fatal", func([]source.Message) bool {
				for _, err := range p.errs {
					if fault.Of(err) == fault.Permanent {
						fatal = err
					}
				}
				return fatal != nil
			})
			if !strings.Contains(fatal.Error(), c.want) {
				t.Error(fatal)
			}
			if _, err := p.r.Poll(p.buf); fault.Of(err) != fault.Permanent {
				t.Errorf("the next poll: %v", err)
			}
		})
	}
}

func TestClosedConnectionIsFatal(t *testing.T) {
	r := newRig(t)
	p := r.open(config())
	r.publish(1)
	list := settlements(source.Ack, p.read(1)...)
	r.js.Conn().Close()
	p.until(5*time.Second, "fatal", func([]source.Message) bool { return len(p.errs) > 0 })
	if fault.Of(p.errs[0]) != fault.Permanent {
		t.Error(p.errs[0])
	}
	if f := p.r.Settle(r.ctx(), list); len(f) != 1 || fault.Of(f[0].Err) == fault.Lost || fault.Of(f[0].Err) == fault.Permanent {
		t.Errorf("%v", f)
	}
}

// Connections break again and again under load. An exclusive reader sees every
// message once in order, far quicker than AckWait would bring back what was lost in
// flight, and an acknowledgement of all up to a position loses none of it.
func TestCutsLoseNothing(t *testing.T) {
	for name, policy := range map[string]natsio.AckPolicy{"explicit": natsio.AckExplicit, "all": natsio.AckAll} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, natsemu.TCP())
			const n, cuts = 20_000, 12
			r.fill(n)
			cfg := config()
			cfg.AckPolicy, cfg.Exclusive = policy, true
			cfg.InfoEvery = 50 * time.Millisecond
			nc, err := r.server.Connect()
			r.must(err)
			defer nc.Close()
			js, err := jetstream.New(nc)
			r.must(err)
			p := r.openSource(natsio.NewSource(js, cfg), options())
			var next source.Position = 1
			done, again := 0, 0
			unsettled := map[source.Position]source.Message{}
			p.until(25*time.Second, "all read", func(fresh []source.Message) bool {
				for _, m := range fresh {
					if m.Position < next {
						again++
						if _, ok := unsettled[m.Position]; ok || policy == natsio.AckAll {
							unsettled[m.Position] = m
						}
						continue
					}
					if m.Position != next {
						t.Fatalf("position %d, want %d", m.Position, next)
					}
					next++
					unsettled[m.Position] = m
					if int(next)%(n/cuts) == 0 {
						r.server.Cut()
					}
				}
				if len(unsettled) >= 400 || next == n+1 {
					done += p.trySettle(unsettled)
				}
				return next == n+1
			})
			for end := time.Now().Add(15 * time.Second); len(unsettled) > 0 && time.Now().Before(end); {
				done += p.trySettle(unsettled)
				for _, m := range p.poll() {
					if _, ok := unsettled[m.Position]; ok {
						unsettled[m.Position] = m
					}
				}
			}
			i := r.info("worker")
			if i.NumPending != 0 || i.NumAckPending != 0 {
				t.Errorf("%d pending, %d unsettled", i.NumPending, i.NumAckPending)
			}
			t.Logf("read again %d, settled %d, %+v", again, done, p.src.Stats())
		})
	}
}

// trySettle acks what it can and leaves the rest.
func (p *tap) trySettle(unsettled map[source.Position]source.Message) int {
	var list []source.Settlement
	for pos, m := range unsettled {
		list = append(list, source.Settlement{Ref: uint64(pos), Position: pos, Handle: m.Handle})
	}
	failed := map[uint64]bool{}
	for _, f := range p.r.Settle(p.t.Context(), list) {
		failed[f.Ref] = true
	}
	for pos := range unsettled {
		if !failed[uint64(pos)] {
			delete(unsettled, pos)
		}
	}
	return len(list) - len(failed)
}

// What an earlier process left unsettled is announced, comes again, and is resolved:
// at once for an exclusive reader, after its AckWait for another.
func TestEarlierDeliveriesComeAgain(t *testing.T) {
	for name, exclusive := range map[string]bool{"exclusive": true, "shared": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			cfg := config()
			cfg.Exclusive = exclusive
			cfg.AckWait = 500 * time.Millisecond
			cfg.InfoEvery = 20 * time.Millisecond
			if exclusive {
				cfg.AckWait = time.Minute
			}
			r.publish(30)
			first := r.open(cfg)
			m := first.read(30)
			first.ack(m[0:10]...)
			first.ack(m[20:25]...)
			first.close()

			began := time.Now()
			p := r.open(cfg)
			r.publish(5)
			seen := map[source.Position]int{}
			p.until(10*time.Second, "resolved", func(fresh []source.Message) bool {
				for _, m := range fresh {
					seen[m.Position] = m.Attempt
				}
				return len(p.resolved) > 0 && len(seen) == 20
			})
			if exclusive && time.Since(began) > 5*time.Second {
				t.Errorf("took %v", time.Since(began))
			}
			if want := (source.Start{Name: "ORDERS/worker", Through: 30, Outstanding: 15}); p.starts[0] != want {
				t.Errorf("started %+v, want %+v", p.starts[0], want)
			}
			for _, m := range append(m[10:20:20], m[25:]...) {
				if seen[m.Position] < 2 {
					t.Errorf("position %d: attempt %d", m.Position, seen[m.Position])
				}
			}
		})
	}
}

// Others may settle what was outstanding: it is resolved by the broker's word.
func TestOutstandingIsResolvedByTheBroker(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.InfoEvery = 20 * time.Millisecond
	r.publish(5)
	first := r.open(cfg)
	m := first.read(5)
	second := r.open(cfg)
	second.until(5*time.Second, "started", func([]source.Message) bool { return len(second.starts) > 0 })
	if len(second.resolved) > 0 {
		t.Error("resolved too early")
	}
	first.ack(m...)
	second.until(5*time.Second, "resolved", func([]source.Message) bool { return len(second.resolved) > 0 })
}

// A source that opens again in the same process asks nothing back: the deliveries
// are its own.
func TestReopeningTakesNothingOver(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.Exclusive = true
	src := natsio.NewSource(r.js, cfg)
	r.publish(5)
	first := r.openSource(src, options())
	m := first.read(5)
	first.close()
	second := r.openSource(src, options())
	time.Sleep(100 * time.Millisecond)
	if again := second.poll(); len(again) > 0 {
		t.Errorf("%d delivered again", len(again))
	}
	second.ack(m...)
}

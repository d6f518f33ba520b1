package natsio_test

import (
	"testing"
	"time"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/source"
)

// drain acks all until the reader has finished, and returns what it read.
func (p *tap) drain() (all []source.Message) {
	p.t.Helper()
	p.until(10*time.Second, "finished", func(fresh []source.Message) bool {
		all = append(all, fresh...)
		if len(fresh) > 0 {
			p.ack(fresh...)
		}
		return p.last.Finished
	})
	return all
}

func TestStopAt(t *testing.T) {
	r := newRig(t)
	r.publish(20)
	cfg := config()
	cfg.StopAt = 12
	p := r.open(cfg)
	if got := p.drain(); len(got) != 12 || got[11].Position != 12 {
		t.Errorf("read %v", positions(got))
	}
	p.close()
	// Behind it nothing was taken; a second run has nothing to do.
	p = r.open(cfg)
	if got := p.drain(); len(got) != 0 {
		t.Errorf("read again %v", positions(got))
	}
	p.close()
	cfg.StopAt = 0
	cfg.StopWhenCaughtUp = true
	if got := r.open(cfg).drain(); len(got) != 8 {
		t.Errorf("then read %v", positions(got))
	}
}

// StopAt lies ahead: the reader waits for it. Or it is of another subject.
func TestStopAtWaitsForTheStream(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.StopAt, cfg.InfoEvery = 3, 20*time.Millisecond
	cfg.Subjects = []string{"orders.a"}
	r.publish(1)
	p := r.open(cfg)
	p.ack(p.read(1)...)
	time.Sleep(100 * time.Millisecond)
	if p.poll(); p.last.Finished {
		t.Fatal("finished too early")
	}
	for range 2 {
		_, err := r.js.Publish(r.ctx(), "orders.b", nil)
		r.must(err)
	}
	if got := p.drain(); len(got) != 0 {
		t.Errorf("read %v", positions(got))
	}
}

func TestStopWhenCaughtUp(t *testing.T) {
	r := newRig(t)
	cfg := config()
	cfg.StopWhenCaughtUp, cfg.InfoEvery = true, 20*time.Millisecond
	if got := r.open(cfg).drain(); len(got) != 0 {
		t.Errorf("of an empty stream: %v", positions(got))
	}
	r.publish(600)
	if got := r.open(cfg).drain(); len(got) != 600 {
		t.Errorf("read %d", len(got))
	}
}

// A bounded reader is not finished while what it gave back, or what an earlier run
// left, is still to come.
func TestBoundedWaitsForRedeliveries(t *testing.T) {
	for name, change := range map[string]func(*natsio.Config){
		"stop at":   func(c *natsio.Config) { c.StopAt = 10 },
		"caught up": func(c *natsio.Config) { c.StopWhenCaughtUp = true },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.publish(10)
			cfg := config()
			cfg.AckWait, cfg.InfoEvery = 300*time.Millisecond, 20*time.Millisecond
			first := r.open(cfg)
			m := first.read(10)
			first.ack(m[:7]...)
			first.close()

			change(&cfg)
			p := r.open(cfg)
			p.buf = p.buf[:1] // it must give back before the last is handed over
			var got []source.Message
			p.until(10*time.Second, "finished", func(fresh []source.Message) bool {
				for _, m := range fresh {
					list := settlements(source.Ack, m)
					if m.Attempt == 2 && m.Position == 8 {
						list[0].Verdict, list[0].Delay = source.Nack, 100*time.Millisecond
					}
					p.settle(list)
				}
				got = append(got, fresh...)
				return p.last.Finished
			})
			if len(got) != 4 {
				t.Errorf("read %v", positions(got))
			}
			if i := r.info("worker"); i.NumAckPending != 0 {
				t.Errorf("%d unsettled", i.NumAckPending)
			}
		})
	}
}

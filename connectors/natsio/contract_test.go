package natsio_test

import (
	"testing"

	"github.com/gosluice/sluice/connectors/connectortest"
	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/source"
	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

func TestContract(t *testing.T) {
	for name, c := range map[string]struct {
		server []natsemu.Option
		change func(*natsio.Config)
	}{
		"shared":              {nil, func(*natsio.Config) {}},
		"shared, tcp":         {[]natsemu.Option{natsemu.TCP()}, func(*natsio.Config) {}},
		"exclusive":           {[]natsemu.Option{natsemu.TCP()}, func(c *natsio.Config) { c.Exclusive = true }},
		"each confirmed":      {nil, func(c *natsio.Config) { c.Confirm = natsio.ConfirmEach }},
		"all up to":           {nil, func(c *natsio.Config) { c.AckPolicy = natsio.AckAll }},
		"one message a fetch": {nil, func(c *natsio.Config) { c.FetchMessages = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connectortest.Run(t, connectortest.Harness{New: func(t *testing.T, s connectortest.Setup) connectortest.Queue {
				r := newRig(t, c.server...)
				cfg := config()
				cfg.AckWait, cfg.MaxAckPending, cfg.StopWhenCaughtUp = s.Lease, s.Quota, s.Bounded
				c.change(&cfg)
				return connectortest.Queue{
					Source: func() source.Source { return natsio.NewSource(r.js, cfg) },
					Publish: func(data string) {
						_, err := r.js.Publish(r.ctx(), "orders.a", []byte(data))
						r.must(err)
					},
					Finish:    func() {}, // it is bounded by being caught up
					Unsettled: func() int { return r.info("worker").NumAckPending },
					Stall:     r.server.Freeze,
					Resume:    r.server.Thaw,
				}
			}})
		})
	}
}

func TestPublisherContract(t *testing.T) {
	for name, opts := range map[string][]natsemu.Option{"in process": nil, "tcp": {natsemu.TCP()}} {
		t.Run(name, func(t *testing.T) {
			connectortest.RunPublisher(t, connectortest.PublisherHarness{New: func(t *testing.T) connectortest.Target {
				r := newRig(t, opts...)
				return connectortest.Target{
					Publisher: natsio.NewPublisher(r.js, natsio.PublisherConfig{Subject: "orders.out", MaxPending: 50}),
					Stored:    r.stored,
					Stall:     r.server.Freeze,
					Resume:    r.server.Thaw,
				}
			}})
		})
	}
}

// stored lists the payloads of the stream.
func (r *rig) stored() (all []string) {
	r.t.Helper()
	s, err := r.js.Stream(r.ctx(), "ORDERS")
	r.must(err)
	for seq := uint64(1); seq <= s.CachedInfo().State.LastSeq; seq++ {
		m, err := s.GetMsg(r.ctx(), seq)
		r.must(err)
		all = append(all, string(m.Data))
	}
	return all
}

package memory_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gosluice/sluice/connectors/connectortest"
	"github.com/gosluice/sluice/connectors/memory"
	"github.com/gosluice/sluice/core/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// harness makes queues of one kind.
func harness(base memory.Config) connectortest.Harness {
	return connectortest.Harness{
		Lease: 150 * time.Millisecond,
		New: func(_ *testing.T, s connectortest.Setup) connectortest.Queue {
			cfg := base
			cfg.Lease, cfg.Quota, cfg.Bounded = s.Lease, s.Quota, s.Bounded
			q := memory.NewQueue(cfg)
			names := cfg.Channels
			if len(names) == 0 {
				names = []string{"memory"}
			}
			n := 0
			return connectortest.Queue{
				Source: func() source.Source { return q },
				Publish: func(data string) {
					q.Publish(names[n%len(names)], memory.Message{Data: []byte(data)})
					n++
				},
				Finish: q.Finish,
				Unsettled: func() (n int) {
					for _, r := range q.Records() {
						if r.Leased {
							n++
						}
					}
					return n
				},
			}
		},
	}
}

func TestContract(t *testing.T) {
	for name, cfg := range map[string]memory.Config{
		"plain":          {},
		"fenced":         {Fenced: true},
		"shuffled":       {Shuffle: rand.New(rand.NewPCG(1, 2))},
		"keeps leases":   {KeepLeases: true},
		"contiguous":     {Contiguous: true},
		"three channels": {Channels: []string{"a", "b", "c"}},
		"no lease":       {NoLease: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connectortest.Run(t, harness(cfg))
		})
	}
}

func TestPublisherContract(t *testing.T) {
	for name, dedupe := range map[string]bool{"plain": false, "deduplicating": true} {
		t.Run(name, func(t *testing.T) {
			connectortest.RunPublisher(t, connectortest.PublisherHarness{New: func(*testing.T) connectortest.Target {
				p := memory.NewPublisher(memory.PublisherConfig{Deduplicate: dedupe})
				return connectortest.Target{Publisher: p, Stored: func() (all []string) {
					for _, m := range p.Messages() {
						all = append(all, string(m.Data))
					}
					return all
				}}
			}})
		})
	}
}

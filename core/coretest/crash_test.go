package coretest_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/sinks"
)

var (
	seeds = flag.Int("seeds", 300, "how many seeded runs of each pipeline shape together")
	seed  = flag.Uint64("seed", 0, "run this seed only")
)

func TestCrash(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			crash(t, s)
		})
	}
}

// crash runs seeds of one shape.
func crash(t *testing.T, s shape) {
	if *seed != 0 {
		runSeed(t, s, *seed)
		return
	}
	for i := range max(1, *seeds/len(shapes)) {
		runSeed(t, s, uint64(i+1))
		if t.Failed() {
			return
		}
	}
}

func runSeed(t *testing.T, s shape, n uint64) {
	t.Helper()
	if err := newRig(n, s).w.Run(); err != nil {
		t.Errorf("%v\nrun it again with\n  go test ./core/coretest -run 'TestCrash/%s$' -count=1 -seed=%d", err, s.name, n)
	}
}

var shapes = []shape{
	{name: "stateless", storeless: true, build: stateless, check: checkRecords},
	{name: "stateless-stored", build: stateless, check: checkRecords},
}

// stateless: source, map, in-bundle sink.
func stateless(r *rig, p *core.Pipeline) {
	orders, _ := core.Read(p, "orders", r.broker, decodeOrder, readOptions())
	doubled := core.Map(orders, "double", func(o order) order { o.Amount *= 2; return o })
	sinks.Write[order, int](doubled, "records", r.target, sinks.Config[order]{Records: 7})
}

// checkRecords: every order is written, under one id.
func checkRecords(r *rig) {
	r.atEnd = append(r.atEnd, func() error {
		n := r.target.written()
		for _, o := range r.all() {
			if n[o.ID] != 1 {
				return fmt.Errorf("order %d is at the target %d times", o.ID, n[o.ID])
			}
		}
		if len(n) != len(r.all()) {
			return fmt.Errorf("%d orders at the target, %d were sent", len(n), len(r.all()))
		}
		return nil
	})
}

package coretest_test

import (
	"flag"
	"fmt"
	"testing"
)

var (
	seeds = flag.Int("seeds", 300, "how many seeded runs over all pipelines")
	seed  = flag.Uint64("seed", 0, "run this seed only")
)

// TestCrash runs pipelines while everything breaks: tasks give up, processes crash,
// calls and commits fail before and after they happened, acks are lost, messages
// come again, leases end, targets are slow. What must hold is checked after every
// event and at the end.
func TestCrash(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			from, n := uint64(1), max(1, *seeds/len(shapes))
			if *seed > 0 {
				from, n = *seed, 1
			}
			for i := range n {
				if err := newRig(from+uint64(i), s, mutant{}).w.Run(); err != nil {
					t.Fatal(replay(s, from+uint64(i), err))
				}
			}
		})
	}
}

func replay(s shape, n uint64, err error) string {
	return fmt.Sprintf("%v\nrun it again with\n  go test ./core/coretest -run 'TestCrash/%s$' -count=1 -seed=%d", err, s.name, n)
}

// TestSameSeedSameRun: a seed is worth nothing if it does not repeat.
func TestSameSeedSameRun(t *testing.T) {
	for _, s := range shapes {
		first, second := newRig(11, s, mutant{}), newRig(11, s, mutant{})
		_, _ = first.w.Run(), second.w.Run()
		if a, b := first.w.Trace(), second.w.Trace(); a.Hash() != b.Hash() || a.Len() != b.Len() {
			t.Errorf("%s: two runs of seed 11 differ: %d and %d events", s.name, a.Len(), b.Len())
		}
	}
}

package coretest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gosluice/sluice/internal/engine"
)

// mutants are bugs that the suite must find, with the shapes that show them.
var mutants = []mutant{
	{name: "a commit is reported before it is durable", ports: reportEarly, shapes: []string{"after-write", "stored"}},
	{name: "messages are acked as they are read", programs: eachSource(ackAtOnce), shapes: []string{"stored", "combine"}},
	{name: "a gate opens on a watermark that is not committed", engine: engine.GateUncommitted, shapes: []string{"announce-in-bundle"}},
	{name: "an abort does not give deliveries out again", engine: engine.LedgerForgetsAbort, shapes: []string{"stored"}},
	{name: "a bundle ends at the first barrier", engine: engine.BarrierNotAligned, shapes: []string{"flatten", "combine", "after-write"}},
	{name: "what is outstanding at the start does not hold the watermark", programs: eachSource(denyOutstanding), shapes: []string{"combine", "combine-publish"}},
	{name: "the row of a finished effect stays", stores: without(isEffectDelete), shapes: []string{"after-write"}},
	{name: "held rows are not written", stores: without(isHeldPut), shapes: []string{"after-write"}},
	{name: "state is not written", stores: without(isStatePut), shapes: []string{"combine", "combine-publish"}},
	{name: "source marks are not written", stores: without(isMarkPut), shapes: []string{"stored", "combine"}},
	{name: "the watermarks of stages are not written", stores: without(isInputsPut), shapes: []string{"combine-behind"}},
	{name: "an abort drops finalizers of committed epochs", ports: dropFinalizers, shapes: []string{"stored"}},
}

// mutantSeeds is how many seeds of a shape may go by until a mutant is found.
const mutantSeeds = 400

// TestSuiteCatchesMutants tests the suite itself.
func TestSuiteCatchesMutants(t *testing.T) {
	for _, m := range mutants {
		if m.shapes == nil {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			for n := range uint64(mutantSeeds) {
				for _, s := range shapes {
					if !slices.Contains(m.shapes, s.name) {
						continue
					}
					if err := newRig(n+1, s, m).w.Run(); err != nil {
						what, _, _ := strings.Cut(err.Error(), "\n")
						t.Logf("found by %s: %s", s.name, what)
						return
					}
				}
			}
			t.Errorf("not found in %d runs of %v", mutantSeeds, m.shapes)
		})
	}
}

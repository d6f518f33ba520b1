package coretest_test

import (
	"context"
	"fmt"

	"github.com/gosluice/sluice/sinks"
)

// target is where the suite's sinks write. It survives crashes.
type target struct {
	r *rig
	// records are those of the in-bundle sink, by id; writes counts all.
	records map[string]order
	writes  int
}

func newTarget(r *rig) *target { return &target{r: r, records: map[string]order{}} }

// started is told that a new process begins.
func (t *target) started() {}

// Write implements [sinks.Writer]: records under an id, so that repeats change
// nothing.
func (t *target) Write(_ context.Context, b sinks.Batch[order]) (out sinks.Outcome[int], err error) {
	for rec, err := range b.All {
		if err != nil {
			return out, err
		}
		if !rec.ID.Stable() {
			t.r.w.Fail(fmt.Errorf("record %+v has no stable id", rec.Value))
		}
		id := rec.ID.String()
		if old, ok := t.records[id]; ok && old != rec.Value {
			t.r.w.Fail(fmt.Errorf("id %s was order %d and is now order %d", id, old.ID, rec.Value.ID))
		}
		t.records[id] = rec.Value
		t.writes++
		out.Results = append(out.Results, rec.Value.ID)
	}
	return out, nil
}

// written counts each order.
func (t *target) written() map[int]int {
	n := map[int]int{}
	for _, o := range t.records {
		n[o.ID]++
	}
	return n
}

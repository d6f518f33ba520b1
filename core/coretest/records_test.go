package coretest_test

import (
	"context"
	"fmt"

	"github.com/gosluice/sluice/sinks"
)

// records is a table that an in-bundle sink writes to: rows under ids, so that
// repeats change nothing.
type records struct {
	r    *rig
	rows map[string]order
}

func newRecords(r *rig) *records { return &records{r: r, rows: map[string]order{}} }

// Write implements [sinks.Writer].
func (t *records) Write(_ context.Context, b sinks.Batch[order]) (out sinks.Outcome[int], err error) {
	for rec, err := range b.All {
		if err != nil {
			return out, err
		}
		if !rec.ID.Stable() {
			t.r.fail("order %d is written without a stable id", rec.Value.ID)
		}
		id := rec.ID.String()
		if old, ok := t.rows[id]; ok && old != rec.Value {
			t.r.fail("id %s was order %d and is now order %d", id, old.ID, rec.Value.ID)
		}
		t.rows[id] = rec.Value
		out.Results = append(out.Results, rec.Value.ID)
	}
	return out, nil
}

// all lists the orders in the table.
func (t *records) all() (list []order) {
	for _, o := range t.rows {
		list = append(list, o)
	}
	return list
}

// complete: every order is there, copies times, each under an id of its own.
func (t *records) complete(copies int) func() error {
	return func() error {
		n := map[int]int{}
		for _, o := range t.rows {
			n[o.ID]++
		}
		for _, o := range t.r.all() {
			if n[o.ID] != copies {
				return fmt.Errorf("order %d is in the table %d times, want %d", o.ID, n[o.ID], copies)
			}
		}
		if want := len(t.r.all()); len(n) != want {
			return fmt.Errorf("%d orders are in the table, %d were sent", len(n), want)
		}
		return nil
	}
}

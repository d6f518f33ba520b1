package coretest_test

import (
	"context"
	"fmt"

	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
)

// totals is a table of aggregates that an in-bundle sink writes to: the last write
// of a key and window counts.
type totals struct {
	r    *rig
	rows map[cell]note
	// all are all writes, if wanted.
	all     []note
	keepAll bool
}

type cell struct {
	key    int
	window window.Window
}

func newTotals(r *rig) *totals { return &totals{r: r, rows: map[cell]note{}} }

// Write implements [sinks.Writer].
func (t *totals) Write(_ context.Context, b sinks.Batch[note]) (out sinks.Outcome[int], err error) {
	for rec, err := range b.All {
		if err != nil {
			return out, err
		}
		t.rows[cell{rec.Value.Key, rec.Value.Window}] = rec.Value
		if t.keepAll {
			t.all = append(t.all, rec.Value)
		}
		out.Results = append(out.Results, rec.Value.Key)
	}
	return out, nil
}

// model is what the aggregates of orders are, by key and window.
func model(orders []order, key func(order) int) map[cell]note {
	m := map[cell]note{}
	for _, o := range orders {
		c := cell{key(o), o.window()}
		n := m[c]
		m[c] = note{Key: c.key, Window: c.window, Count: n.Count + 1, Sum: n.Sum + o.Amount}
	}
	return m
}

// sameAs compares aggregates with the model.
func sameAs(got, want map[cell]note) error {
	for c, n := range want {
		if got[c] != n {
			return fmt.Errorf("key %d in %v is %+v, want %+v", c.key, c.window, got[c], n)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d aggregates, want %d", len(got), len(want))
	}
	return nil
}

// byCell are the notes by key and window.
func (p *notes) byCell() map[cell]note {
	m := map[cell]note{}
	for _, n := range p.ids {
		m[cell{n.Key, n.Window}] = n
	}
	return m
}

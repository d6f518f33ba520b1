package storetest

import (
	"bytes"
	"maps"
	"slices"

	"github.com/gosluice/sluice/core/store"
)

// model is the contract in its simplest form: rows in a map.
type model struct {
	rows     map[store.Space]map[string]store.Row // by group and key
	epochs   map[store.RegionID]uint64
	manifest []byte
}

func newModel() *model {
	return &model{rows: map[store.Space]map[string]store.Row{}, epochs: map[store.RegionID]uint64{}}
}

func (m *model) commit(c *store.Commit) {
	m.epochs[c.Region] = c.Epoch
	for _, d := range c.Deltas {
		if m.rows[d.Space] == nil {
			m.rows[d.Space] = map[string]store.Row{}
		}
		for r := range d.Records() {
			m.apply(m.rows[d.Space], r)
		}
	}
}

func (m *model) apply(rows map[string]store.Row, r store.Record) {
	at := string(append([]byte{byte(r.Group)}, r.Key...))
	switch r.Op {
	case store.Put:
		rows[at] = clone(store.Row{Group: r.Group, Key: r.Key, Value: append([]byte{}, r.Value...)})
	case store.Delete:
		delete(rows, at)
	case store.Merge:
		w, ok := rows[at]
		if !ok {
			w = store.Row{Group: r.Group, Key: bytes.Clone(r.Key)}
		}
		w.Merges = append(slices.Clone(w.Merges), append([]byte{}, r.Value...))
		rows[at] = w
	case store.DeleteRange:
		gone := store.Range{First: r.Group, Last: r.Group, From: r.Key, Below: r.Value}
		maps.DeleteFunc(rows, func(_ string, w store.Row) bool { return inRange(gone, w.Group, w.Key) })
	}
}

// show returns the rows of r in order, written like place.expect's.
func (m *model) show(r store.Range) (rows []string) {
	of := m.rows[r.Space]
	for _, at := range slices.Sorted(maps.Keys(of)) {
		if w := of[at]; inRange(r, w.Group, w.Key) {
			rows = append(rows, show(w))
		}
	}
	return rows
}

// expect compares all that p holds with the model.
func (m *model) expect(p *place) {
	p.Helper()
	for s := range m.rows {
		p.expect(s.All(), m.show(s.All())...)
	}
	for region, want := range m.epochs {
		if got := p.epoch(region); got != want {
			p.Errorf("region %d is at epoch %d, want %d", region, got, want)
		}
	}
	if got, err := p.Manifest(); err != nil || !bytes.Equal(got, m.manifest) {
		p.Errorf("the manifest is %q, want %q: %v", got, m.manifest, err)
	}
}

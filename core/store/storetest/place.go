package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gosluice/sluice/core/store"
)

// place is one store under test, opened again as often as a test wants.
type place struct {
	failer
	t *testing.T // for the harness
	h Harness
	o store.Opener
	store.Store
}

// failer is what *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// open makes a place and opens it; it is closed when the test ends.
func open(t *testing.T, h Harness) *place {
	t.Helper()
	p := &place{failer: t, t: t, h: h, o: h.New(t)}
	p.open()
	t.Cleanup(p.close)
	return p
}

func (p *place) open() {
	p.Helper()
	s, err := p.o.Open()
	if err != nil {
		p.Fatalf("open %s: %v", p.o, err)
	}
	p.Store = s
}

func (p *place) close() {
	if p.Store == nil {
		return
	}
	s := p.Store
	p.Store = nil
	if err := s.Close(); err != nil {
		p.Errorf("close %s: %v", p.o, err)
	}
}

// reopen closes the store and opens it as another process.
func (p *place) reopen() {
	p.Helper()
	p.close()
	p.o = p.h.Reopen(p.t, p.o)
	p.open()
}

// crash loses the store and opens what is left.
func (p *place) crash() {
	p.Helper()
	p.o = p.h.Crash(p.t, p.o, p.Store)
	p.Store = nil
	p.open()
}

// commit commits the region's next epoch.
func (p *place) commit(region store.RegionID, deltas ...*store.Delta) {
	p.Helper()
	c := &store.Commit{Region: region, Epoch: p.epoch(region) + 1, Deltas: deltas}
	if err := p.Commit(context.Background(), c); err != nil {
		p.Fatalf("commit epoch %d of region %d: %v", c.Epoch, region, err)
	}
}

func (p *place) epoch(region store.RegionID) uint64 {
	p.Helper()
	e, err := p.Epoch(region)
	if err != nil {
		p.Fatalf("epoch of region %d: %v", region, err)
	}
	return e
}

// rows returns copies of what a scan of r finds.
func (p *place) rows(r store.Range) []store.Row {
	p.Helper()
	rows, err := scan(p.Store, r)
	if err != nil {
		p.Fatalf("scan %+v: %v", r, err)
	}
	return rows
}

// expect compares a scan of r with rows written as "group key=value+merge…".
func (p *place) expect(r store.Range, want ...string) {
	p.Helper()
	var got []string
	for _, w := range p.rows(r) {
		got = append(got, show(w))
	}
	if !slices.Equal(got, want) {
		p.Errorf("rows of %+v:\n got %q\nwant %q", r, got, want)
	}
}

// show writes a row: a value nil is left out with its "=".
func show(w store.Row) string {
	s := fmt.Sprintf("%d %s", w.Group, w.Key)
	if w.Value != nil {
		s += "=" + string(w.Value)
	}
	for _, m := range w.Merges {
		s += "+" + string(m)
	}
	return s
}

// expectErr fails unless err is want.
func expectErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func scan(s store.Store, r store.Range) (rows []store.Row, err error) {
	err = s.Scan(r, func(w store.Row) bool {
		rows = append(rows, clone(w))
		return true
	})
	return rows, err
}

func clone(w store.Row) store.Row {
	w.Key = append([]byte{}, w.Key...)
	if w.Value != nil {
		w.Value = append([]byte{}, w.Value...)
	}
	w.Merges = slices.Clone(w.Merges)
	for i, m := range w.Merges {
		w.Merges[i] = append([]byte{}, m...)
	}
	return w
}

var cells = store.Space{Region: 1, Kind: store.State, Transform: 1}

// delta makes a delta of cells with what fn writes.
func delta(fn func(d *store.Delta)) *store.Delta {
	d := store.NewDelta(cells)
	fn(d)
	return d
}

func b(s string) []byte { return []byte(s) }

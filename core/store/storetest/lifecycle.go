package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/gosluice/sluice/core/store"
)

// testInOrder is invariant 3: the next epoch only, counted by region, kept.
func testInOrder(t *testing.T, h Harness) {
	p := open(t, h)
	try := func(region store.RegionID, epoch uint64) error {
		d := delta(func(d *store.Delta) { d.Put(byteOf(region), b("last"), fmt.Append(nil, epoch)) })
		return p.Commit(context.Background(), &store.Commit{Region: region, Epoch: epoch, Deltas: []*store.Delta{d}})
	}
	accept := func(region store.RegionID, epoch uint64) {
		t.Helper()
		expectErr(t, "the next epoch", try(region, epoch), nil)
	}
	refuse := func(region store.RegionID, epoch uint64) {
		t.Helper()
		expectErr(t, fmt.Sprintf("epoch %d of region %d", epoch, region), try(region, epoch), store.ErrEpoch)
	}
	refuse(1, 0)
	refuse(1, 2)
	accept(1, 1)
	refuse(1, 1)
	refuse(1, 3)
	accept(1, 2)
	refuse(2, 3)
	accept(2, 1)
	accept(1<<32-1, 1)
	p.expect(cells.All(), "1 last=2", "2 last=1", "255 last=1")
	p.reopen()
	for region, want := range map[store.RegionID]uint64{0: 0, 1: 2, 2: 1, 3: 0, 1<<32 - 1: 1} {
		if got := p.epoch(region); got != want {
			t.Errorf("region %d is at epoch %d after the reopening, want %d", region, got, want)
		}
	}
	refuse(1, 2)
	accept(1, 3)
	p.commit(2) // nothing changed: an epoch all the same
	refuse(2, 2)
	p.expect(cells.All(), "1 last=3", "2 last=1", "255 last=1")
}

func byteOf(r store.RegionID) store.Group { return store.Group(r) }

// testMerges is invariant 5: operands are kept in order, one by one, whoever
// wrote them and however long ago.
func testMerges(t *testing.T, h Harness) {
	p := open(t, h)
	want := "1 sum=0"
	p.commit(1, delta(put(1, "sum", "0")))
	for e := range 40 {
		p.commit(1, delta(func(d *store.Delta) {
			for i := range e % 4 {
				op := fmt.Sprintf("%d.%d", e, i)
				d.Merge(1, b("sum"), b(op))
				want += "+" + op
			}
		}))
		if e%7 == 0 {
			p.expect(cells.All(), want)
		}
		if e%13 == 0 {
			p.reopen()
		}
	}
	p.expect(cells.All(), want)
	if h.Short {
		return
	}
	many := store.NewDelta(cells)
	for i := range 50_000 {
		many.Merge(2, b("long"), fmt.Append(nil, i))
	}
	p.commit(1, many)
	rows := p.rows(store.Range{Space: cells, First: 2, Last: 2})
	for i, m := range rows[0].Merges {
		if string(m) != fmt.Sprint(i) {
			t.Fatalf("operand %d of 50000 is %q", i, m)
		}
	}
}

// testOneProcess is invariant 6.
func testOneProcess(t *testing.T, h Harness) {
	p := open(t, h)
	for range 2 {
		s, err := p.o.Open()
		expectErr(t, "a second open", err, store.ErrLocked)
		if err == nil {
			_ = s.Close()
			t.FailNow()
		}
	}
	p.commit(1, delta(put(1, "a", "1"))) // the first is none the worse for it
	id := p.ID()
	p.reopen()
	p.expect(cells.All(), "1 a=1")
	if p.ID() != id || id == "" {
		t.Errorf("the id was %q and is %q after the reopening", id, p.ID())
	}
	if other := open(t, h); other.ID() == id {
		t.Errorf("two places have the same id %q", id)
	}
}

func testManifest(t *testing.T, h Harness) {
	p := open(t, h)
	read := func() []byte {
		t.Helper()
		m, err := p.Manifest()
		expectErr(t, "manifest", err, nil)
		return m
	}
	if m := read(); m != nil {
		t.Errorf("a new store has the manifest %q, want nil", m)
	}
	for _, want := range []string{"first", "a second and longer one", "", "last"} {
		m := b(want)
		expectErr(t, "set manifest", p.SetManifest(m), nil)
		for i := range m {
			m[i] = 'x'
		}
		for _, how := range []func(){func() {}, p.reopen} {
			how()
			if got := read(); string(got) != want {
				t.Errorf("manifest is %q, want %q", got, want)
			}
		}
		got := read()
		for i := range got {
			got[i] = 'y'
		}
		if got := read(); string(got) != want {
			t.Errorf("manifest is %q after a caller wrote on its copy of %q", got, want)
		}
	}
	if p.epoch(1) != 0 || len(p.rows(cells.All())) != 0 {
		t.Error("a manifest made rows or epochs")
	}
}

// testClosed: calls after Close fail and say why; a commit whose context is
// done either did not happen or succeeded.
func testClosed(t *testing.T, h Harness) {
	p := open(t, h)
	p.commit(1, delta(put(1, "a", "1")))
	done, cancel := context.WithCancel(context.Background())
	cancel()
	err := p.Commit(done, &store.Commit{Region: 1, Epoch: 2})
	if e := p.epoch(1); (err == nil) != (e == 2) {
		t.Errorf("a commit with a cancelled context returned %v, the epoch is %d", err, e)
	}
	s := p.Store
	p.close()
	_, err = s.Epoch(1)
	expectErr(t, "epoch", err, store.ErrClosed)
	_, err = s.Manifest()
	expectErr(t, "manifest", err, store.ErrClosed)
	expectErr(t, "set manifest", s.SetManifest(b("m")), store.ErrClosed)
	expectErr(t, "commit", s.Commit(context.Background(), &store.Commit{Region: 2, Epoch: 1}), store.ErrClosed)
	expectErr(t, "scan", s.Scan(cells.All(), func(store.Row) bool { t.Error("a row"); return true }), store.ErrClosed)
	expectErr(t, "close", s.Close(), store.ErrClosed)
	p.open()
	p.expect(cells.All(), "1 a=1")
	expectErr(t, "a closed store, opened again by another handle", s.SetManifest(b("m")), store.ErrClosed)
}

package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/core/store/storetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		New: func(*testing.T) store.Opener { return memory.New() },
		Crash: func(_ *testing.T, o store.Opener, _ store.Store) store.Opener {
			o.(*memory.DB).Crash()
			return o
		},
	})
}

var cells = store.Space{Region: 1, Kind: store.State, Transform: 1}

func commit(epoch uint64, key string) *store.Commit {
	d := store.NewDelta(cells)
	d.Put(1, []byte(key), []byte(key))
	return &store.Commit{Region: 1, Epoch: epoch, Deltas: []*store.Delta{d}}
}

func open(t *testing.T, db *memory.DB) store.Store {
	t.Helper()
	s, err := db.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keys(t *testing.T, s store.Store) (keys []string) {
	t.Helper()
	if err := s.Scan(cells.All(), func(r store.Row) bool { keys = append(keys, string(r.Key)); return true }); err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestCrashKeepsWhatWasCommittedAndEndsTheHandle(t *testing.T) {
	ctx, db := context.Background(), memory.New()
	first := open(t, db)
	if err := first.Commit(ctx, commit(1, "a")); err != nil {
		t.Fatal(err)
	}
	db.Crash()
	second := open(t, db)
	for name, err := range map[string]error{"commit": first.Commit(ctx, commit(2, "b")), "close": first.Close()} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s on a crashed handle: %v", name, err)
		}
	}
	if got := keys(t, second); len(got) != 1 || got[0] != "a" {
		t.Errorf("rows after the crash: %q", got)
	}
	if first.ID() != second.ID() {
		t.Error("a crash changed the id")
	}
}

func TestHooks(t *testing.T) {
	ctx, boom := context.Background(), errors.New("boom")
	for _, c := range []struct {
		name    string
		set     func(*memory.DB)
		want    error
		applied bool
	}{
		{"before", func(d *memory.DB) { d.BeforeApply = func(*store.Commit) error { return boom } }, boom, false},
		{"after is ambiguous", func(d *memory.DB) { d.AfterApply = func(*store.Commit) error { return boom } }, boom, true},
		{"crash before", func(d *memory.DB) { d.BeforeApply = func(*store.Commit) error { d.Crash(); return nil } }, store.ErrClosed, false},
		{"crash after", func(d *memory.DB) { d.AfterApply = func(*store.Commit) error { d.Crash(); return nil } }, store.ErrClosed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := memory.NewWithID("seed-1")
			s := open(t, db)
			c.set(db)
			if err := s.Commit(ctx, commit(1, "a")); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			db.BeforeApply, db.AfterApply = nil, nil
			db.Crash()
			s = open(t, db)
			if e, _ := s.Epoch(1); (e == 1) != c.applied || (len(keys(t, s)) == 1) != c.applied {
				t.Errorf("epoch %d, rows %q; want applied: %v", e, keys(t, s), c.applied)
			}
			if db.String() != "memory:seed-1" || s.ID() != "seed-1" {
				t.Errorf("named %s, id %s", db, s.ID())
			}
		})
	}
}

func TestHooksAreNotAskedAboutARefusedCommit(t *testing.T) {
	db := memory.New()
	s := open(t, db)
	db.BeforeApply = func(*store.Commit) error { t.Error("asked"); return nil }
	if err := s.Commit(context.Background(), commit(2, "a")); !errors.Is(err, store.ErrEpoch) {
		t.Error(err)
	}
}

// filled returns a store with rows rows and a commit maker that rewrites n of them.
func filled(b *testing.B, rows, n int) (store.Store, func() *store.Commit) {
	s, err := memory.New().Open()
	if err != nil {
		b.Fatal(err)
	}
	epoch, at := uint64(0), 0
	d := store.NewDelta(cells)
	next := func(n int) *store.Commit {
		d.Reset()
		for range n {
			h := uint32(at%rows) * 2654435761
			d.Put(store.Group(h>>24), fmt.Appendf(nil, "cell-%08x", h), make([]byte, 32))
			at++
		}
		epoch++
		return &store.Commit{Region: 1, Epoch: epoch, Deltas: []*store.Delta{d}}
	}
	for i := 0; i < rows; i += 10_000 {
		if err := s.Commit(context.Background(), next(10_000)); err != nil {
			b.Fatal(err)
		}
	}
	return s, func() *store.Commit { return next(n) }
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, next := filled(b, 200_000, n)
			for b.Loop() {
				b.StopTimer()
				c := next()
				b.StartTimer()
				if err := s.Commit(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/cell")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	s, _ := filled(b, 200_000, 0)
	n := 0
	for b.Loop() {
		_ = s.Scan(cells.All(), func(store.Row) bool { n++; return true })
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

package storetest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/gosluice/sluice/core/store"
)

// testScans is invariant 4, with scans and commits side by side.
func testScans(t *testing.T, h Harness) {
	t.Run("WholeCommits", func(t *testing.T) { testWholeCommits(t, h) })
	t.Run("OneState", func(t *testing.T) { testOneState(t, h) })
	t.Run("Regions", func(t *testing.T) { testRegionsSideBySide(t, h) })
}

const rowsOfEpoch = 64

// epochDelta writes the epoch on rowsOfEpoch rows of all groups; the rows that
// are there differ between odd and even epochs, but not their number.
func epochDelta(e uint64) *store.Delta {
	return delta(func(d *store.Delta) {
		for i := range rowsOfEpoch {
			g := store.Group(i * 4)
			if i%2 == 0 {
				d.DeleteRange(g, b("odd"), b("odd\xff"))
				d.Delete(g, b("even"))
				d.Put(g, b([]string{"even", "odd"}[e%2]), fmt.Append(nil, e))
			} else {
				d.Merge(g, b("all"), b("forgotten"))
				d.Put(g, b("all"), fmt.Append(nil, e))
			}
		}
	})
}

// testWholeCommits: every scan finds the rows of exactly one epoch, none older
// than what was committed when it began.
func testWholeCommits(t *testing.T, h Harness) {
	p := open(t, h)
	p.commit(1, epochDelta(1))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					scanOneEpoch(t, p.Store)
				}
			}
		})
	}
	for e := uint64(2); e < 250; e++ {
		p.commit(1, epochDelta(e))
	}
	close(stop)
	wg.Wait()
	scanOneEpoch(t, p.Store)
}

func scanOneEpoch(t *testing.T, s store.Store) {
	committed, err := s.Epoch(1)
	if err != nil {
		t.Errorf("epoch: %v", err)
		return
	}
	rows, err := scan(s, cells.All())
	if err != nil || len(rows) != rowsOfEpoch {
		t.Errorf("%d rows, want %d: %v", len(rows), rowsOfEpoch, err)
		return
	}
	for _, w := range rows {
		e, _ := strconv.ParseUint(string(w.Value), 10, 64)
		if e < committed || string(w.Value) != string(rows[0].Value) || w.Merges != nil {
			t.Errorf("epoch %d was committed; the scan found %q and %q", committed, show(rows[0]), show(w))
			return
		}
	}
}

// testOneState: a scan neither holds up commits made while it runs nor sees them.
func testOneState(t *testing.T, h Harness) {
	p := open(t, h)
	p.commit(1, epochDelta(1))
	n, next := 0, uint64(1)
	err := p.Scan(cells.All(), func(w store.Row) bool {
		if n%8 == 0 {
			next++
			done := make(chan error, 1)
			go func() {
				done <- p.Commit(context.Background(), &store.Commit{Region: 1, Epoch: next, Deltas: []*store.Delta{epochDelta(next)}})
			}()
			expectErr(t, "a commit during a scan", <-done, nil)
		}
		n++
		if string(w.Value) != "1" {
			t.Errorf("the scan sees %q of a later commit", show(w))
		}
		return true
	})
	if err != nil || n != rowsOfEpoch {
		t.Errorf("%d rows, want %d: %v", n, rowsOfEpoch, err)
	}
	scanOneEpoch(t, p.Store)
}

// testRegionsSideBySide: regions commit at once, each with its own epochs.
func testRegionsSideBySide(t *testing.T, h Harness) {
	p := open(t, h)
	const regions, epochs = 4, 50
	var wg sync.WaitGroup
	for i := range regions {
		wg.Go(func() {
			region := store.RegionID(i)
			d := store.NewDelta(store.Space{Region: region, Kind: store.Held, Transform: 1})
			for e := uint64(1); e <= epochs; e++ {
				d.Reset()
				d.Put(byteOf(region), fmt.Appendf(nil, "%03d", e), nil)
				d.Merge(0, b("all"), fmt.Append(nil, e))
				if err := p.Commit(context.Background(), &store.Commit{Region: region, Epoch: e, Deltas: []*store.Delta{d}}); err != nil {
					t.Errorf("epoch %d of region %d: %v", e, region, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for range 2 {
		for i := range regions {
			s := store.Space{Region: store.RegionID(i), Kind: store.Held, Transform: 1}
			rows := p.rows(s.All())
			if len(rows) != epochs+1 || p.epoch(s.Region) != epochs {
				t.Errorf("region %d has %d rows at epoch %d", i, len(rows), p.epoch(s.Region))
			}
			for _, w := range rows {
				if string(w.Key) == "all" && len(w.Merges) != epochs {
					t.Errorf("region %d has %d operands", i, len(w.Merges))
				}
			}
		}
		p.reopen()
	}
}

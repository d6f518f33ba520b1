package pebble_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/pebble"
)

// TestDamageFoundByAScan: a block of a table that opening does not read.
func TestDamageFoundByAScan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, pebble.Dir(dir))
	d := store.NewDelta(cells)
	random, value := rand.New(rand.NewPCG(1, 1)), make([]byte, 100)
	for i := range 2_000 {
		for j := range value {
			value[j] = byte(random.Uint32())
		}
		d.Put(store.Group(i), fmt.Appendf(nil, "%06d", i), value)
	}
	if err := s.Commit(t.Context(), &store.Commit{Region: 1, Epoch: 1, Deltas: []*store.Delta{d}}); err != nil {
		t.Fatal(err)
	}
	n := 0
	count := func(store.Row) bool { n++; return true }
	_ = s.Scan(cells.All(), count)
	closeStore(t, s)
	closeStore(t, open(t, pebble.Dir(dir))) // writes the table
	edit("*.sst", flip(func(n int) int { return n / 2 }))(t, dir)
	s = open(t, pebble.Dir(dir, pebble.WithLogger(silent)))
	n = 0
	err := s.Scan(cells.All(), count)
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), dir) || n == 2_000 {
		t.Errorf("%d rows and then %v", n, err)
	}
	if err := s.Commit(t.Context(), &store.Commit{Region: 1, Epoch: 2}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a commit after damage was found: %v", err)
	}
	if err := s.Close(); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("close after damage was found: %v", err)
	}
}

// TestCloseWaits: for a scan that runs, and with commits from all sides.
func TestCloseWaits(t *testing.T) {
	s := open(t, pebble.Dir("state", pebble.WithFS(vfs.NewMem()), pebble.WithFoldBytes(100)))
	commit(t, s, 1)
	var wg sync.WaitGroup
	inScan, more := make(chan struct{}), make(chan struct{})
	wg.Go(func() {
		err := s.Scan(cells.All(), func(r store.Row) bool {
			if string(r.Key) == "epoch" {
				close(inScan)
				<-more
			}
			_, err := s.Epoch(1) // from within a scan, Close or not
			return err == nil || errors.Is(err, store.ErrClosed)
		})
		if err != nil {
			t.Errorf("the scan that Close waits for: %v", err)
		}
	})
	<-inScan
	for region := range 4 {
		wg.Go(func() {
			for e := uint64(1); ; e++ {
				c := counted(e)
				c.Region = store.RegionID(10 + region)
				if err := s.Commit(context.Background(), c); errors.Is(err, store.ErrClosed) {
					return
				} else if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	for {
		if _, err := s.Epoch(1); errors.Is(err, store.ErrClosed) {
			break
		}
	}
	select {
	case <-closed:
		t.Error("closed under a scan")
	default:
	}
	close(more)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// TestPowerCutsUnderLoad: commits of a megabyte, so that logs are changed, tables
// written and the folder works while the power fails.
func TestPowerCutsUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	disk := newDisk(vfs.NewCrashableMem(), pebble.WithLogger(silent))
	for round := range uint64(5) {
		s := open(t, disk)
		epoch := checkCounted(t, s)
		acked := make(chan uint64, 100)
		first, last := epoch+1, epoch+30
		go func() {
			defer close(acked)
			for e := first; e <= last; e++ {
				if s.Commit(context.Background(), padded(e)) != nil {
					return
				}
				acked <- e
			}
		}()
		for e := range acked {
			if epoch = e; e%30 == 13*round%30 {
				break
			}
		}
		disk.fs = disk.cut(round)
		for range acked { // on the old disk
		}
		_ = s.Close()
		disk = newDisk(disk.fs, pebble.WithLogger(silent))
		s = open(t, disk)
		if got := checkCounted(t, s); got < epoch {
			t.Errorf("round %d: epoch %d, %d had returned", round, got, epoch)
		}
		closeStore(t, s)
	}
}

func TestRefusedCommits(t *testing.T) {
	s := open(t, pebble.Dir("state", pebble.WithFS(vfs.NewMem())))
	defer closeStore(t, s)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Commit(done, counted(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c := counted(1)
	c.Deltas[0].Space.Kind = 0
	if err := s.Commit(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no kind") {
		t.Errorf("a delta without a kind: %v", err)
	}
	if epoch := checkCounted(t, s); epoch != 0 {
		t.Errorf("epoch %d after refused commits", epoch)
	}
	commit(t, s, 1) // none of them broke anything
}

// TestUnfoldedLogSurvives: what the folder has not done is there at the next open.
func TestUnfoldedLogSurvives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for round := range uint64(3) {
		s := open(t, pebble.Dir(dir, pebble.WithFoldBytes(1<<40)))
		for e := range uint64(4) {
			commit(t, s, round*4+e+1)
		}
		closeStore(t, s)
	}
	s := open(t, pebble.Dir(dir))
	if epoch := checkCounted(t, s); epoch != 12 {
		t.Errorf("epoch %d, want 12", epoch)
	}
	closeStore(t, s)
}

func TestPrivateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	closeStore(t, open(t, pebble.Dir(dir)))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the state: %v %v", info.Mode(), err)
	}
}

package pebble_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/pebble"
)

// moment is what a disk may hold after a power cut, and what was known then.
type moment struct {
	fs             *vfs.MemFS
	acked, started uint64
	before         string // the operation that did not happen any more
	opened         bool
}

// life makes a directory, commits, reads, and opens it again, once.
func life(t *testing.T, o store.Opener, m *moment, mu *sync.Mutex) {
	next := func(s store.Store, until uint64) {
		for e := m.acked + 1; e <= until; e++ {
			mu.Lock()
			m.started = e
			mu.Unlock()
			commit(t, s, e)
			mu.Lock()
			m.acked = e
			mu.Unlock()
		}
	}
	s := open(t, o)
	mu.Lock()
	m.opened = true
	mu.Unlock()
	next(s, 3)
	checkCounted(t, s) // folds
	next(s, 5)
	if err := s.SetManifest([]byte("manifest")); err != nil {
		t.Error(err)
	}
	closeStore(t, s)
	s = open(t, o)
	next(s, 7)
	checkCounted(t, s)
	closeStore(t, s)
}

// TestPowerCutAtEveryStep cuts the power before every operation that changes the
// disk, from the first directory on: what is left can be opened and holds whole
// commits, all that had returned.
func TestPowerCutAtEveryStep(t *testing.T) {
	var mu sync.Mutex
	var now moment
	var moments []moment
	mem := vfs.NewCrashableMem()
	steps := uint64(0)
	inject := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || op.Kind == errorfs.OpFileClose {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		steps++
		for seed, percent := range []int{0, 60, 60, 80, 30} {
			m := now
			m.before = op.Path
			m.fs = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(steps, uint64(seed)))})
			moments = append(moments, m)
		}
		return nil
	})
	life(t, pebble.Dir("var/lib/state", pebble.WithFS(errorfs.Wrap(mem, inject))), &now, &mu)
	if len(moments) < 500 {
		t.Fatalf("%d moments: the disk was not watched", len(moments))
	}
	for i, m := range moments {
		if testing.Short() && i%5 > 0 {
			continue
		}
		checkMoment(t, i, m)
	}
}

func checkMoment(t *testing.T, i int, m moment) {
	t.Helper()
	dir := func(opts ...pebble.Option) store.Opener {
		return pebble.Dir("var/lib/state", append(opts, pebble.WithFS(m.fs), pebble.WithLogger(silent))...)
	}
	s, err := dir(pebble.MustExist()).Open()
	if !m.opened && errors.Is(err, fs.ErrNotExist) {
		s, err = dir().Open()
	}
	if err != nil {
		t.Fatalf("moment %d, before %s, after %d commits: %v", i, m.before, m.acked, err)
	}
	epoch := checkCounted(t, s)
	if epoch < m.acked || epoch > m.started {
		t.Errorf("moment %d, before %s: epoch %d; %d had returned, %d had begun", i, m.before, epoch, m.acked, m.started)
	}
	commit(t, s, epoch+1)
	checkCounted(t, s)
	closeStore(t, s)
}

// TestWriteFailsAtEveryStep: one operation that changes the disk fails, as on a
// full or dying disk, and later ones succeed again. From then on every call
// reports it, nothing hangs, and the next Open finds all that had returned.
func TestWriteFailsAtEveryStep(t *testing.T) {
	failures := 0
	for step := uint64(1); ; step++ {
		mem := vfs.NewCrashableMem()
		var count atomic.Uint64
		inject := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
			write := op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose
			if write && count.Add(1) == step {
				return errorfs.ErrInjected
			}
			return nil
		})}
		s := open(t, pebble.Dir("state", pebble.WithFS(errorfs.Wrap(mem, inject)), pebble.WithLogger(silent)))
		inject.On()
		acked, failed := commitUntilFailure(t, s)
		inject.Off()
		closed := s.Close()
		if failed {
			failures++
			if closed == nil {
				t.Errorf("step %d: a store that failed closes as if nothing was", step)
			}
		}
		left := mem.CrashClone(vfs.CrashCloneCfg{})
		s = open(t, pebble.Dir("state", pebble.WithFS(left), pebble.WithLogger(silent)))
		if epoch := checkCounted(t, s); epoch < acked || epoch > acked+1 {
			t.Errorf("step %d: epoch %d, %d had returned", step, epoch, acked)
		}
		closeStore(t, s)
		if count.Load() < step {
			break // all steps were tried
		}
	}
	if failures < 5 {
		t.Errorf("%d of the failures reached a caller", failures)
	}
}

func commitUntilFailure(t *testing.T, s store.Store) (acked uint64, failed bool) {
	t.Helper()
	for e := uint64(1); e <= 5; e++ {
		if err := s.Commit(context.Background(), counted(e)); err != nil {
			expectFailed(t, s, err)
			return acked, true
		}
		acked = e
		if e == 3 {
			checkCounted(t, s)
		}
	}
	return acked, false
}

// expectFailed: every call fails with the reason that Commit gave.
func expectFailed(t *testing.T, s store.Store, reason error) {
	t.Helper()
	if !errors.Is(reason, errorfs.ErrInjected) || !strings.Contains(reason.Error(), "open it again") {
		t.Errorf("commit: %v", reason)
	}
	_, epoch := s.Epoch(1)
	_, manifest := s.Manifest()
	for call, err := range map[string]error{
		"epoch": epoch, "manifest": manifest,
		"set manifest": s.SetManifest(nil),
		"commit":       s.Commit(context.Background(), counted(1)),
		"scan":         s.Scan(cells.All(), func(store.Row) bool { return true }),
	} {
		if err == nil {
			t.Errorf("%s works on a store that failed", call)
		}
	}
}

// TestLogCannotBeMade: the engine would end the process if it cannot make the next
// log, sync the directory that has it, or write on after a failure. The store fails, closes, and finds its
// commits again.
func TestLogCannotBeMade(t *testing.T) {
	var writes atomic.Int64
	for name, fails := range map[string]func(errorfs.Op) bool{
		"make": func(op errorfs.Op) bool {
			return strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite)
		},
		"sync": func(op errorfs.Op) bool { return op.Path == "state" && op.Kind == errorfs.OpFileSync },
		"write": func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".log") && writes.Add(1) > 40
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			inject := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
				if fails(op) {
					return errorfs.ErrInjected
				}
				return nil
			})}
			s := open(t, pebble.Dir("state", pebble.WithFS(errorfs.Wrap(mem, inject)), pebble.WithLogger(silent)))
			acked := uint64(20) // the engine's memtables have their full size by then
			for e := range acked {
				if err := s.Commit(t.Context(), padded(e+1)); err != nil {
					t.Fatal(err)
				}
			}
			tables := countTables(mem)
			inject.On()
			var err error
			for e := acked + 1; err == nil && e < 50; e++ {
				if err = s.Commit(context.Background(), padded(e)); err == nil {
					acked = e
				}
			}
			if err == nil {
				t.Fatal("no log was changed")
			}
			expectFailed(t, s, err)
			// The engine, which knows of no failure, writes what it has to a table.
			for range 500 {
				if countTables(mem) > tables {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if s.Close() == nil {
				t.Error("closed as if nothing was")
			}
			for _, percent := range []int{0, 100} {
				left := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(1, 1))})
				s = open(t, pebble.Dir("state", pebble.WithFS(left), pebble.WithLogger(silent)))
				if epoch := checkCounted(t, s); epoch < acked || epoch > acked+1 {
					t.Errorf("epoch %d, %d had returned", epoch, acked)
				}
				closeStore(t, s)
			}
		})
	}
}

func countTables(fs *vfs.MemFS) (n int) {
	names, _ := fs.List("state")
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			n++
		}
	}
	return n
}

// padded is counted(e) with a megabyte in another space.
func padded(e uint64) *store.Commit {
	c := counted(e)
	pad := store.NewDelta(store.Space{Region: 1, Kind: store.Held, Transform: 1})
	for i := range 256 {
		pad.Put(store.Group(i), fmt.Appendf(nil, "%d", e%10), bytes.Repeat([]byte{byte(e)}, 4<<10))
	}
	c.Deltas = append(c.Deltas, pad)
	return c
}

// TestLogsSweptAfterPowerCut: without a Close the marker does not know the last
// commits, but which log has them.
func TestLogsSweptAfterPowerCut(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := open(t, pebble.Dir("state", pebble.WithFS(mem)))
	for e := uint64(1); e <= 20; e++ { // more than one log
		if err := s.Commit(t.Context(), padded(e)); err != nil {
			t.Fatal(err)
		}
	}
	left := mem.CrashClone(vfs.CrashCloneCfg{})
	closeStore(t, s)
	names, err := left.List("state")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) { // the newest first
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		if err := left.Remove("state/" + name); err != nil {
			t.Fatal(err)
		}
		if s, err := pebble.Dir("state", pebble.WithFS(left), pebble.WithLogger(silent)).Open(); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("without %s: %v", name, err)
			if err == nil {
				closeStore(t, s)
			}
		}
	}
}

// TestScanShowsNothingUnsynced: a commit whose sync is under way is in the
// engine's memory already; nobody sees it.
func TestScanShowsNothingUnsynced(t *testing.T) {
	reached, release := make(chan struct{}, 100), make(chan struct{})
	inject := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) {
			reached <- struct{}{}
			<-release
		}
		return nil
	})}
	s := open(t, pebble.Dir("state", pebble.WithFS(errorfs.Wrap(vfs.NewMem(), inject))))
	commit(t, s, 1)
	commit(t, s, 2)
	inject.On()
	done := make(chan error)
	go func() { done <- s.Commit(context.Background(), counted(3)) }()
	<-reached
	for range 3 {
		if epoch := checkCounted(t, s); epoch != 2 {
			t.Errorf("epoch %d is shown before its sync", epoch)
		}
	}
	inject.Off()
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if epoch := checkCounted(t, s); epoch != 3 {
		t.Errorf("epoch %d, want 3", epoch)
	}
	closeStore(t, s)
}

package storetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/core/store/storetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// broken is a store with one fault: nil functions do what the good one does.
type broken struct {
	store.Store
	commit   func(s store.Store, c *store.Commit) error
	scan     func(s store.Store, r store.Range, fn func(store.Row) bool) error
	manifest func(s store.Store, m []byte) error
	closing  func(s store.Store) error
}

func (b broken) Commit(ctx context.Context, c *store.Commit) error {
	if b.commit == nil {
		return b.Store.Commit(ctx, c)
	}
	return b.commit(b.Store, c)
}

func (b broken) Scan(r store.Range, fn func(store.Row) bool) error {
	if b.scan == nil {
		return b.Store.Scan(r, fn)
	}
	return b.scan(b.Store, r, fn)
}

func (b broken) SetManifest(m []byte) error {
	if b.manifest == nil {
		return b.Store.SetManifest(m)
	}
	return b.manifest(b.Store, m)
}

func (b broken) Close() error {
	if b.closing == nil {
		return b.Store.Close()
	}
	return b.closing(b.Store)
}

// opener opens a memory.DB with a fault.
type opener struct {
	*memory.DB
	fault broken
	open  func(*memory.DB) (store.Store, error)
}

func (o opener) Open() (store.Store, error) {
	if o.open != nil {
		return o.open(o.DB)
	}
	s, err := o.DB.Open()
	o.fault.Store = s
	return o.fault, err
}

// rows scans with each row changed, or left out where change tells.
func rows(change func(*store.Row) bool) func(store.Store, store.Range, func(store.Row) bool) error {
	return func(s store.Store, r store.Range, fn func(store.Row) bool) error {
		return s.Scan(r, func(w store.Row) bool { return !change(&w) || fn(w) })
	}
}

// deltas commits with the deltas that edit makes of each.
func deltas(edit func(r store.Record, d *store.Delta)) func(store.Store, *store.Commit) error {
	return func(s store.Store, c *store.Commit) error {
		edited := *c
		edited.Deltas = nil
		for _, d := range c.Deltas {
			e := store.NewDelta(d.Space)
			for r := range d.Records() {
				edit(r, e)
			}
			edited.Deltas = append(edited.Deltas, e)
		}
		return s.Commit(context.Background(), &edited)
	}
}

func again(r store.Record, d *store.Delta) {
	switch r.Op {
	case store.Put:
		d.Put(r.Group, r.Key, r.Value)
	case store.Delete:
		d.Delete(r.Group, r.Key)
	case store.Merge:
		d.Merge(r.Group, r.Key, r.Value)
	case store.DeleteRange:
		d.DeleteRange(r.Group, r.Key, r.Value)
	}
}

// faults names what the suite must notice, and where.
var faults = map[string]struct {
	where string
	fault broken
	open  func(*memory.DB) (store.Store, error)
}{
	"half a commit": {where: "Invariant1Atomic", fault: broken{commit: func(s store.Store, c *store.Commit) error {
		half := *c
		if len(c.Deltas) == 2 && c.Epoch%5 == 3 {
			half.Deltas = c.Deltas[:1]
		}
		return s.Commit(context.Background(), &half)
	}}},
	"lost commits": {where: "Invariant2Synced", fault: broken{commit: func(s store.Store, c *store.Commit) error {
		if c.Epoch == 9 {
			return nil
		}
		return s.Commit(context.Background(), c)
	}}},
	"epochs repeated": {where: "Invariant3InOrder", fault: broken{commit: func(s store.Store, c *store.Commit) error {
		err := s.Commit(context.Background(), c)
		if last, _ := s.Epoch(c.Region); errors.Is(err, store.ErrEpoch) && c.Epoch == last {
			return nil
		}
		return err
	}}},
	"split commits": {where: "Invariant4Scans", fault: broken{scan: func(s store.Store, r store.Range, fn func(store.Row) bool) error {
		for g := int(r.First); g <= int(r.Last); g++ { // group by group, each in a state of its own
			one, more := r, true
			one.First, one.Last = store.Group(g), store.Group(g)
			if err := s.Scan(one, func(w store.Row) bool { more = fn(w); return more }); err != nil || !more {
				return err
			}
		}
		return nil
	}}},
	"merges folded": {where: "Invariant5MergesKept", fault: broken{scan: rows(func(w *store.Row) bool {
		if len(w.Merges) > 1 {
			w.Merges = w.Merges[len(w.Merges)-1:]
		}
		return true
	})}},
	"no lock": {where: "Invariant6OneProcess", open: func(d *memory.DB) (store.Store, error) {
		d.Crash()
		return d.Open()
	}},
	"range deletes ignored": {where: "Rows", fault: broken{commit: deltas(func(r store.Record, d *store.Delta) {
		if r.Op != store.DeleteRange {
			again(r, d)
		}
	})}},
	"limit of ranges included": {where: "Rows", fault: broken{scan: func(s store.Store, r store.Range, fn func(store.Row) bool) error {
		if len(r.Below) > 0 {
			r.Below = append(append([]byte{}, r.Below...), 0)
		}
		return s.Scan(r, fn)
	}}},
	"empty key lost": {where: "Rows", fault: broken{scan: rows(func(w *store.Row) bool { return len(w.Key) > 0 })}},
	"no value for an empty one": {where: "Rows", fault: broken{scan: rows(func(w *store.Row) bool {
		if len(w.Value) == 0 {
			w.Value = nil
		}
		return true
	})}},
	"groups mixed up":  {where: "Rows", fault: broken{scan: rows(func(w *store.Row) bool { w.Group = 0; return true })}},
	"manifest lost":    {where: "Manifest", fault: broken{manifest: func(store.Store, []byte) error { return nil }}},
	"open after close": {where: "Closed", fault: broken{closing: func(store.Store) error { return nil }}},
}

const faultVariable = "SLUICE_TEST_FAULT"

// TestBroken runs the suite on a broken store, in a process of its own.
func TestBroken(t *testing.T) {
	f, ok := faults[os.Getenv(faultVariable)]
	if !ok {
		t.Skip("runs as another process only")
	}
	storetest.Run(t, storetest.Harness{
		New: func(*testing.T) store.Opener { return opener{memory.New(), f.fault, f.open} },
		Crash: func(_ *testing.T, o store.Opener, _ store.Store) store.Opener {
			o.(opener).Crash()
			return o
		},
	})
}

// TestSuiteNoticesFaults: a suite that cannot fail would be worth nothing.
func TestSuiteNoticesFaults(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.run=^TestBroken$/^"+f.where+"$", "-rapid.nofailfile", "-rapid.shrinktime=100ms")
			c.Env = append(os.Environ(), faultVariable+"="+name)
			out, err := c.CombinedOutput()
			if want := "--- FAIL: TestBroken/" + f.where; err == nil || !strings.Contains(string(out), want) {
				t.Errorf("no %q: %v\n%s", want, err, out)
			}
		})
	}
}

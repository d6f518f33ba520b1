package pebble_test

import (
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/pebble"
	"github.com/gosluice/sluice/core/store/storetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestConformanceOnDisk runs the suite on the operating system's files.
func TestConformanceOnDisk(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		New: func(t *testing.T) store.Opener { return pebble.Dir(filepath.Join(t.TempDir(), "state")) },
		Reopen: func(_ *testing.T, o store.Opener) store.Opener {
			return pebble.Dir(o.String()[len("pebble:"):], pebble.MustExist())
		},
		Short: true, // the rest runs on a disk in memory
	})
}

// disk is an opener whose power can be cut.
type disk struct {
	store.Opener
	fs *vfs.MemFS
}

func newDisk(fs *vfs.MemFS, opts ...pebble.Option) disk {
	return disk{Opener: pebble.Dir("var/lib/state", append(opts, pebble.WithFS(fs))...), fs: fs}
}

// cut returns what the disk may hold after a power cut at this moment.
func (d disk) cut(seed uint64) *vfs.MemFS {
	return d.fs.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: []int{0, 50, 100, 20, 80}[seed%5],
		RNG:                 rand.New(rand.NewPCG(seed, 1)),
	})
}

// TestConformanceAfterPowerCuts runs the suite with crashes that keep what was
// synced and a random part of the rest; with a folder that is always at work, one
// that never is, and the usual one.
func TestConformanceAfterPowerCuts(t *testing.T) {
	for name, foldBytes := range map[string]int64{"always": 1, "usual": 16 << 20, "never": 1 << 40} {
		t.Run("fold="+name, func(t *testing.T) {
			var cuts atomic.Uint64
			fold := pebble.WithFoldBytes(foldBytes)
			storetest.Run(t, storetest.Harness{
				New: func(*testing.T) store.Opener { return newDisk(vfs.NewCrashableMem(), fold) },
				Crash: func(t *testing.T, o store.Opener, s store.Store) store.Opener {
					left := newDisk(o.(disk).cut(cuts.Add(1)), fold)
					_ = s.Close() // on the old disk, which nobody reads any more
					return left
				},
				Short: testing.Short(),
			})
		})
	}
}

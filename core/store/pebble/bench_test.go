package pebble_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/pebble"
)

// load makes commits of n cells out of a number of keys, in an order that jumps
// about: 16-byte keys, 32-byte values.
type load struct {
	s     store.Store
	keys  int
	at    uint64
	delta *store.Delta
	epoch uint64
}

func newLoad(b *testing.B, o store.Opener, keys int) *load {
	s, err := o.Open()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return &load{s: s, keys: keys, delta: store.NewDelta(cells)}
}

func (l *load) commit(b *testing.B, n int) {
	l.next(n)
	l.send(b)
}

func (l *load) next(n int) {
	var key [16]byte
	var value [32]byte
	l.delta.Reset()
	for range n {
		l.at++
		h := (l.at % uint64(l.keys)) * 0x9E3779B97F4A7C15
		binary.BigEndian.PutUint64(key[8:], h)
		l.delta.Put(store.Group(h>>56), key[:], value[:])
	}
}

func (l *load) send(b *testing.B) {
	l.epoch++
	if err := l.s.Commit(context.Background(), &store.Commit{Region: 1, Epoch: l.epoch, Deltas: []*store.Delta{l.delta}}); err != nil {
		b.Fatal(err)
	}
}

var cells = store.Space{Region: 1, Kind: store.State, Transform: 1}

// cpu is the processor time this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func places(b *testing.B, fn func(b *testing.B, o store.Opener)) {
	b.Run("fs=memory", func(b *testing.B) { fn(b, pebble.Dir("state", pebble.WithFS(vfs.NewMem()))) })
	b.Run("fs=disk", func(b *testing.B) { fn(b, pebble.Dir(filepath.Join(b.TempDir(), "state"))) })
}

// BenchmarkCommit measures what a commit takes until it is durable (ns/cell), and
// the processor time of it with all the folding and compaction that follow, but
// without making the delta (cpu-ns/cell). hot: the same 20,000 cells all the time.
func BenchmarkCommit(b *testing.B) {
	for _, keys := range []int{20_000, 1_000_000} {
		for _, n := range []int{1_000, 10_000} {
			b.Run(fmt.Sprintf("keys=%d/cells=%d", keys, n), func(b *testing.B) {
				places(b, func(b *testing.B, o store.Opener) {
					l := newLoad(b, o, keys)
					for range 300_000 / n {
						l.commit(b, n)
					}
					var wall, making time.Duration
					began := cpu()
					for b.Loop() {
						t := time.Now()
						l.next(n)
						making += time.Since(t)
						t = time.Now()
						l.send(b)
						wall += time.Since(t)
					}
					cells := float64(b.N * n)
					b.ReportMetric(float64(wall.Nanoseconds())/cells, "ns/cell")
					b.ReportMetric(float64((cpu()-began-making).Nanoseconds())/cells, "cpu-ns/cell")
				})
			})
		}
	}
}

// BenchmarkLog is BenchmarkCommit up to the acks: nothing is folded.
func BenchmarkLog(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("cells=%d", n), func(b *testing.B) {
			o := pebble.Dir(filepath.Join(b.TempDir(), "state"), pebble.WithFoldBytes(1<<40))
			l := newLoad(b, o, 1_000_000)
			l.next(n)
			began := cpu()
			for b.Loop() {
				l.send(b)
			}
			b.ReportMetric(float64((cpu()-began).Nanoseconds())/float64(b.N*n), "cpu-ns/cell")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/cell")
		})
	}
}

// BenchmarkScan reads a million rows.
func BenchmarkScan(b *testing.B) {
	places(b, func(b *testing.B, o store.Opener) {
		l := newLoad(b, o, 1_000_000)
		for range 100 {
			l.commit(b, 10_000)
		}
		rows := 0
		count := func(store.Row) bool { rows++; return true }
		_ = l.s.Scan(cells.All(), count)
		rows = 0
		for b.Loop() {
			if err := l.s.Scan(cells.All(), count); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}

// BenchmarkAppendAndScan is a gate's life: rows are appended by one commit, read
// back after it and deleted by the next.
func BenchmarkAppendAndScan(b *testing.B) {
	places(b, func(b *testing.B, o store.Opener) {
		l := newLoad(b, o, 1_000_000)
		const n = 1_000
		for b.Loop() {
			l.next(n)
			l.delta.DeleteRange(7, nil, nil)
			l.send(b)
			if err := l.s.Scan(store.Range{Space: cells, First: 7, Last: 7}, func(store.Row) bool { return true }); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/cell")
	})
}

// BenchmarkOpen opens a directory with a million rows and a full delta log.
func BenchmarkOpen(b *testing.B) {
	places(b, func(b *testing.B, o store.Opener) {
		s, err := o.Open()
		if err != nil {
			b.Fatal(err)
		}
		l := &load{s: s, keys: 1_000_000, delta: store.NewDelta(cells)}
		for range 110 {
			l.commit(b, 10_000)
		}
		_ = s.Close()
		for b.Loop() {
			if s, err = o.Open(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			_ = s.Close()
			b.StartTimer()
		}
	})
}

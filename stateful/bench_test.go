package stateful

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"testing"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

const benchKeys = 10_000

type (
	benchDecl = Decl[int64, int64, int64]
	benchDoFn = DoFn[int64, int64, int64]
	benchElem = *core.Element[core.KV[int64, int64]]
	benchOut  = *core.Out[int64]
)

// benchHead is a head without a task around it, for one worker's own cost.
func benchHead(declare func(d *benchDecl) benchDoFn) *parDoHead[int64, int64, int64] {
	t := engine.NewTestTask(context.Background(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	keys, _ := coder.For[int64]()
	return newParDoHead(parDo[int64, int64, int64]{
		strategy: window.Strategy{Fn: window.Global()}, keys: keys, declare: declare,
		guard: core.NewGuard[core.KV[int64, int64]](t, &plan.Node{Name: "bench"}, nil),
		next:  func(*element.Element[int64]) {},
	}, t, "bench")
}

// feed gives n elements of benchKeys keys in a shuffled order.
func feed(h *parDoHead[int64, int64, int64], n int) {
	e := element.Element[element.KV[int64, int64]]{Window: window.GlobalWindow, Pane: event.NoFiring}
	var key [8]byte
	for i := range n {
		k := int64(i) * 7919 % benchKeys
		e.Value.Key, e.Value.Value, e.Time = k, int64(i), event.Time(i)
		binary.BigEndian.PutUint64(key[:], uint64(k)^1<<63)
		h.take(&e, key[:], store.Group(k))
	}
}

func bench(b *testing.B, declare func(d *benchDecl) benchDoFn) {
	h := benchHead(declare)
	feed(h, benchKeys)
	b.ReportAllocs()
	b.ResetTimer()
	feed(h, b.N)
}

// BenchmarkMap is the loop a program would write: the baseline.
func BenchmarkMap(b *testing.B) {
	counts := map[string]*int64{}
	out := 0
	count := func(n int) {
		var key [8]byte
		for i := range n {
			k := int64(i) * 7919 % benchKeys
			binary.BigEndian.PutUint64(key[:], uint64(k)^1<<63)
			c := counts[string(key[:])]
			if c == nil {
				c = new(int64)
				counts[string(key[:])] = c
			}
			*c++
			out += int(*c)
		}
	}
	count(benchKeys)
	b.ReportAllocs()
	b.ResetTimer()
	count(b.N)
}

// BenchmarkValue counts in a value cell and emits the count.
func BenchmarkValue(b *testing.B) {
	bench(b, func(d *benchDecl) benchDoFn {
		count := Value[int64](d, "count")
		return benchDoFn{Process: func(_ Context[int64], _ benchElem, out benchOut) error {
			n, _ := count.Read()
			count.Write(n + 1)
			out.Emit(n + 1)
			return nil
		}}
	})
}

// BenchmarkCombining is the same with a combining cell that is not read.
func BenchmarkCombining(b *testing.B) {
	bench(b, func(d *benchDecl) benchDoFn {
		sum := Combining(d, "sum", Sum[int64]())
		return benchDoFn{Process: func(_ Context[int64], e benchElem, _ benchOut) error {
			sum.Add(e.Value.Value)
			return nil
		}}
	})
}

// BenchmarkBag adds to a bag and clears it now and then.
func BenchmarkBag(b *testing.B) {
	bench(b, func(d *benchDecl) benchDoFn {
		bag := Bag[int64](d, "bag")
		return benchDoFn{Process: func(_ Context[int64], e benchElem, _ benchOut) error {
			if e.Value.Value&63 == 0 {
				bag.Clear()
			}
			bag.Add(e.Value.Value)
			return nil
		}}
	})
}

// BenchmarkTimer sets a timer again for every element.
func BenchmarkTimer(b *testing.B) {
	bench(b, func(d *benchDecl) benchDoFn {
		t := EventTimer(d, "t", func(TimerContext[int64], benchOut) error { return nil })
		return benchDoFn{Process: func(_ Context[int64], e benchElem, _ benchOut) error {
			t.Set(e.Time)
			return nil
		}}
	})
}

// BenchmarkSnapshot writes a changed value cell of every key.
func BenchmarkSnapshot(b *testing.B) {
	h := benchHead(func(d *benchDecl) benchDoFn {
		count := Value[int64](d, "count")
		return benchDoFn{Process: func(_ Context[int64], _ benchElem, _ benchOut) error {
			n, _ := count.Read()
			count.Write(n + 1)
			return nil
		}}
	})
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		feed(h, benchKeys)
		b.StartTimer()
		h.Snapshot(1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchKeys), "ns/cell")
}

package core

import (
	"context"
	"log/slog"
	"testing"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

var sink int

// BenchmarkChain compares four fused transforms with a plain loop over four
// function values, per element.
func BenchmarkChain(b *testing.B) {
	fs := []func(int) int{
		func(v int) int { return v + 1 }, func(v int) int { return v * 3 },
		func(v int) int { return v ^ 5 }, func(v int) int { return v - 7 },
	}
	b.Run("plain", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			v := i
			for _, f := range fs {
				v = f(v)
			}
			sink = v
		}
	})
	b.Run("fused", func(b *testing.B) {
		t := engine.NewTestTask(context.Background(), slog.New(slog.DiscardHandler))
		next := Receiver[int](func(e *element.Element[int]) { sink = e.Value })
		for i := len(fs) - 1; i >= 0; i-- {
			g := newGuard[int](t, &plan.Node{Name: "f"}, settings(nil))
			next = mapper(g, fs[i], next)
		}
		var e element.Element[int]
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			e.Value = i
			next(&e)
		}
	})
}

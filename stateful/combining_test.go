package stateful_test

import (
	"fmt"
	"testing"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/stateful"
)

// cells runs f once with a sum and a list, both combining cells: the sum's
// accumulator is copied by assignment, the list's is not.
type combiningCells struct {
	sum  *stateful.CombiningCell[int, int, int]
	list *stateful.CombiningCell[string, []string, []string]
}

func withCombining(n int, f func(c combiningCells, call int, say func(...any))) scenario[words, string] {
	return scenario[words, string]{steps: hello(0, make([]int, n)...), build: lines(func(d *decl) doFn {
		c := combiningCells{
			sum:  stateful.Combining(d, "sum", stateful.Sum[int]()),
			list: stateful.Combining(d, "list", listing()),
		}
		calls := stateful.Value[int](d, "calls")
		return doFn{Process: func(_ ctx, _ elem, out out) error {
			n, _ := calls.Read()
			calls.Write(n + 1)
			f(c, n, func(v ...any) { out.Emit(fmt.Sprint(v...)) })
			return nil
		}}
	})}
}

// listing gathers what is added.
func listing() stateful.CombineFn[string, []string, []string] {
	return stateful.CombineFn[string, []string, []string]{
		Zero:  func() []string { return nil },
		Add:   func(a *[]string, v string) { *a = append(*a, v) },
		Merge: func(a *[]string, b []string) { *a = append(*a, b...) },
		Out:   func(a []string) []string { return a },
	}
}

func TestCombiningValue(t *testing.T) { // S-09, S14, S15
	withCombining(1, func(c combiningCells, _ int, say func(...any)) {
		say(c.sum.Read(), c.list.Read())
		c.sum.Add(2)
		c.list.Add("a")
		say(c.sum.Read(), c.list.ReadLater().Read())
		c.sum.Add(3)
		c.list.Add("b")
		say(c.sum.Read(), c.list.Read())
		say(c.sum.Read(), c.list.Read())
		c.sum.Clear()
		c.list.Clear()
		say(c.sum.Read(), c.list.Read())
		c.sum.Add(4)
		c.list.Add("c")
		say(c.sum.Read(), c.list.Read())
	}).inOrder(t, "0 []", "2 [a]", "5 [a b]", "5 [a b]", "0 []", "4 [c]")
}

func TestCombiningIsEmpty(t *testing.T) { // S-10, S17, S7
	withCombining(2, func(c combiningCells, call int, say func(...any)) {
		f, g := c.sum.IsEmpty(), c.list.IsEmpty()
		say(f.Read(), g.Read())
		c.sum.Add(0)
		c.list.AddAccum(nil)
		say(f.Read(), g.Read())
		if call == 1 {
			return
		}
		c.sum.Clear()
		c.list.Clear()
		say(f.Read(), g.Read())
	}).inOrder(t, "true true", "false false", "true true", "true true", "false false")
}

func TestCombiningSeesEarlierElements(t *testing.T) { // S5, S15
	withCombining(3, func(c combiningCells, call int, say func(...any)) {
		if call == 1 {
			c.list.Clear()
		}
		c.sum.AddAccum(10)
		c.list.AddAccum([]string{"x", "y"})
		c.list.Add(fmt.Sprint(call))
		say(c.sum.GetAccum(), c.list.GetAccum())
	}).inOrder(t, "10 [x y 0]", "20 [x y 1]", "30 [x y 1 x y 2]")
}

func TestAccumulatorsReadAreTheCallersOwn(t *testing.T) { // S6, S14
	withCombining(2, func(c combiningCells, _ int, say func(...any)) {
		c.list.Add("a")
		read, acc := c.list.Read(), c.list.GetAccum()
		read[0], acc[0] = "spoilt", "spoilt"
		say(c.list.Read(), len(c.list.GetAccum()))
	}).inOrder(t, "[a] 1", "[a a] 2")
}

func TestMergingAccumulatorsTouchesNoCell(t *testing.T) { // S16
	withCombining(1, func(c combiningCells, _ int, say func(...any)) {
		say(c.sum.MergeAccumulators(1, 2, 3), c.list.MergeAccumulators([]string{"a"}, nil, []string{"b"}))
		say(c.sum.MergeAccumulators(), c.sum.IsEmpty().Read(), c.list.IsEmpty().Read())
	}).inOrder(t, "6 [a b]", "0 true true")
}

func TestCombiningMean(t *testing.T) { // S-13
	scenario[float, string]{
		steps: []step[float]{el(kv("hello", 0.3), 0), el(kv("hello", 0.6), 0), el(kv("hello", 0.6), 0)},
		build: emitWhen(stateful.Mean[float64](), 0.5),
	}.gives(t, "right on")
}

func TestCombiningUnderItsSupertype(t *testing.T) { // S-14, S19
	scenario[float, string]{
		steps: []step[float]{el(kv("hello", 4.0), 0), el(kv("hello", 7.0), 0), el(kv("hello", -3.0), 0)},
		build: emitWhen(stateful.Sum[float64](), 8),
	}.gives(t, "right on")
}

type float = core.KV[string, float64]

// emitWhen adds every value to a combining cell, known as a group only, and says so
// when its result is want.
func emitWhen[A any](fn stateful.CombineFn[float64, A, float64], want float64) func(core.PCollection[float]) core.PCollection[string] {
	return func(c core.PCollection[float]) core.PCollection[string] {
		return stateful.ParDo(c, "do", func(d *stateful.Decl[string, float64, string]) stateful.DoFn[string, float64, string] {
			var group stateful.Grouping[float64, float64] = stateful.Combining(d, "group", fn)
			return stateful.DoFn[string, float64, string]{Process: func(_ ctx, e *core.Element[float], out out) error {
				group.Add(e.Value.Value)
				if group.Read() == want {
					out.Emit("right on")
				}
				return nil
			}}
		})
	}
}

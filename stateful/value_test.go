package stateful_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

// counting emits what the cell held, start where nothing, and adds by.
func counting(c core.PCollection[words], name string, start, by int) core.PCollection[int] {
	return stateful.ParDo(c, name, func(d *stateful.Decl[string, int, int]) stateful.DoFn[string, int, int] {
		foo := stateful.Value[int](d, "foo")
		return stateful.DoFn[string, int, int]{Process: func(_ ctx, _ elem, out *core.Out[int]) error {
			n, ok := foo.Read()
			if !ok {
				n = start
			}
			out.Emit(n)
			foo.Write(n + by)
			return nil
		}}
	})
}

func counts(c core.PCollection[words]) core.PCollection[int] { return counting(c, "count", 0, 1) }

func TestValueCounts(t *testing.T) { // S-01, S5, S11
	scenario[words, int]{steps: hello(0, 42, 97, 84), build: counts}.gives(t, 0, 1, 2)
}

func TestValueDeduplicates(t *testing.T) { // S-02
	var steps []step[int]
	var want []int
	for i := range 50 * 15 {
		steps = append(steps, el(i*7%50, event.Time(i)))
	}
	for i := range 50 {
		want = append(want, i)
	}
	scenario[int, int]{steps: steps, build: func(c core.PCollection[int]) core.PCollection[int] {
		return stateful.Distinct(c, "distinct", func(v int) int { return v })
	}}.gives(t, want...)
}

func TestWindowsDoNotShareState(t *testing.T) { // S-03, S1
	scenario[words, int]{
		windows: window.Fixed(10 * time.Millisecond),
		steps:   slices.Concat(hello(ms(1), 0), hello(ms(2), 0), hello(ms(3), 0), hello(ms(11), 0), hello(ms(13), 0)),
		build:   counts,
	}.times(t, at(0, ms(1)), at(1, ms(2)), at(2, ms(3)), at(0, ms(11)), at(1, ms(13)))
}

func TestStepsDoNotShareState(t *testing.T) { // S-04, S1
	scenario[words, string]{steps: hello(0, 42, 97, 84), build: func(c core.PCollection[words]) core.PCollection[string] {
		first := counting(c, "first", 0, 1)
		keyed := core.Map(first, "sizzle", func(v int) words { return kv("sizzle", v) })
		second := counting(keyed, "second", 13, 13)
		return core.Flatten("both",
			core.Map(first, "one", func(v int) string { return fmt.Sprint("1:", v) }),
			core.Map(second, "two", func(v int) string { return fmt.Sprint("2:", v) }))
	}}.gives(t, "1:0", "1:1", "1:2", "2:13", "2:26", "2:39")
}

func TestOutputsOfStateCanBeSplit(t *testing.T) { // S-05, without tags: outputs are split behind
	even := func(v int) bool { return v%2 == 0 }
	scenario[words, string]{
		steps: []step[words]{
			el(kv("hello", 1), 0), el(kv("goodbye", 1), 0), el(kv("hello", 2), 0),
			el(kv("goodbye", 2), 0), el(kv("hello", 3), 0), el(kv("hello", 4), 0),
		},
		build: func(c core.PCollection[words]) core.PCollection[string] {
			n := counts(c)
			a := core.Filter(n, "even", even)
			b := core.Filter(n, "odd", func(v int) bool { return !even(v) })
			return core.Flatten("both",
				core.Map(a, "A", func(v int) string { return fmt.Sprint("A", v) }),
				core.Map(b, "B", func(v int) string { return fmt.Sprint("B", v) }))
		},
	}.gives(t, "A0", "A2", "A0", "B1", "B3", "B1")
}

func TestStateNeedsDeterministicKeys(t *testing.T) { // S-06, S2; without a key it does not compile
	text := problems(t, func(p *core.Pipeline) {
		c := all(el(kv(0.5, 1), 0)).read(p, window.Global(), 0)
		stateful.ParDo(c, "do", func(*stateful.Decl[float64, int, int]) stateful.DoFn[float64, int, int] {
			return stateful.DoFn[float64, int, int]{Process: func(stateful.Context[float64], *core.Element[core.KV[float64, int]], *core.Out[int]) error {
				return nil
			}}
		})
	})
	wantWords(t, text, "do: ", "state", "deterministic", "float64")
}

func TestMergingWindowsAreRefused(t *testing.T) { // S3
	text := problems(t, func(p *core.Pipeline) { counts(all(hello(0, 1)...).read(p, sessions{}, 0)) })
	wantWords(t, text, "count: ", "state", "merging")
}

// sessions are windows that merge, as far as a graph needs to know.
type sessions struct{ window.Fn }

func (sessions) Merging() bool   { return true }
func (sessions) Validate() error { return nil }
func (sessions) String() string  { return "sessions" }

func TestElementInManyWindowsHasStateInEach(t *testing.T) { // S4
	scenario[words, int]{
		windows: window.Sliding(3*time.Minute, time.Minute, 0), steps: hello(0, 1, 2), build: counts,
	}.gives(t, 0, 0, 0, 1, 1, 1)
}

func TestValueIsWrittenAndCleared(t *testing.T) { // S11
	scenario[words, string]{steps: hello(0, 7), build: lines(func(d *decl) doFn {
		cell := stateful.Value[string](d, "cell")
		say := func(out out) {
			v, ok := cell.ReadLater().Read()
			out.Emit(fmt.Sprintf("%q %v", v, ok))
		}
		return doFn{Process: func(_ ctx, _ elem, out out) error {
			say(out)
			cell.Write("a")
			cell.Write("b")
			say(out)
			cell.Clear()
			say(out)
			cell.Write("")
			say(out)
			return nil
		}}
	})}.inOrder(t, `"" false`, `"b" true`, `"" false`, `"" true`)
}

func TestReadValuesAreTheCallersOwn(t *testing.T) { // S6
	scenario[words, string]{steps: hello(0, 1, 2), build: lines(func(d *decl) doFn {
		list := stateful.Value[[]int](d, "list")
		table := stateful.Value[map[string]*int](d, "table")
		return doFn{Process: func(_ ctx, e elem, out out) error {
			n := e.Value.Value
			held, _ := list.Read()
			if n == 1 {
				written, p := []int{1, 2}, new(int)
				list.Write(written)
				table.Write(map[string]*int{"x": p})
				written[0], *p = 100, 100
				held, _ = list.Read()
			}
			held[1] = 200
			now, _ := list.Read()
			m, _ := table.Read()
			out.Emit(fmt.Sprint(now, *m["x"]))
			*m["x"] = 300
			return nil
		}}
	})}.inOrder(t, "[1 2] 0", "[1 2] 0")
}

type reading struct {
	Level float64
	Note  string
}

func TestValueWithoutEncodingFailsTheElement(t *testing.T) { // not the epoch: it would fail for ever
	for name, v := range map[string]reading{"a number": {Level: math.NaN()}, "text": {Note: "\xff"}} {
		t.Run(name, func(t *testing.T) {
			scenario[words, string]{steps: hello(0, 1), build: lines(func(d *decl) doFn {
				cell := stateful.Value[reading](d, "cell")
				return doFn{Process: func(_ ctx, _ elem, out out) error {
					cell.Write(reading{Level: 1})
					cell.Write(v)
					out.Emit("never")
					return nil
				}}
			})}.refuses(t, "cell", "json:reading")
		})
	}
}

func TestValueTakesACoder(t *testing.T) {
	hex := coder.Coder[[]int]{
		Name:   "hex",
		Append: func(dst []byte, v []int) ([]byte, error) { return fmt.Appendf(dst, "%x", v[0]), nil },
		Read: func(b []byte) ([]int, error) {
			v := make([]int, 1)
			_, err := fmt.Sscanf(string(b), "%x", &v[0])
			return v, err
		},
	}
	scenario[words, string]{steps: hello(0, 255, 0), build: lines(func(d *decl) doFn {
		cell := stateful.Value(d, "cell", hex)
		return doFn{Process: func(_ ctx, e elem, out out) error {
			if v, ok := cell.Read(); ok {
				out.Emit(fmt.Sprint(v))
			}
			cell.Write([]int{e.Value.Value})
			return nil
		}}
	})}.inOrder(t, "[255]")
}

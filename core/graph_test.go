package core_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/gating"
	"github.com/gosluice/sluice/stateful"
)

// TestValidateListsAll builds a graph with many mistakes: one error names them all,
// before anything is read.
func TestValidateListsAll(t *testing.T) {
	p := core.NewPipeline("mistakes")
	src := newNumbers(1)
	in, _ := core.Read(p, "numbers", src, decodeNumber)
	core.Map(in, "twice", func(v int) int { return v })
	core.Map(in, "twice", func(v int) int { return v })
	core.Map(in, "", func(v int) int { return v })
	fixed := core.WindowInto(in, "zero", window.Fixed(0))
	core.WindowInto(in, "negative", window.Fixed(time.Second), core.WindowOptions{AllowedLateness: -time.Second})
	floats := core.Map(in, "floats", func(v int) core.KV[float64, int] { return core.KV[float64, int]{Key: float64(v)} })
	stateful.CombinePerKey(floats, "by float", stateful.Count[int]())                 // S-06, S2
	stateful.CombineGlobally(in, "no functions", stateful.CombineFn[int, int, int]{}) // S2
	core.Flatten("mixed", in, fixed)
	gating.WaitOn(in, "for ever", in.Done()) // W11: unbounded, global
	core.Read[int](p, "nothing", nil, decodeNumber)

	err := p.Validate()
	var graph *core.GraphError
	if !errors.As(err, &graph) {
		t.Fatalf("Validate: %v", err)
	}
	for _, want := range []string{
		"twice: the name is used twice", "has no name", "zero:", "negative: AllowedLateness",
		"by float: state needs a deterministic key coder", "no functions: its CombineFn lacks",
		"mixed: joins collections windowed differently", "for ever: waits for numbers", "nothing: reads a nil source",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	if _, runErr := core.Run(t.Context(), p, core.Volatile()); runErr == nil || runErr.Error() != err.Error() {
		t.Errorf("Run: %v, want what Validate says", runErr)
	}
	if src.next != 1 {
		t.Error("the source was read")
	}
}

// TestStateNeedsStore checks that state without a store is refused by naming the
// ways out, and that a gate is refused in any case.
func TestStateNeedsStore(t *testing.T) {
	build := func(gate bool) *core.Pipeline {
		p := core.NewPipeline("state")
		in, _ := core.Read(p, "numbers", newNumbers(1), decodeNumber, core.ReadOptions[int]{Bounded: true})
		sum := stateful.CombineGlobally(in, "sum", stateful.Sum[int]())
		if gate {
			gating.WaitOn(in, "gate", sum.Done())
		}
		return p
	}
	_, err := core.Run(t.Context(), build(false))
	if err == nil || !strings.Contains(err.Error(), "core.WithStore") || !strings.Contains(err.Error(), "core.Volatile") {
		t.Errorf("state without a store: %v", err)
	}
	if _, err := core.Run(t.Context(), build(false), core.Volatile()); err != nil {
		t.Errorf("state, volatile: %v", err)
	}
	if _, err := core.Run(t.Context(), build(true), core.Volatile()); err == nil || !strings.Contains(err.Error(), "gate: keeps held elements") {
		t.Errorf("a gate, volatile: %v", err)
	}
}

// TestIncompatible checks that a changed pipeline is refused by name and that its
// state can be given up.
func TestIncompatible(t *testing.T) {
	db := memory.New()
	run := func(build func(core.PCollection[int]), options ...core.RunOption) error {
		p := core.NewPipeline("changing")
		in, _ := core.Read(p, "numbers", newNumbers(3), decodeNumber)
		build(in)
		_, err := core.Run(t.Context(), p, append(options, core.WithStore(db))...)
		return err
	}
	sum := func(in core.PCollection[int]) { stateful.CombineGlobally(in, "sum", stateful.Sum[int]()) }
	count := func(in core.PCollection[int]) { stateful.CombineGlobally(in, "sum", stateful.Count[int]()) }
	text := func(in core.PCollection[int]) {
		stateful.CombineGlobally(core.Map(in, "text", func(int) string { return "x" }), "sum", stateful.CombineFn[string, string, string]{
			Zero: func() string { return "" }, Add: func(a *string, v string) { *a += v },
			Merge: func(a *string, b string) { *a += b }, Out: func(a string) string { return a },
		})
	}
	if err := run(sum); err != nil {
		t.Fatal(err)
	}
	if err := run(count); err != nil {
		t.Errorf("the same form: %v", err)
	}
	for name, build := range map[string]func(core.PCollection[int]){"gone": func(core.PCollection[int]) {}, "other coder": text} {
		err := run(build)
		var bad *core.IncompatibleError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "sum") || !strings.Contains(err.Error(), `core.DropState("sum")`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := run(text, core.DropState("sum")); err != nil {
		t.Errorf("after giving it up: %v", err)
	}
}

// TestWindowingAgain checks that windowing again keeps the longer lateness. L10, P-11
func TestWindowingAgain(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct{ first, second, want time.Duration }{
		{day, time.Hour, day}, {day, 2 * day, 2 * day},
	} {
		p := core.NewPipeline("lateness")
		in, _ := core.Read(p, "numbers", newNumbers(1), decodeNumber)
		a := core.WindowInto(in, "a", window.Fixed(time.Minute), core.WindowOptions{AllowedLateness: c.first})
		b := core.WindowInto(a, "b", window.Fixed(time.Minute), core.WindowOptions{AllowedLateness: c.second})
		if got := b.Strategy().AllowedLateness; got != c.want {
			t.Errorf("%v then %v: %v, want %v", c.first, c.second, got, c.want)
		}
	}
}

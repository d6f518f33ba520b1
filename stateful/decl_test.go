package stateful_test

import (
	"strings"
	"testing"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

func TestMistakesOfADeclarationAreListedTogether(t *testing.T) {
	nothing := func(ctx, elem, out) error { return nil }
	for name, c := range map[string]struct {
		declare func(d *decl) doFn
		words   []string
	}{
		"names": {func(d *decl) doFn {
			stateful.Value[int](d, "twice")
			stateful.Bag[int](d, "twice")
			stateful.Value[int](d, "")
			stateful.Value[int](d, "a\nb")
			stateful.Value[int](d, strings.Repeat("x", 101))
			return doFn{Process: nothing}
		}, []string{`"twice" is declared twice`, "needs a name", "printable", "at most 100"}},
		"coders": {func(d *decl) doFn {
			stateful.Value[chan int](d, "channel")
			stateful.Bag[func()](d, "function")
			stateful.Combining(d, "sum", stateful.CombineFn[int, chan int, int]{})
			return doFn{Process: nothing}
		}, []string{`"channel"`, `"function"`, `"sum"`, "Zero Add Merge Out", "no coder"}},
		"callbacks": {func(d *decl) doFn {
			stateful.EventTimer(d, "flush", nil)
			return doFn{}
		}, []string{`timer "flush" has no callback`, "no Process"}},
		"a panic": {func(d *decl) doFn {
			stateful.Value[int](d, "early").Read()
			return doFn{Process: nothing}
		}, []string{"panics", `"early" is used outside`}},
		"nothing": {nil, []string{"no declaring function"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := problems(t, func(p *core.Pipeline) { lines(c.declare)(all(hello(0, 1)...).read(p, window.Global(), 0)) })
			wantWords(t, text, append(c.words, "do: state")...)
		})
	}
}

// TestChangedCellsAreAnIncompatibleChange opens the state of one DoFn with another.
func TestChangedCellsAreAnIncompatibleChange(t *testing.T) {
	db := memory.New()
	run := func(declare func(d *decl)) error {
		p := core.NewPipeline("test")
		lines(func(d *decl) doFn {
			declare(d)
			return doFn{Process: func(ctx, elem, out) error { return nil }}
		})(all(hello(0, 1)...).read(p, window.Global(), 0))
		_, err := core.Run(t.Context(), p, core.WithStore(db), core.WithLogger(quiet))
		return err
	}
	value := func(d *decl) {
		stateful.Value[int](d, "a")
		stateful.Bag[string](d, "b")
	}
	if err := run(value); err != nil {
		t.Fatal(err)
	}
	sameInAnotherOrder := func(d *decl) {
		stateful.Bag[string](d, "b")
		stateful.Value[int64](d, "a")
	}
	if err := run(sameInAnotherOrder); err != nil {
		t.Errorf("the same cells in another order: %v", err)
	}
	for name, changed := range map[string]func(d *decl){
		"another type": func(d *decl) { stateful.Value[string](d, "a"); stateful.Bag[string](d, "b") },
		"another kind": func(d *decl) { stateful.Bag[int](d, "a"); stateful.Bag[string](d, "b") },
		"one gone":     func(d *decl) { stateful.Value[int](d, "a") },
	} {
		err := run(changed)
		if err == nil {
			t.Errorf("%s is accepted", name)
			continue
		}
		wantWords(t, err.Error(), "do: keeps state", `pardo(string;a=value(int64),b=bag(string))`, "DropState")
	}
}

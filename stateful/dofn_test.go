package stateful_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/stateful"
)

// The types most tests use: words with a number, and lines as output.
type (
	words = core.KV[string, int]
	decl  = stateful.Decl[string, int, string]
	doFn  = stateful.DoFn[string, int, string]
	ctx   = stateful.Context[string]
	tctx  = stateful.TimerContext[string]
	elem  = *core.Element[words]
	out   = *core.Out[string]
)

// lines is a scenario's build of one ParDo.
func lines(declare func(d *decl) doFn, opts ...core.Option) func(core.PCollection[words]) core.PCollection[string] {
	return func(c core.PCollection[words]) core.PCollection[string] {
		return stateful.ParDo(c, "do", declare, opts...)
	}
}

// hello is n elements of one key, all at time at.
func hello(at event.Time, values ...int) (steps []step[words]) {
	for _, v := range values {
		steps = append(steps, el(kv("hello", v), at))
	}
	return steps
}

// at prints a value with a time as [ran.stamped] does.
func at(v any, t event.Time) string { return fmt.Sprintf("%v@%d", v, int64(t)) }

// times runs the scenario and wants these outputs with their times.
func (s scenario[T, O]) times(t *testing.T, want ...string) {
	t.Helper()
	s.each(t, func(t *testing.T, r ran[O]) {
		if r.err != nil {
			t.Fatal(r.err)
		}
		wantSame(t, r.stamped(), want)
	})
}

// inOrder is gives with the order of the outputs of one key.
func (s scenario[T, O]) inOrder(t *testing.T, want ...O) {
	t.Helper()
	s.each(t, func(t *testing.T, r ran[O]) {
		if got := fmt.Sprint(r.values()); r.err != nil || got != fmt.Sprint(want) {
			t.Errorf("got  %v, %v\nwant %v", got, r.err, want)
		}
	})
}

// refuses runs the scenario and wants one element set aside for a reason with all
// these words, and no output.
func (s scenario[T, O]) refuses(t *testing.T, words ...string) {
	t.Helper()
	s.each(t, func(t *testing.T, r ran[O]) {
		if r.err != nil || len(r.setAside) != 1 || len(r.out) != 0 {
			t.Fatalf("set aside %q, outputs %v, error %v", r.setAside, r.values(), r.err)
		}
		wantWords(t, strings.ReplaceAll(r.setAside[0], `\"`, `"`), words...)
	})
}

func wantWords(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not mention %q", text, w)
		}
	}
}

// problems builds a graph with build and returns what Validate says.
func problems(t *testing.T, build func(p *core.Pipeline)) string {
	t.Helper()
	p := core.NewPipeline("test")
	build(p)
	err := p.Validate()
	if err == nil {
		t.Fatal("the graph is accepted")
	}
	return err.Error()
}

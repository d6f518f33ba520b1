package stateful_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/stateful"
)

type order = core.KV[string, string]

// obeying does to its cells what its elements say.
func obeying(c core.PCollection[order]) core.PCollection[string] {
	return stateful.ParDo(c, "do", func(d *stateful.Decl[string, string, string]) stateful.DoFn[string, string, string] {
		value := stateful.Value[string](d, "value")
		bag := stateful.Bag[string](d, "bag")
		sum := stateful.Combining(d, "sum", stateful.Sum[int]())
		timers := stateful.EventTimerFamily(d, "timers", func(tctx, out) error { return nil })
		return stateful.DoFn[string, string, string]{Process: func(_ ctx, e *core.Element[order], out out) error {
			for _, o := range strings.Fields(e.Value.Value) {
				switch o {
				case "write":
					value.Write("v")
				case "add":
					bag.Add("b")
				case "sum":
					sum.Add(1)
				case "set":
					timers.SetTag("t", ms(10))
				case "soon":
					timers.SetTag("t", e.Time-1)
				case "unset":
					timers.Tag("t").Clear()
				case "clear":
					value.Clear()
					bag.Clear()
					sum.Clear()
				case "read":
					_, _ = value.Read()
					out.Emit(fmt.Sprint(len(bag.Read()), sum.Read()))
				}
			}
			return nil
		}}
	})
}

// record prints one change of state, "" for another.
func record(r store.Record) string {
	op := map[store.Op]string{store.Put: "put", store.Delete: "delete", store.Merge: "merge", store.DeleteRange: "range"}[r.Op]
	if r.Op == store.DeleteRange {
		return op
	}
	_, rest, err := window.ReadWindow(r.Key)
	if err != nil {
		return err.Error()
	}
	key, rest, _ := coder.ReadSized(rest)
	name, sub, _ := coder.ReadSized(rest)
	return fmt.Sprintf("%s %s/%s%s", op, key, name, sub)
}

// TestRows pins which rows change, epoch by epoch: only what the epoch changed, adds
// to a bag as operands, and nothing for what came and went within it.
func TestRows(t *testing.T) {
	var steps []step[order]
	var want []string
	say := func(orders string, changes ...string) {
		steps = append(steps, el(kv("k", orders), ms(20)))
		want = append(want, strings.Join(changes, ", "))
	}
	say("write", "put k/value")
	say("write", "put k/value")
	say("read")
	say("add add", "put k/bag")
	say("add", "merge k/bag")
	say("clear add", "delete k/value, put k/bag")
	say("add", "merge k/bag")
	say("add clear", "delete k/bag")
	say("add clear")
	say("sum", "put k/sum")
	say("sum sum clear sum", "put k/sum")
	say("set", "put k/timerst")
	say("set unset", "delete k/timerst")
	say("set unset")
	say("unset")
	say("write set", "put k/value, put k/timerst")
	steps, want = append(steps, wm[order](ms(15))), append(want, "delete k/timerst")
	say("soon", "put k/timerst") // fires after the watermark moves again
	steps, want = append(steps, wm[order](ms(20))), append(want, "delete k/timerst")
	say("soon") // set and fired in one epoch
	say("clear", "delete k/value, delete k/sum")
	steps, want = append(steps, wm[order](gwMax)), append(want, "")

	var changes []string
	s := scenario[order, string]{steps: steps, build: obeying}
	s.commits = func(c *store.Commit) {
		for _, d := range c.Deltas {
			for r := range d.Records() {
				if d.Kind == store.State {
					changes = append(changes, record(r))
				}
			}
		}
	}
	s.atRest = func(i int, _ []engine.TaskView) {
		if got := strings.Join(changes, ", "); got != want[i] {
			t.Errorf("step %d, %q: %s, want %s", i, steps[i].value.Value, got, want[i])
		}
		changes = nil
	}
	if r := s.simulate(t, 1, 1); r.err != nil || r.rows > 0 {
		t.Errorf("%d rows left, error %v", r.rows, r.err)
	}
}

// TestBagRowIsRewritten: the operands of a row do not become many.
func TestBagRowIsRewritten(t *testing.T) {
	var steps []step[order]
	puts, merges, bytes := 0, 0, 0
	for range 500 {
		steps = append(steps, el(kv("k", "add"), 0))
	}
	s := scenario[order, string]{steps: append(steps, el(kv("k", "read"), 0)), build: obeying}
	s.commits = func(c *store.Commit) {
		for _, d := range c.Deltas {
			for r := range d.Records() {
				switch {
				case d.Kind != store.State:
					continue
				case r.Op == store.Put:
					puts++
				case r.Op == store.Merge:
					merges++
				}
				bytes += len(r.Value)
			}
		}
	}
	s.atRest = func(int, []engine.TaskView) {}
	r := s.simulate(t, 1, 1)
	wantSame(t, r.values(), []string{"500 0"})
	if puts < 4 || puts > 10 || merges < 400 || bytes > 4*2*500 {
		t.Errorf("%d puts, %d merges, %d bytes", puts, merges, bytes)
	}
}

// TestWindowIsOneRange: a collected window is one range for each key group it had.
func TestWindowIsOneRange(t *testing.T) { // X10
	steps := []step[order]{el(kv("a", "write add sum set"), 0), el(kv("b", "write"), 0), wm[order](event.Time(1))}
	ranges := 0
	s := scenario[order, string]{windows: window.Fixed(second), steps: steps, build: obeying}
	s.commits = func(c *store.Commit) {
		for _, d := range c.Deltas {
			for r := range d.Records() {
				if r.Op == store.DeleteRange && d.Kind == store.State {
					ranges++
				}
			}
		}
	}
	s.atRest = func(int, []engine.TaskView) {}
	if r := s.simulate(t, 1, 1); r.rows > 0 || ranges != 2 {
		t.Errorf("%d rows left, %d ranges", r.rows, ranges)
	}
}

package stateful_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/sim"
	"github.com/gosluice/sluice/stateful"
)

// ledgering uses every kind of cell and a timer per element, in a way that does not
// depend on when the watermark comes, so that what must come out is known: after a
// crash elements are replayed before the watermark they once came after.
func ledgering(d *decl) doFn {
	count := stateful.Value[int](d, "count")
	extremes := stateful.Value[[]int](d, "extremes")
	bag := stateful.Bag[int](d, "bag")
	sum := stateful.Combining(d, "sum", stateful.Sum[int]())
	list := stateful.Combining(d, "list", listing())
	fired := stateful.Combining(d, "fired", stateful.Count[int]())
	once := stateful.EventTimerFamily(d, "once", func(ctx tctx, out out) error {
		fired.Add(1)
		out.Emit("timer " + ctx.Tag())
		return nil
	})
	never := stateful.EventTimer(d, "never", func(_ tctx, out out) error { out.Emit("never"); return nil })
	return doFn{
		Process: func(ctx ctx, e elem, out out) error {
			v := e.Value.Value
			n, _ := count.Read()
			count.Write(n + 1)
			x, ok := extremes.Read()
			if !ok {
				x = []int{v, v}
			}
			extremes.Write([]int{min(x[0], v), max(x[1], v)})
			bag.Add(v)
			sum.Add(v)
			list.Add(fmt.Sprint(v))
			once.Tag(fmt.Sprint(v)).WithOutputTimestamp(e.Time).Set(min(e.Time.Add(3*time.Millisecond), ctx.Expires()))
			if never.Set(ctx.Expires()); v%3 > 0 {
				never.Clear()
			}
			out.Emit(fmt.Sprint("element ", v))
			return nil
		},
		OnWindowExpiration: func(ctx ctx, out out) error {
			n, _ := count.Read()
			x, _ := extremes.Read()
			values, texts := bag.Read(), list.Read()
			slices.Sort(values)
			slices.Sort(texts)
			out.Emit(fmt.Sprint(ctx.Key(), n, x, values, sum.Read(), len(texts), fired.Read()))
			return nil
		},
	}
}

// ledger is a random script and what ledgering makes of it.
func ledger(r *rand.Rand, n int) (steps []step[words], want []string) {
	type place struct {
		key    string
		window window.Window
	}
	values := map[place][]int{}
	low := event.Time(0)
	for v := range n {
		at := low.Add(time.Duration(r.IntN(8)) * time.Millisecond)
		key := fmt.Sprint("key", r.IntN(4))
		steps = append(steps, el(kv(key, v), at))
		p := place{key, window.Fixed(10*time.Millisecond).Assign(nil, at)[0]}
		values[p] = append(values[p], v)
		want = append(want, fmt.Sprint("element ", v), fmt.Sprint("timer ", v))
		if r.IntN(3) == 0 {
			low = low.Add(time.Duration(r.IntN(6)) * time.Millisecond)
			steps = append(steps, wm[words](low))
		}
	}
	for p, list := range values {
		sum := 0
		for _, v := range list {
			sum += v
		}
		if list[len(list)-1]%3 == 0 {
			want = append(want, "never")
		}
		extremes := []int{list[0], list[len(list)-1]}
		want = append(want, fmt.Sprint(p.key, len(list), extremes, list, sum, len(list), len(list)))
	}
	return steps, want
}

// TestCrashes runs random scripts while tasks fail, commits fail before and after
// they happened, and the process crashes or stops and is started again with another
// parallelism: what was committed is what a calm run commits, once.
func TestCrashes(t *testing.T) { // S10, S-32, L9, T18, X10
	runs := uint64(200)
	if testing.Short() {
		runs = 20
	}
	for seed := range runs {
		r := rand.New(rand.NewPCG(seed, 3))
		steps, want := ledger(r, 60)
		s := scenario[words, string]{
			windows: window.Fixed(10 * time.Millisecond), steps: steps, build: lines(ledgering),
			faults: sim.Faults{
				Abort: r.IntN(6), Crash: r.IntN(6), Stop: r.IntN(4), Max: 10,
				CommitBefore: r.IntN(60), CommitAfter: r.IntN(60), Commits: 10,
			},
		}
		got := s.simulate(t, seed, 1+r.IntN(4))
		if got.err != nil || got.late > 0 || got.rows > 0 || got.dropped > 0 {
			t.Errorf("seed %d: %d late outputs, %d rows left, %d dropped, error %v", seed, got.late, got.rows, got.dropped, got.err)
		}
		wantSame(t, got.values(), want)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

package stateful_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/stateful"
)

// telling counts elements and says the count when the window is over, with the
// order of what happened before.
func telling(d *decl) doFn {
	sum := stateful.Combining(d, "sum", stateful.Sum[int]())
	last := stateful.EventTimer(d, "last", func(ctx tctx, out out) error {
		sum.Add(1000)
		out.Emit("timer")
		return nil
	})
	return doFn{
		Process: func(ctx ctx, e elem, out out) error {
			sum.Add(e.Value.Value)
			last.Set(ctx.Expires())
			out.Emit("process")
			return nil
		},
		OnWindowExpiration: func(ctx ctx, out out) error {
			out.Emit(fmt.Sprint(ctx.Key(), " over ", sum.Read()))
			return nil
		},
	}
}

func TestOnWindowExpiration(t *testing.T) { // L-01: the timer lies before the elements and fires all the same
	ten := window.Fixed(10 * time.Millisecond)
	bounded := []step[words]{el(kv("hello", 0), ms(3)), el(kv("hi", 0), ms(13))}
	unbounded := []step[words]{bounded[0], wm[words](ms(12)), bounded[1], wm[words](ms(30))}
	for name, c := range map[string]struct {
		windows window.Fn
		steps   []step[words]
		want    []string
	}{
		"fixed, bounded":    {ten, bounded, []string{at(1, ms(10)-1), at(1, ms(20)-1)}},
		"fixed, unbounded":  {ten, unbounded, []string{at(1, ms(10)-1), at(1, ms(20)-1)}},
		"global, bounded":   {nil, bounded, []string{at(1, gwMax), at(1, gwMax)}},
		"global, unbounded": {nil, unbounded, []string{at(1, gwMax), at(1, gwMax)}},
	} {
		t.Run(name, func(t *testing.T) {
			scenario[words, string]{windows: c.windows, steps: c.steps, build: lines(func(d *decl) doFn {
				count := stateful.Combining(d, "count", stateful.Sum[int]())
				tick := stateful.EventTimer(d, "tick", func(tctx, out) error { count.Add(1); return nil })
				return doFn{
					Process: func(ctx, elem, out) error { tick.Set(ms(1)); return nil },
					OnWindowExpiration: func(_ ctx, out out) error {
						out.Emit(fmt.Sprint(count.Read()))
						return nil
					},
				}
			})}.times(t, c.want...)
		})
	}
}

func TestExpirationComesLast(t *testing.T) { // L8, L9, X10, T25
	scenario[words, string]{
		windows: window.Fixed(10 * time.Millisecond), lateness: 5 * time.Millisecond,
		steps: slices.Concat(hello(ms(3), 1), []step[words]{wm[words](ms(12))}, hello(ms(4), 2), []step[words]{wm[words](ms(40))}),
		build: lines(telling),
	}.inOrder(t, "process", "process", "timer", "hello over 1003")
}

func TestExpirationOfEveryKeyOnce(t *testing.T) { // L9, also where no cell was written
	var steps []step[words]
	var want []string
	for i := range 2500 { // more than fire at once
		key := fmt.Sprint("key", i%1250)
		steps = append(steps, el(kv(key, 0), event.Time(i)))
		if i < 1250 {
			want = append(want, key)
		}
	}
	scenario[words, string]{windows: window.Fixed(second), steps: steps, build: lines(func(*decl) doFn {
		return doFn{
			Process:            func(ctx, elem, out) error { return nil },
			OnWindowExpiration: func(ctx ctx, out out) error { out.Emit(ctx.Key()); return nil },
		}
	})}.gives(t, want...)
}

func TestExpirationSetsNoTimers(t *testing.T) { // L9
	scenario[words, string]{steps: hello(0, 1), build: lines(func(d *decl) doFn {
		tick := stateful.EventTimer(d, "tick", func(tctx, out) error { return nil })
		return doFn{
			Process:            func(ctx, elem, out) error { return nil },
			OnWindowExpiration: func(ctx, out) error { tick.Clear(); tick.Set(1); return nil },
		}
	})}.each(t, func(t *testing.T, r ran[string]) {
		wantWords(t, fmt.Sprint(r.err), `timer "tick"`, "OnWindowExpiration")
	})
}

// TestLateness walks the watermark over the end of a window.
func TestLateness(t *testing.T) { // L5, L7, X11
	gc := ms(15) - 1
	for _, c := range []struct {
		watermark event.Time
		kept      bool
	}{{ms(10), true}, {gc, true}, {gc + 1, false}, {gwMax, false}} {
		t.Run(c.watermark.String(), func(t *testing.T) {
			scenario[words, string]{
				windows: window.Fixed(10 * time.Millisecond), lateness: 5 * time.Millisecond,
				steps: slices.Concat(hello(ms(3), 1), []step[words]{wm[words](c.watermark)}, hello(ms(4), 2)),
				build: lines(telling),
			}.each(t, func(t *testing.T, r ran[string]) {
				want, dropped := []string{"process", "timer", "hello over 1001"}, int64(1)
				if c.kept {
					want, dropped = []string{"process", "process", "timer", "hello over 1003"}, 0
				}
				wantSame(t, r.values(), want)
				if r.err != nil || r.dropped != dropped {
					t.Errorf("%d dropped, want %d, error %v", r.dropped, dropped, r.err)
				}
			})
		})
	}
}

func TestLateElementIsDropped(t *testing.T) { // L-02; MAX itself is past the last element
	scenario[words, int]{
		windows: window.Fixed(10 * time.Millisecond), lateness: time.Millisecond,
		steps: slices.Concat([]step[words]{wm[words](gwMax)}, hello(0, 1)), build: counts,
	}.each(t, func(t *testing.T, r ran[int]) {
		if r.err != nil || r.dropped != 1 || len(r.out) > 0 || r.rows > 0 {
			t.Errorf("%d dropped, outputs %v, %d rows, error %v", r.dropped, r.out, r.rows, r.err)
		}
	})
}

func TestDroppingIsPerWindow(t *testing.T) { // L-06, L6
	scenario[words, string]{
		windows: window.Fixed(10 * time.Millisecond),
		steps:   slices.Concat([]step[words]{wm[words](ms(15))}, hello(ms(13), 13), hello(ms(5), 5), hello(ms(16), 16), hello(ms(18), 18)),
		build: lines(func(*decl) doFn {
			return doFn{Process: func(_ ctx, e elem, out out) error { out.Emit(fmt.Sprint(e.Value.Value)); return nil }}
		}),
	}.each(t, func(t *testing.T, r ran[string]) {
		wantSame(t, r.values(), []string{"13", "16", "18"})
		if r.dropped != 1 {
			t.Errorf("%d dropped", r.dropped)
		}
	})
	scenario[words, int]{ // of three windows one has expired
		windows: window.Sliding(30*time.Millisecond, 10*time.Millisecond, 0),
		steps:   slices.Concat([]step[words]{wm[words](ms(35))}, hello(ms(25), 1)), build: counts,
	}.each(t, func(t *testing.T, r ran[int]) {
		if len(r.out) != 2 || r.dropped != 1 {
			t.Errorf("outputs %v, %d dropped", r.out, r.dropped)
		}
	})
}

// TestHolds follows the output watermark on one worker.
func TestHolds(t *testing.T) {
	ten := window.Fixed(10 * time.Millisecond)
	none := func(ctx, elem, out) error { return nil }
	timer := func(set func(f stateful.Timer, e elem)) func(d *decl) doFn {
		return func(d *decl) doFn {
			f := stateful.EventTimer(d, "f", func(tctx, out) error { return nil })
			return doFn{Process: func(_ ctx, e elem, _ out) error { set(f, e); return nil }}
		}
	}
	w := func(n int64) step[words] { return wm[words](ms(n)) }
	for _, c := range []struct {
		rule    string
		windows window.Fn
		steps   []step[words]
		declare func(d *decl) doFn
		// out is the output watermark for each watermark of the script.
		out []event.Time
	}{
		{"no timer, no hold", ten, slices.Concat(hello(ms(3), 1), []step[words]{w(5), w(15)}),
			func(*decl) doFn { return doFn{Process: none} }, []event.Time{ms(5), ms(15)}},
		{"T18 the output timestamp, until it fires", nil,
			slices.Concat(hello(ms(3), 1), []step[words]{w(5), w(15), w(20), w(21)}),
			timer(func(f stateful.Timer, e elem) { f.WithOutputTimestamp(ms(8)).Set(ms(20)) }),
			[]event.Time{ms(5), ms(8), ms(8), ms(21)}},
		{"T16, T18 the default is the firing time", nil, slices.Concat(hello(ms(3), 1), []step[words]{w(5), w(20), w(21)}),
			timer(func(f stateful.Timer, e elem) { f.Set(ms(20)) }), []event.Time{ms(5), ms(20), ms(21)}},
		{"T18 set again", nil, slices.Concat(hello(ms(3), 1), []step[words]{w(9)}, hello(ms(12), 2), []step[words]{w(20)}),
			timer(func(f stateful.Timer, e elem) { f.WithOutputTimestamp(e.Time).Set(ms(30)) }), []event.Time{ms(3), ms(12)}},
		{"T18 cleared", nil, slices.Concat(hello(ms(3), 1), []step[words]{w(9)}, hello(ms(12), 2), []step[words]{w(20)}),
			timer(func(f stateful.Timer, e elem) {
				if f.WithOutputTimestamp(e.Time).Set(ms(30)); e.Value.Value == 2 {
					f.Clear()
				}
			}), []event.Time{ms(3), ms(20)}},
		{"T19 no output timestamp, no hold", nil, slices.Concat(hello(ms(3), 1), []step[words]{w(9), w(40)}),
			timer(func(f stateful.Timer, e elem) { f.WithNoOutputTimestamp().Set(ms(30)) }), []event.Time{ms(9), ms(40)}},
		{"H-03 the least of all keys", nil,
			[]step[words]{el(kv("odd", 1), ms(1)), el(kv("even", 1), ms(2)), w(9), el(kv("odd", 2), ms(9)), w(10), el(kv("even", 3), ms(11)), w(30)},
			timer(func(f stateful.Timer, e elem) { f.WithOutputTimestamp(e.Time).Set(ms(100)) }), []event.Time{ms(1), ms(2), ms(9)}},
		{"X15 a window to be told of", ten, slices.Concat(hello(ms(3), 1), []step[words]{w(5), w(10), w(11), w(25)}),
			telling, []event.Time{ms(5), ms(10), ms(11), ms(25)}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := scenario[words, string]{windows: c.windows, steps: c.steps, build: lines(c.declare)}
			wantHolds(t, s, c.out...)
		})
	}
}

// wantHolds wants the output watermarks after each watermark of the script, and that
// nothing comes out behind them.
func wantHolds(t *testing.T, s scenario[words, string], want ...event.Time) {
	t.Helper()
	for seed := range uint64(4) {
		var got []event.Time
		s.atRest = func(i int, tasks []engine.TaskView) {
			for _, v := range tasks {
				if v.Stage != "do" || !s.steps[i].watermark {
					continue
				}
				if got = append(got, v.Out); v.In != s.steps[i].at { // T18: the input's is not held
					t.Errorf("seed %d: the input watermark is %v, want %v", seed, v.In, s.steps[i].at)
				}
			}
		}
		r := s.simulate(t, seed, 1)
		if !slices.Equal(got, want) || r.err != nil || r.late > 0 {
			t.Errorf("seed %d: output watermarks %v, want %v; %d late outputs, error %v", seed, got, want, r.late, r.err)
		}
	}
}

// TestExpirationHolds: with an allowed lateness the hold is the window's end, until
// the window is over, and nothing that is emitted there is late.
func TestExpirationHolds(t *testing.T) { // X15
	s := scenario[words, string]{
		windows: window.Fixed(10 * time.Millisecond), lateness: 10 * time.Millisecond,
		steps: slices.Concat(hello(ms(3), 1), []step[words]{wm[words](ms(15)), wm[words](ms(20) - 1), wm[words](ms(20))}),
		build: lines(func(*decl) doFn {
			return doFn{
				Process:            func(ctx, elem, out) error { return nil },
				OnWindowExpiration: func(_ ctx, out out) error { out.Emit("over"); return nil },
			}
		}),
	}
	wantHolds(t, s, ms(10)-1, ms(10)-1, ms(20))
	s.times(t, at("over", ms(10)-1))
}

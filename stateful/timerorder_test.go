package stateful_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

// tagged declares a family whose timers say their tag and then do what on says; the
// elements set timers by process.
func tagged(process func(f stateful.TimerFamily, e elem), on func(f stateful.TimerFamily, ctx tctx)) func(d *decl) doFn {
	return func(d *decl) doFn {
		var f stateful.TimerFamily
		f = stateful.EventTimerFamily(d, "foo", func(ctx tctx, out out) error {
			out.Emit(ctx.Tag())
			if on != nil {
				on(f, ctx)
			}
			return nil
		})
		return doFn{Process: func(_ ctx, e elem, out out) error {
			out.Emit("process")
			process(f, e)
			return nil
		}}
	}
}

func abc(f stateful.TimerFamily, _ elem) {
	f.SetTag("c", ms(30))
	f.SetTag("a", ms(10))
	f.SetTag("b", ms(20))
}

func TestTimerOrder(t *testing.T) {
	to100 := []step[words]{wm[words](ms(100))}
	for _, c := range []struct {
		rule    string
		steps   []step[words]
		process func(f stateful.TimerFamily, e elem)
		on      func(f stateful.TimerFamily, ctx tctx)
		want    string
	}{
		{"T-24 a family", hello(0, 1), func(f stateful.TimerFamily, _ elem) {
			f.SetTag("timer2", ms(2))
			f.SetTag("timer1", ms(1))
		}, nil, "process timer1 timer2"},
		{"T6 in time order", slices.Concat(hello(0, 1), to100), abc, nil, "process a b c"},
		{"T29 drain fires them in order", hello(0, 1), abc, nil, "process a b c"},
		{"T6 one time: by tag, whenever they were set", hello(0, 1), func(f stateful.TimerFamily, _ elem) {
			f.SetTag("y", ms(5))
			f.SetTag("x", ms(5))
			f.SetTag("z", ms(5))
		}, nil, "process x y z"},
		{"T-27, T12", slices.Concat(hello(0, 1), []step[words]{wm[words](ms(20)), wm[words](ms(21))}, hello(ms(21), 2), []step[words]{wm[words](ms(30))}),
			func(f stateful.TimerFamily, e elem) {
				f.SetTag("19", ms(19))
				if e.Value.Value == 1 {
					f.SetTag("29", ms(29))
				}
			}, nil, "process 19 process 19 29"},
		{"T7 an earlier one set while firing comes first", slices.Concat(hello(0, 1), to100), abc,
			func(f stateful.TimerFamily, ctx tctx) {
				if ctx.Tag() == "a" {
					f.SetTag("between", ms(15))
					f.SetTag("past", ms(1))
				}
			}, "process a past between b c"},
		{"T7 two that set one another", slices.Concat(hello(0, 1), to100), func(f stateful.TimerFamily, _ elem) { f.SetTag("x", ms(1)) },
			func(f stateful.TimerFamily, ctx tctx) {
				if next := ctx.FireTime().Add(time.Millisecond); next < ms(5) {
					f.SetTag(map[string]string{"x": "y", "y": "x"}[ctx.Tag()], next)
				}
			}, "process x y x y"},
		{"T5 a clear beats one that is queued", slices.Concat(hello(0, 1), to100), abc,
			func(f stateful.TimerFamily, ctx tctx) { f.Tag("b").Clear() }, "process a c"},
		{"T5 a set beats one that is queued", slices.Concat(hello(0, 1), to100), abc,
			func(f stateful.TimerFamily, ctx tctx) {
				if ctx.Tag() == "a" {
					f.SetTag("b", ms(200))
				}
			}, "process a c b"},
		{"T8 elements before timers", slices.Concat(hello(0, 1, 2), to100), abc, nil, "process process a b c"},
		{"T9 fired, it is not set: a clear changes nothing", slices.Concat(hello(0, 1), to100), abc,
			func(f stateful.TimerFamily, ctx tctx) { f.Tag(ctx.Tag()).Clear() }, "process a b c"},
		{"T28 a loop", hello(0, 1), func(f stateful.TimerFamily, _ elem) { f.SetTag("tick", ms(1)) },
			func(f stateful.TimerFamily, ctx tctx) {
				if next := ctx.FireTime().Add(time.Millisecond); next <= ms(5) {
					f.SetTag("tick", next)
				}
			}, "process tick tick tick tick tick"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			scenario[words, string]{steps: c.steps, build: lines(tagged(c.process, c.on))}.inOrder(t, strings.Fields(c.want)...)
		})
	}
}

func TestFamiliesAndTimersAreApart(t *testing.T) { // T1
	scenario[words, string]{steps: hello(0, 1), build: lines(func(d *decl) doFn {
		say := func(ctx tctx, out out) error {
			out.Emit(fmt.Sprintf("%s/%s", ctx.Timer(), ctx.Tag()))
			return nil
		}
		f, g := stateful.EventTimerFamily(d, "f", say), stateful.EventTimerFamily(d, "g", say)
		x := stateful.EventTimer(d, "x", say)
		return doFn{Process: func(_ ctx, _ elem, _ out) error {
			x.Set(1)
			f.SetTag("x", 1)
			g.SetTag("x", 1)
			f.SetTag("", 1)
			g.Tag("y").Clear()
			return nil
		}}
	})}.gives(t, "x/", "f/x", "g/x", "f/")
}

func TestCallbackSees(t *testing.T) { // T10, T-08
	scenario[words, string]{
		windows: window.Fixed(10 * time.Millisecond), steps: hello(ms(3), 7), lateness: time.Millisecond,
		build: lines(func(d *decl) doFn {
			last := stateful.Value[int](d, "last")
			flush := stateful.EventTimer(d, "flush", func(ctx tctx, out out) error {
				n, _ := last.Read()
				out.Emit(fmt.Sprint(ctx.Key(), n, ctx.Timer(), int64(ctx.FireTime()), int64(ctx.Timestamp()), int64(ctx.Expires()), ctx.Window().End == ms(10)))
				return nil
			})
			return doFn{Process: func(ctx ctx, e elem, _ out) error {
				if ctx.Key() != "hello" || ctx.Window() != e.Window {
					t.Errorf("context of %v in %v", ctx.Key(), ctx.Window())
				}
				last.Write(e.Value.Value)
				flush.WithOutputTimestamp(ms(8)).Set(ms(9))
				return nil
			}}
		}),
	}.each(t, func(t *testing.T, r ran[string]) {
		wantSame(t, r.stamped(), []string{at("hello7flush9000 8000 10999 true", ms(8))})
		if r.err != nil || r.out[0].Pane != event.NoFiring || r.out[0].Window != (window.Window{End: ms(10)}) || r.out[0].Ref != 0 {
			t.Errorf("output %+v, error %v", r.out[0], r.err) // P9
		}
	})
}

func TestTimerPerKeyAndWindow(t *testing.T) { // T-04, T-02: a stage between changes nothing
	var steps []step[core.KV[int, int]]
	var want []string
	for i := range 50 * 15 {
		steps = append(steps, el(kv(i%50, i), event.Time(i)))
		want = append(want, fmt.Sprint(i))
	}
	for i := range 50 {
		want = append(want, fmt.Sprint(i, " fired"))
	}
	scenario[core.KV[int, int], string]{steps: steps, build: func(c core.PCollection[core.KV[int, int]]) core.PCollection[string] {
		return stateful.ParDo(c, "do", func(d *stateful.Decl[int, int, string]) stateful.DoFn[int, int, string] {
			key := stateful.Value[int](d, "key")
			end := stateful.EventTimer(d, "end", func(ctx stateful.TimerContext[int], out out) error {
				k, _ := key.Read()
				out.Emit(fmt.Sprint(k, " fired"))
				return nil
			})
			return stateful.DoFn[int, int, string]{Process: func(ctx stateful.Context[int], e *core.Element[core.KV[int, int]], out out) error {
				key.Write(e.Value.Key)
				end.Set(ctx.Window().Max())
				out.Emit(fmt.Sprint(e.Value.Value))
				return nil
			}}
		})
	}}.gives(t, want...)
}

func TestTimerFiresInItsWindow(t *testing.T) { // T-05
	scenario[words, string]{
		windows: window.Sliding(3*time.Minute, time.Minute, 0), steps: hello(0, 1),
		build: lines(timing(func(f stateful.Timer, _ elem) { f.SetRelative(second) })),
	}.each(t, func(t *testing.T, r ran[string]) {
		var got []window.Window
		for _, e := range r.out {
			if e.Value == "42" {
				got = append(got, e.Window)
			}
		}
		wantSame(t, got, window.Sliding(3*time.Minute, time.Minute, 0).Assign(nil, 0))
	})
}

// looping counts how often its timer has fired, in state, and goes on while more
// says so.
func looping(set func(t stateful.Timer, ctx tctx), more func(n int, ctx tctx) bool) func(d *decl) doFn {
	return func(d *decl) doFn {
		count := stateful.Value[int](d, "count")
		var loop stateful.Timer
		loop = stateful.EventTimer(d, "loop", func(ctx tctx, out out) error {
			n, _ := count.Read()
			count.Write(n + 1)
			out.Emit(fmt.Sprint(ctx.Key(), n))
			if more(n+1, ctx) {
				set(loop, ctx)
			}
			return nil
		})
		return doFn{Process: func(ctx, elem, out) error { loop.SetRelative(time.Millisecond); return nil }}
	}
}

func TestLoop(t *testing.T) { // T-06, T28
	words3 := []step[words]{el(kv("hello1", 0), 0), el(kv("hello2", 0), 0), el(kv("hello3", 0), 0)}
	var want []string
	ticks := []step[words]{wm[words](0)}
	ticks = append(ticks, words3...)
	for i := range 5 {
		want = append(want, fmt.Sprint("hello1", i), fmt.Sprint("hello2", i), fmt.Sprint("hello3", i))
		ticks = append(ticks, wm[words](ms(2+int64(i))))
	}
	build := lines(looping(
		func(t stateful.Timer, _ tctx) { t.SetRelative(time.Millisecond) },
		func(n int, _ tctx) bool { return n < 5 }))
	t.Run("watermark in one go", func(t *testing.T) { scenario[words, string]{steps: words3, build: build}.gives(t, want...) })
	t.Run("watermark in steps", func(t *testing.T) { scenario[words, string]{steps: ticks, build: build}.gives(t, want...) })
}

// TestEndlessLoopsEnd: a drain ends though a timer sets itself for ever.
func TestEndlessLoopsEnd(t *testing.T) { // T28, T30
	always := func(int, tctx) bool { return true }
	inTime := func(_ int, ctx tctx) bool { return ctx.FireTime() < ctx.Expires() }
	for name, c := range map[string]struct {
		windows window.Fn
		declare func(d *decl) doFn
		most    int
	}{
		"relative": {nil, looping(func(t stateful.Timer, _ tctx) { t.SetRelative(time.Hour) }, always), 110},
		"relative in a window": {window.Fixed(second),
			looping(func(t stateful.Timer, _ tctx) { t.SetRelative(time.Millisecond) }, always), 110},
		"absolute in the global window": {nil, looping(func(t stateful.Timer, ctx tctx) { t.Set(ctx.FireTime() + 1) }, always), 110},
		"one that looks":                {nil, looping(func(t stateful.Timer, ctx tctx) { t.SetRelative(time.Hour) }, inTime), 2},
		"absolute in a window, to its last": {window.Fixed(second),
			looping(func(t stateful.Timer, ctx tctx) { t.Set(max(ctx.FireTime(), -1).Add(time.Millisecond)) },
				func(n int, _ tctx) bool { return n < 999 }), 999},
	} {
		t.Run(name, func(t *testing.T) {
			scenario[words, string]{windows: c.windows, steps: hello(0, 1), build: lines(c.declare)}.each(t, func(t *testing.T, r ran[string]) {
				if n := len(r.out); r.err != nil || n > c.most || n < min(c.most, 2) || c.most > 110 && n != c.most {
					t.Errorf("%d firings, want at most %d, error %v", n, c.most, r.err)
				}
			})
		})
	}
}

package stateful_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coretest"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

// The cases here look between the steps: what has not come out yet matters as much
// as what has.

// scripted is one input through a stateful ParDo.
type scripted struct {
	*coretest.Stream[words]
	out *coretest.Output[string]
}

func onScript(c *coretest.Case, fn window.Fn, lateness time.Duration, declare func(d *decl) doFn) scripted {
	in := coretest.NewStream[words](c, "in", false)
	windowed := core.WindowInto(in.PCollection, "windows", fn, core.WindowOptions{AllowedLateness: lateness})
	return scripted{in, coretest.Collect(c, lines(declare)(windowed), "out")}
}

// hi is an element of key k at so many milliseconds.
func hi(k string, millis int64) coretest.Timed[words] { return coretest.At(kv(k, 1), millis) }

func TestTimerFiresStrictlyAfterItsTime(t *testing.T) { // T-01 (with a time: the watermark that a relative timer sees may be lower after an abort), X1, T6, T18
	coretest.Run(t, func(c *coretest.Case) {
		s := onScript(c, window.Global(), 0, timing(func(f stateful.Timer, _ elem) { f.Set(sec(1)) }))
		s.WatermarkAt(0)
		s.Add(hi("k", 0))
		s.out.Expect("3")
		s.Watermark(sec(1) - 1)
		s.out.Expect("3")
		s.WatermarkAt(1000)
		s.out.Expect("3")
		s.Watermark(sec(1) + 1)
		s.out.ExpectTimed(coretest.At("3", 0), coretest.At("42", 1000))
		s.End()
		s.out.Expect("3", "42")
	})
}

func TestTimerSetForLater(t *testing.T) { // T-26
	coretest.Run(t, func(c *coretest.Case) {
		s := onScript(c, window.Global(), 0, timing(func(f stateful.Timer, _ elem) {
			f.Set(ms(13))
			f.Set(ms(42))
		}))
		s.Add(hi("k", 0))
		s.WatermarkAt(14)
		s.out.Expect("3")
		s.WatermarkAt(43)
		s.out.ExpectTimed(coretest.At("3", 0), coretest.At("42", 42))
	})
}

func TestTimersFireOneByOne(t *testing.T) { // T-27, T12
	coretest.Run(t, func(c *coretest.Case) {
		s := onScript(c, window.Global(), 0, tagged(func(f stateful.TimerFamily, e elem) {
			f.SetTag("19", ms(19))
			f.SetTag("29", ms(29))
		}, nil))
		s.Add(hi("k", 0))
		s.WatermarkAt(20)
		s.out.Expect("process", "19")
		s.WatermarkAt(21)
		s.out.Expect("process", "19")
		s.Add(hi("k", 21))
		s.out.Expect("process", "19", "process", "19")
		s.WatermarkAt(30)
		s.out.Expect("process", "19", "process", "19", "29")
	})
}

func TestTimerSweeps(t *testing.T) { // T-31
	coretest.Run(t, func(c *coretest.Case) {
		s := onScript(c, window.Global(), 0, tagged(func(f stateful.TimerFamily, _ elem) {
			for _, n := range []int64{10_000, 1000, 5000} {
				f.SetTag(fmt.Sprint(n), ms(n))
			}
		}, nil))
		s.Add(hi("k", 0))
		s.WatermarkAt(1500)
		s.out.Expect("process", "1000")
		s.WatermarkAt(50_000)
		s.out.Expect("process", "1000", "5000", "10000")
	})
}

func TestTimerInTheAllowedLateness(t *testing.T) { // T-13, T11
	coretest.Run(t, func(c *coretest.Case) {
		s := onScript(c, window.Fixed(10*second), 10*second, timing(func(f stateful.Timer, e elem) { f.Set(e.Time.Add(10 * second)) }))
		s.WatermarkAt(5000)
		s.Add(hi("k", 5000))
		s.WatermarkAt(15_000)
		s.out.Expect("3")
		s.WatermarkAt(60_000)
		s.out.ExpectTimed(coretest.At("3", 5000), coretest.At("42", 15_000))
		s.End()
		s.out.Expect("3", "42")
	})
}

func TestWindowIsOverAfterItsLateness(t *testing.T) { // L-01, L8, L9, X10, X11
	over := func(d *decl) doFn {
		count := stateful.Combining(d, "count", stateful.Count[int]())
		return doFn{
			Process: func(_ ctx, e elem, _ out) error { count.Add(1); return nil },
			OnWindowExpiration: func(ctx ctx, out out) error {
				out.Emit(fmt.Sprint(ctx.Key(), count.Read()))
				return nil
			},
		}
	}
	coretest.Run(t, func(c *coretest.Case) {
		s := onScript(c, window.Fixed(10*time.Millisecond), 5*time.Millisecond, over)
		s.Add(hi("a", 3), hi("b", 4), hi("a", 13))
		s.WatermarkAt(12)
		s.out.Expect()
		s.Add(hi("a", 9)) // late, and taken (L7)
		s.Watermark(ms(15) - 1)
		s.out.Expect()
		s.WatermarkAt(15)
		end := ms(10) - 1
		s.out.ExpectTimed(coretest.Timed[string]{Value: "a2", Time: end}, coretest.Timed[string]{Value: "b1", Time: end})
		s.Add(hi("a", 9), hi("b", 9)) // too late
		c.ExpectDropped(2)
		s.End()
		s.out.Expect("a2", "b1", "a1")
	})
}

func TestHoldsReachTheNextStage(t *testing.T) { // T18, X15: downstream windows wait for what timers will emit
	coretest.Run(t, func(c *coretest.Case) {
		in := coretest.NewStream[words](c, "in", false)
		held := stateful.ParDo(in.PCollection, "do", func(d *stateful.Decl[string, int, words]) stateful.DoFn[string, int, words] {
			flush := stateful.EventTimer(d, "flush", func(ctx tctx, out *core.Out[words]) error {
				out.Emit(kv(ctx.Key(), 1))
				return nil
			})
			return stateful.DoFn[string, int, words]{Process: func(_ ctx, e elem, _ *core.Out[words]) error {
				flush.WithOutputTimestamp(e.Time).Set(sec(30))
				return nil
			}}
		})
		windowed := core.WindowInto(held, "windows", window.Fixed(10*second))
		sums := coretest.Collect(c, stateful.CombinePerKey(windowed, "sum", stateful.Sum[int]()), "sums")
		in.Add(hi("k", 3000))
		in.WatermarkAt(20_000)
		sums.Expect()
		in.WatermarkAt(30_001)
		sums.ExpectTimed(coretest.Timed[words]{Value: kv("k", 1), Time: sec(10) - 1})
		c.ExpectDropped(0)
	})
}

func TestDrainFiresAllTimersThenEndsWindows(t *testing.T) { // T29, T25
	coretest.Run(t, func(c *coretest.Case) {
		s := onScript(c, window.Global(), 0, func(d *decl) doFn {
			order := stateful.Bag[string](d, "order")
			tick := stateful.EventTimerFamily(d, "tick", func(ctx tctx, _ out) error { order.Add(ctx.Tag()); return nil })
			return doFn{
				Process: func(_ ctx, e elem, _ out) error {
					order.Add("element")
					tick.SetTag("last", event.EndOfGlobalWindow)
					tick.SetTag("first", e.Time)
					return nil
				},
				OnWindowExpiration: func(_ ctx, out out) error { out.Emit(fmt.Sprint(order.Read())); return nil },
			}
		})
		s.Add(hi("k", 5))
		s.out.Expect()
		s.End()
		s.out.Expect("[element first last]")
	})
}

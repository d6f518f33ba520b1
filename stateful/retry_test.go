package stateful_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

// everything declares a cell of each kind and a timer, writes all of them for every
// element and emits what they held before; fail decides what becomes of a call.
func everything(fail func(ctx ctx, e elem) error) func(d *decl) doFn {
	return func(d *decl) doFn {
		plain := stateful.Value[int](d, "plain")
		packed := stateful.Value[[]int](d, "packed")
		bag := stateful.Bag[int](d, "bag")
		sum := stateful.Combining(d, "sum", stateful.Sum[int]())
		list := stateful.Combining(d, "list", listing())
		tick := stateful.EventTimerFamily(d, "tick", func(ctx tctx, out out) error {
			out.Emit("tick " + ctx.Tag())
			return nil
		})
		return doFn{Process: func(ctx ctx, e elem, out out) error {
			n := e.Value.Value
			p, _ := plain.Read()
			q, _ := packed.Read()
			out.Emit(fmt.Sprint(p, q, bag.Read(), sum.Read(), list.Read()))
			if n%2 == 0 {
				bag.Clear()
				list.Clear()
				sum.Clear()
				packed.Clear()
				tick.Tag(fmt.Sprint(n - 1)).Clear()
			}
			plain.Write(n)
			packed.Write(append(q, n))
			bag.Add(n)
			sum.Add(n)
			list.Add(fmt.Sprint(n))
			tick.SetTag(fmt.Sprint(n), e.Time)
			return fail(ctx, e)
		}}
	}
}

var everythingOf123 = []string{
	"0 [] [] 0 []", "1 [1] [1] 1 [1]", "2 [1 2] [2] 2 [2]", "tick 2", "tick 3",
}

func TestFailedAttemptsLeaveNoTrace(t *testing.T) { // S-32, S10, F4
	var finalized atomic.Int32
	fail := func(ctx ctx, _ elem) error {
		attempt := ctx.Attempt()
		ctx.AfterBundleCommit(time.Hour, func(context.Context) error {
			if attempt < 3 {
				t.Errorf("the finalizer of attempt %d runs", attempt)
			}
			finalized.Add(1)
			return nil
		})
		if attempt < 3 {
			return errors.New("not yet")
		}
		return nil
	}
	scenario[words, string]{
		steps: hello(0, 1, 2, 3), build: lines(everything(fail), core.RetryDelay(time.Microsecond)),
	}.each(t, func(t *testing.T, r ran[string]) {
		if n := finalized.Swap(0); r.err != nil || n != 3 {
			t.Errorf("%d finalizers ran, error %v", n, r.err)
		}
		wantSame(t, r.values(), everythingOf123)
	})
}

func TestElementsGivenUpLeaveNoTrace(t *testing.T) { // S10
	fail := func(_ ctx, e elem) error {
		if e.Value.Value > 10 {
			return fault.Errorf(fault.Permanent, "bad element")
		}
		return nil
	}
	scenario[words, string]{
		steps: hello(0, 11, 1, 12, 2, 14, 3, 15), build: lines(everything(fail)),
	}.each(t, func(t *testing.T, r ran[string]) {
		if r.err != nil || r.quarantined != 4 || len(r.setAside) != 4 {
			t.Errorf("%d quarantined, error %v", r.quarantined, r.err)
		}
		wantSame(t, r.values(), everythingOf123)
	})
}

func TestPanicsLeaveNoTrace(t *testing.T) { // S10: the first panic abandons the epoch
	fail := func(_ ctx, e elem) error {
		if e.Value.Value > 10 {
			panic("bad element")
		}
		return nil
	}
	scenario[words, string]{
		steps: hello(0, 11, 1, 2, 12, 3), build: lines(everything(fail), core.Attempts(2), core.RetryDelay(time.Microsecond)),
	}.each(t, func(t *testing.T, r ran[string]) {
		if r.err != nil || len(r.setAside) != 2 {
			t.Errorf("set aside %q, error %v", r.setAside, r.err)
		}
		wantSame(t, r.values(), everythingOf123)
	})
}

// TestKeyThatOnlyFailedIsForgotten: a key whose only element was given up did not
// see data (L9).
func TestKeyThatOnlyFailedIsForgotten(t *testing.T) {
	scenario[words, string]{
		steps: []step[words]{el(kv("bad", 1), 0), el(kv("good", 2), 0)},
		build: lines(func(d *decl) doFn {
			return doFn{
				Process: func(_ ctx, e elem, _ out) error {
					if e.Value.Key == "bad" {
						return fault.Errorf(fault.Permanent, "bad element")
					}
					return nil
				},
				OnWindowExpiration: func(ctx ctx, out out) error {
					out.Emit("over for " + ctx.Key())
					return nil
				},
			}
		}),
	}.gives(t, "over for good")
}

func TestFinalizersOfTimersAndExpirations(t *testing.T) { // X12, F-16
	var fired, expired atomic.Int32
	count := func(n *atomic.Int32) func(context.Context) error {
		return func(context.Context) error { n.Add(1); return nil }
	}
	scenario[words, string]{steps: hello(0, 1), build: lines(func(d *decl) doFn {
		tick := stateful.EventTimer(d, "tick", func(ctx tctx, _ out) error {
			ctx.AfterBundleCommit(time.Hour, count(&fired))
			return nil
		})
		return doFn{
			Process: func(_ ctx, e elem, _ out) error { tick.Set(e.Time); return nil },
			OnWindowExpiration: func(ctx ctx, _ out) error {
				ctx.AfterBundleCommit(time.Hour, count(&expired))
				return nil
			},
		}
	})}.each(t, func(t *testing.T, r ran[string]) {
		if f, e := fired.Swap(0), expired.Swap(0); r.err != nil || f != 1 || e != 1 {
			t.Errorf("%d finalizers of timers, %d of expirations, error %v", f, e, r.err)
		}
	})
}

func TestBundles(t *testing.T) { // H10: what FinishBundle emits at an element's time is not late
	var started, finished atomic.Int32
	const none = event.Max
	scenario[words, string]{
		steps: []step[words]{el(kv("a", 1), sec(1)), wm[words](sec(5)), el(kv("a", 2), sec(6)), wm[words](sec(9))},
		build: lines(func(d *decl) doFn {
			low := none
			return doFn{
				Process: func(_ ctx, e elem, _ out) error { low = min(low, e.Time); return nil },
				StartBundle: func(core.Context) error {
					started.Add(1)
					low = none
					return nil
				},
				FinishBundle: func(_ core.Context, out out) error {
					finished.Add(1)
					if low != none {
						out.EmitIn(window.GlobalWindow, low, "bundle")
					}
					return nil
				},
			}
		}),
	}.each(t, func(t *testing.T, r ran[string]) {
		if a, b := started.Swap(0), finished.Swap(0); r.err != nil || a == 0 || a != b || len(r.out) == 0 || r.late > 0 {
			t.Errorf("%d bundles started, %d finished, outputs %v, %d late, error %v", a, b, r.stamped(), r.late, r.err)
		}
	})
}

func TestCellsBelongToNoKeyBetweenCalls(t *testing.T) {
	scenario[words, string]{steps: hello(0, 1), build: lines(func(d *decl) doFn {
		cell := stateful.Value[int](d, "cell")
		return doFn{
			Process: func(ctx, elem, out) error { return nil },
			FinishBundle: func(core.Context, out) error {
				err := protect(func() { cell.Write(1) })
				return fault.As(fault.Permanent, err)
			},
		}
	})}.each(t, func(t *testing.T, r ran[string]) {
		if r.err == nil {
			t.Fatal("a cell is used in FinishBundle")
		}
		wantWords(t, r.err.Error(), `cell "cell" is used outside`)
	})
}

func protect(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	f()
	return nil
}

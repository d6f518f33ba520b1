package gating_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coretest"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/gating"
)

func at[T any](v T, ms int64) coretest.Timed[T] { return coretest.At(v, ms) }

// gated is a main and a signal stream behind windows, and what the gate lets out.
type gated struct {
	c            *coretest.Case
	main, signal *coretest.Stream[string]
	out          *coretest.Output[string]
}

func gate(c *coretest.Case, mainFn, signalFn window.Fn, lateness time.Duration) gated {
	g := gated{c: c, main: coretest.NewStream[string](c, "main", true), signal: coretest.NewStream[string](c, "signal", true)}
	main := core.WindowInto(g.main.PCollection, "main windows", mainFn)
	signal := core.WindowInto(g.signal.PCollection, "signal windows", signalFn, core.WindowOptions{AllowedLateness: lateness})
	g.out = coretest.Collect(c, gating.WaitOn(main, "gate", signal.Done()), "out")
	return g
}

// TestEmptySignalWithLateness: an empty signal window opens the gate at the same
// moment as a full one, strictly after its end and lateness; the element is
// unchanged. W-08, W1, W2, W3, W4's lateness, X1
func TestEmptySignalWithLateness(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		g := gate(c, window.Fixed(10*time.Second), window.Fixed(10*time.Second), 5*time.Second)
		g.main.Add(at("m", 1000))
		for _, wm := range []int64{9999, 10_000, 14_999} {
			g.signal.WatermarkAt(wm)
			g.out.Expect()
		}
		g.signal.Watermark(event.Millis(15_000) - 1) // at max(S)+L, not past it: X1
		g.out.Expect()
		g.signal.WatermarkAt(15_000)
		g.out.ExpectElements(core.Element[string]{
			Value: "m", Time: event.Millis(1000), Pane: event.NoFiring,
			Window: window.Window{Start: 0, End: event.Millis(10_000)},
		})
	})
}

// TestAllSignals: every signal must have finished the window. W-09, W10
func TestAllSignals(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		ten := window.Fixed(10 * time.Second)
		main := coretest.NewStream[string](c, "main", true)
		s1, s2 := coretest.NewStream[int](c, "s1", true), coretest.NewStream[int](c, "s2", true)
		w1, w2 := core.WindowInto(s1.PCollection, "w1", ten), core.WindowInto(s2.PCollection, "w2", ten)
		windowed := core.WindowInto(main.PCollection, "windows", ten)
		out := coretest.Collect(c, gating.WaitOn(windowed, "gate", w1.Done(), w2.Done()), "out")
		main.Add(at("m", 1000))
		s1.End()
		s2.WatermarkAt(9999)
		out.Expect()
		s2.WatermarkAt(10_000)
		out.Expect("m")
	})
}

// TestNoSignals: nothing to wait for. W10
func TestNoSignals(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		main := coretest.NewStream[string](c, "main", false)
		out := coretest.Collect(c, gating.WaitOn(main.PCollection, "gate"), "out")
		main.Add(at("a", 1), at("b", 2))
		out.Expect("a", "b")
	})
}

// TestLateMainPasses: an element whose signal window has closed passes at once. W-11, W8
func TestLateMainPasses(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		g := gate(c, window.Fixed(10*time.Second), window.Fixed(10*time.Second), 0)
		g.main.Add(at("early", 1000))
		g.signal.WatermarkAt(60_000)
		g.out.Expect("early")
		g.main.WatermarkAt(60_000)
		g.main.Add(at("late", 1000))
		g.out.Expect("early", "late")
	})
}

// TestElementsOfSignalDoNotMatter: elements and repeats of a signal release nothing,
// however many. W-10 (without a trigger), W3, P8, G83
func TestElementsOfSignalDoNotMatter(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		g := gate(c, window.Fixed(10*time.Second), window.Fixed(10*time.Second), 0)
		g.main.Add(at("m", 1000))
		g.signal.Add(at("x", 1), at("y", 2))
		g.signal.Add(at("x", 1))
		g.signal.WatermarkAt(5000)
		g.out.Expect()
		g.signal.WatermarkAt(10_000)
		g.out.Expect("m")
	})
}

// TestWindowMapping maps main windows to those of the signal. W-13, W5
func TestWindowMapping(t *testing.T) {
	for name, c := range map[string]struct {
		main, signal window.Fn
		at           int64
		closed, open int64 // signal watermarks that keep it closed, and open it
	}{
		"other fixed": {window.Fixed(100 * time.Millisecond), window.Fixed(20 * time.Minute), 1, 1_199_999, 1_200_000},
		// Earliest sliding window containing max(M)=99: [40,100) of 60 every 20.
		"sliding":     {window.Fixed(100 * time.Millisecond), window.Sliding(60*time.Millisecond, 20*time.Millisecond, 0), 1, 99, 100},
		"global main": {window.Global(), window.Global(), 1, 1_000_000, -1},
	} {
		t.Run(name, func(t *testing.T) {
			coretest.Run(t, func(k *coretest.Case) {
				g := gate(k, c.main, c.signal, 0)
				g.main.Add(at("m", c.at))
				g.signal.WatermarkAt(c.closed)
				g.out.Expect()
				if c.open < 0 {
					g.signal.End() // W-04, W-05, W14: complete
				} else {
					g.signal.WatermarkAt(c.open)
				}
				g.out.Expect("m")
			})
		})
	}
}

// TestSlidingMain: an element in several windows is gated in each on its own. W7
func TestSlidingMain(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		g := gate(c, window.Sliding(20*time.Millisecond, 10*time.Millisecond, 0), window.Fixed(10*time.Millisecond), 0)
		g.main.Add(at("m", 15)) // [0,20) and [10,30)
		g.signal.WatermarkAt(19)
		g.out.Expect()
		g.signal.WatermarkAt(20)
		g.out.Expect("m")
		g.signal.WatermarkAt(30)
		g.out.Expect("m", "m")
	})
}

// TestHeldElementsHold: what the gate holds keeps windows after it open. W9
func TestHeldElementsHold(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		g := gate(c, window.Fixed(10*time.Millisecond), window.Fixed(10*time.Millisecond), 0)
		g.main.Add(at("a", 1), at("b", 12))
		g.main.WatermarkAt(1000) // both windows have ended for main
		g.signal.WatermarkAt(10)
		g.out.Expect("a")
		g.signal.WatermarkAt(20)
		g.out.Expect("a", "b")
		c.ExpectDropped(0)
	})
}

// TestRefusedGates: what can never open is a mistake of the graph. W-15, W-16 (the
// refusal is shared, see check), W5, W11
func TestRefusedGates(t *testing.T) {
	build := func(add func(p *core.Pipeline, main, signal core.PCollection[string])) error {
		var err error
		coretest.Build(func(c *coretest.Case) {
			main, signal := coretest.NewStream[string](c, "main", false), coretest.NewStream[string](c, "signal", false)
			add(c.Pipeline(), main.PCollection, signal.PCollection)
			err = c.Pipeline().Validate()
		})
		return err
	}
	for name, c := range map[string]struct {
		add  func(p *core.Pipeline, main, signal core.PCollection[string])
		want string
	}{
		"windowed signal, global main": {func(_ *core.Pipeline, main, signal core.PCollection[string]) {
			gating.WaitOn(main, "gate", core.WindowInto(signal, "w", window.Fixed(time.Second)).Done())
		}, "GlobalWindow"},
		"unbounded global signal": {func(_ *core.Pipeline, main, signal core.PCollection[string]) {
			gating.WaitOn(main, "gate", signal.Done())
		}, "never finishes"},
		"sessions": {func(_ *core.Pipeline, main, signal core.PCollection[string]) {
			gating.WaitOn(core.WindowInto(main, "m", window.Fixed(time.Second)), "gate", core.WindowInto(signal, "w", merging{window.Global()}).Done())
		}, "sessions"},
	} {
		if err := build(c.add); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// merging is a window function whose windows merge, as sessions will.
type merging struct{ window.Fn }

func (merging) Merging() bool { return true }

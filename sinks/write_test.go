package sinks_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coretest"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/gating"
	"github.com/gosluice/sluice/sinks"
)

func at(v string, ms int64) coretest.Timed[string] { return coretest.At(v, ms) }

// way is one of the two ways to write.
type way struct {
	name  string
	write func(core.PCollection[string], *target, sinks.Config[string]) sinks.WriteResult[string, batch]
	// verb is the call that can fail.
	verb string
}

// Every sink constructor returns a WriteResult (G81).
var ways = []way{
	{"in bundle", func(c core.PCollection[string], t *target, cfg sinks.Config[string]) sinks.WriteResult[string, batch] {
		return sinks.Write[string, batch](c, "sink", t, cfg)
	}, "write"},
	{"after commit", func(c core.PCollection[string], t *target, cfg sinks.Config[string]) sinks.WriteResult[string, batch] {
		return sinks.WriteAfterCommit[string, batch](c, "sink", t, cfg)
	}, "publish"},
}

// sunk is a stream in windows of ten milliseconds, a sink, and what comes of it.
type sunk struct {
	c      *coretest.Case
	in     *coretest.Stream[string]
	target *target
	result sinks.WriteResult[string, batch]
	wrote  *coretest.Output[batch]
	failed *coretest.Output[core.Failed[string]]
}

func sink(c *coretest.Case, w way, cfg sinks.Config[string]) sunk {
	s := sunk{c: c, in: coretest.NewStream[string](c, "in", true), target: newTarget()}
	ten := core.WindowInto(s.in.PCollection, "ten", window.Fixed(10*time.Millisecond))
	s.result = w.write(ten, s.target, cfg)
	s.wrote = coretest.Collect(c, s.result.Written, "wrote")
	s.failed = coretest.Collect(c, s.result.Failed, "failed")
	return s
}

func byLetter(v string) string { return v[:1] }

// TestResultsAreComplete: batches by destination and window, each record in exactly
// one, the results in the windows of the records. G80, W15, W-19
func TestResultsAreComplete(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			coretest.Run(t, func(c *coretest.Case) {
				s := sink(c, w, sinks.Config[string]{Destination: byLetter})
				s.in.Add(at("a1", 1), at("b1", 2), at("a2", 3), at("a3", 12))
				s.in.WatermarkAt(20)
				s.wrote.ExpectElements(
					wrote("a@0", "a1,a2", 0), wrote("b@0", "b1", 0), wrote("a@10", "a3", 10))
				s.failed.Expect()
				c.Check("nothing is left staged", func() error { return none(s.target.left()) })
			})
		})
	}
}

// wrote is the result element of a batch in the ten-millisecond window from start.
func wrote(where, records string, start int64) core.Element[batch] {
	w := window.Window{Start: event.Millis(start), End: event.Millis(start + 10)}
	return core.Element[batch]{Value: batch{where, records}, Time: w.Max(), Window: w, Pane: event.NoFiring}
}

func none(n int) error {
	if n != 0 {
		return fmt.Errorf("%d", n)
	}
	return nil
}

// TestFailedRecords: a bad record is among Failed with its reason, the others are
// written, and the signal finishes. G68, G69
func TestFailedRecords(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			coretest.Run(t, func(c *coretest.Case) {
				s := sink(c, w, sinks.Config[string]{})
				s.in.Add(at("x", 1), at("bad", 2), at("y", 3))
				s.in.WatermarkAt(20)
				s.wrote.Expect(batch{"@0", "x,y"})
				s.failed.Expect(core.Failed[string]{Value: "bad", Transform: "sink", Reason: "it is bad", Attempts: 1})
			})
		})
	}
}

// TestPermanentFailure: a batch that can never be written has all its records among
// Failed; the signal finishes all the same (W15), and nothing stays staged.
func TestPermanentFailure(t *testing.T) {
	for _, w := range ways {
		for _, verb := range []string{w.verb, "stage"} {
			if verb == "stage" && w.verb == "write" {
				continue
			}
			t.Run(w.name+"/"+verb, func(t *testing.T) {
				coretest.Run(t, func(c *coretest.Case) {
					s := sink(c, w, sinks.Config[string]{})
					s.target.failWith(verb, fault.As(fault.Permanent, errors.New("refused")))
					s.in.Add(at("x", 1), at("y", 2))
					s.in.WatermarkAt(20)
					s.wrote.Expect()
					s.failed.Expect(
						core.Failed[string]{Value: "x", Transform: "sink", Reason: "refused", Attempts: 1},
						core.Failed[string]{Value: "y", Transform: "sink", Reason: "refused", Attempts: 1})
					c.Check("nothing is left staged", func() error { return none(s.target.left()) })
				})
			})
		}
	}
}

// TestGateWaitsForWrites: while a write fails the gate stays closed, its watermark
// stays; when it succeeds the gate opens, once. W-20, W13, G85, G90 (an empty
// window opens it too), W-06
func TestGateWaitsForWrites(t *testing.T) {
	for _, w := range ways[1:] { // in bundle the epoch itself waits: the script cannot go on meanwhile
		t.Run(w.name, func(t *testing.T) {
			coretest.Run(t, func(c *coretest.Case) {
				s := sink(c, w, sinks.Config[string]{Attempts: 1_000_000})
				main := coretest.NewStream[string](c, "main", true)
				ten := core.WindowInto(main.PCollection, "main ten", window.Fixed(10*time.Millisecond))
				out := coretest.Collect(c, gating.After(ten, "gate", s.result), "out")
				main.Add(at("m0", 1), at("m1", 11), at("m2", 21))
				s.target.failWith(w.verb, errors.New("not now"))
				s.in.Add(at("x", 1), at("y", 21)) // the window in the middle is empty
				s.in.WatermarkAt(10)
				c.Advance(30 * time.Millisecond)
				out.Expect()
				c.Do("the target works again", func() { s.target.failWith(w.verb, nil) })
				c.Patience(time.Minute)
				out.Expect("m0")
				s.in.WatermarkAt(20)
				out.Expect("m0", "m1")
				s.in.WatermarkAt(30)
				out.Expect("m0", "m1", "m2")
				c.Check("one batch per window", func() error {
					if got := s.target.visible(); w.verb == "publish" && len(got) != 2 {
						return fmt.Errorf("%v", got)
					}
					return nil
				})
			})
		})
	}
}

// TestBatchLimits: batches of at most ten records, results in the records' own
// windows, never the global one. K-09
func TestBatchLimits(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			coretest.Run(t, func(c *coretest.Case) {
				s := sink(c, w, sinks.Config[string]{Records: 10})
				for i := range 25 {
					s.in.Add(at(fmt.Sprintf("r%02d", i), int64(i%2)*10))
				}
				s.in.WatermarkAt(20)
				c.Check("25 records in batches of at most 10", func() error {
					n := 0
					for _, e := range s.wrote.Elements() {
						k := 1 + len(e.Value.Records)/4
						if k > 10 || e.Window == window.GlobalWindow {
							return fmt.Errorf("a batch of %d in %v", k, e.Window)
						}
						n += k
					}
					if n != 25 {
						return fmt.Errorf("%d records", n)
					}
					return nil
				})
			})
		})
	}
}

// TestLateRecords: what comes after its window's end, but within the allowed
// lateness, is a batch of its own.
func TestLateRecords(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		in, target := coretest.NewStream[string](c, "in", true), newTarget()
		ten := core.WindowInto(in.PCollection, "ten", window.Fixed(10*time.Millisecond), core.WindowOptions{AllowedLateness: time.Second})
		out := coretest.Collect(c, sinks.WriteAfterCommit[string, batch](ten, "sink", target, sinks.Config[string]{}).Written, "wrote")
		in.Add(at("x", 1))
		in.WatermarkAt(20)
		out.Expect(batch{"@0", "x"})
		in.Add(at("late", 2))
		out.Expect(batch{"@0", "x"}, batch{"@0", "late"})
	})
}

// TestAge closes batches that no window closes.
func TestAge(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		in, target := coretest.NewStream[string](c, "in", false), newTarget()
		out := coretest.Collect(c, sinks.WriteAfterCommit[string, batch](in.PCollection, "sink", target, sinks.Config[string]{Age: 20 * time.Millisecond}).Written, "wrote")
		in.Add(at("x", 1), at("y", 2))
		c.Advance(50 * time.Millisecond)
		c.Check("x and y are written", func() error {
			var got []string
			for _, e := range out.Elements() {
				got = append(got, e.Value.Records)
			}
			slices.Sort(got)
			if !slices.Equal(got, []string{"x,y"}) {
				return fmt.Errorf("%v", got)
			}
			return nil
		})
	})
}

// TestSinksAreIndependent: a second sink that fails neither holds the first nor has
// it written again. G91
func TestSinksAreIndependent(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		in, good, bad := coretest.NewStream[string](c, "in", true), newTarget(), newTarget()
		ten := core.WindowInto(in.PCollection, "ten", window.Fixed(10*time.Millisecond))
		a := coretest.Collect(c, sinks.WriteAfterCommit[string, batch](ten, "good", good, sinks.Config[string]{}).Written, "a")
		b := coretest.Collect(c, sinks.WriteAfterCommit[string, batch](ten, "bad", bad, sinks.Config[string]{}).Written, "b")
		bad.failWith("publish", errors.New("not now"))
		in.Add(at("x", 1))
		in.WatermarkAt(20)
		a.Expect(batch{"@0", "x"})
		b.Expect()
		c.Do("the other works again", func() { bad.failWith("publish", nil) })
		c.Patience(time.Minute)
		b.Expect(batch{"@0", "x"})
		c.Check("one copy at each", func() error { return none(len(good.visible()) - 1 + len(bad.visible()) - 1) })
	})
}

// TestWindowsCloseAlone: the end of one window leaves the batches of later ones open.
func TestWindowsCloseAlone(t *testing.T) {
	coretest.Run(t, func(c *coretest.Case) {
		s := sink(c, ways[1], sinks.Config[string]{})
		s.in.Add(at("a", 1), at("b", 12))
		s.in.WatermarkAt(10)
		s.wrote.Expect(batch{"@0", "a"})
		s.in.Add(at("c", 13))
		s.in.WatermarkAt(20)
		s.wrote.Expect(batch{"@0", "a"}, batch{"@10", "b,c"})
	})
}

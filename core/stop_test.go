package core_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

const many = 20_000

// counting is a pipeline that counts numbers by second of event time.
func counting(src *numbers) (*core.Pipeline, *gathered[int64]) {
	p := core.NewPipeline("counting")
	in, _ := core.Read(p, "numbers", src, decodeNumber)
	seconds := core.WindowInto(in, "seconds", window.Fixed(time.Second))
	return p, gather(stateful.CombineGlobally(seconds, "count", stateful.Count[int]()), "gather")
}

func (g *gathered[T]) await(t *testing.T, n int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); len(g.all()) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d results", len(g.all()), n)
		}
	}
}

func total(values []int64) (sum int64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// TestStopAndGoOn stops a run in the middle, several times: everything read is
// committed and acknowledged, nothing is counted twice or lost by the next run.
// G33, G62.
func TestStopAndGoOn(t *testing.T) {
	db, src := memory.New(), newNumbers(many)
	src.endless = true
	var sum int64
	for range 5 {
		p, got := counting(src)
		r, err := core.Start(p, core.WithStore(db))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
		r.Stop()
		r.Stop() // again changes nothing
		report, err := r.Wait()
		if err != nil || report.Unsettled != 0 || report.Acked != report.Read || report.Aborts != 0 {
			t.Fatalf("%v, report %+v", err, report)
		}
		sum += total(got.all())
	}
	src.endless = false
	p, got := counting(src)
	if _, err := core.Run(t.Context(), p, core.WithStore(db)); err != nil {
		t.Fatal(err)
	}
	if sum += total(got.all()); sum != many || src.verdicts(source.Ack) != many {
		t.Errorf("counted %d, acked %d, want %d", sum, src.verdicts(source.Ack), many)
	}
}

// TestDrain ends a run whose source does not: windows close, all is acknowledged.
// The next run opens the last window again, late because of nothing (K-10 for state).
func TestDrain(t *testing.T) {
	db, src := memory.New(), newNumbers(many)
	src.endless = true
	p, got := counting(src)
	r, err := core.Start(p, core.WithStore(db))
	if err != nil {
		t.Fatal(err)
	}
	got.await(t, many/1000-1)
	r.Drain()
	report, err := r.Wait()
	first := total(got.all())
	if err != nil || first != report.Read || report.Acked != report.Read || report.DroppedLate != 0 {
		t.Fatalf("%v, counted %d, report %+v", err, first, report)
	}
	src.n, src.endless = many+500, false
	p, got = counting(src)
	report, err = core.Run(t.Context(), p, core.WithStore(db))
	if err != nil || first+total(got.all()) != many+500 || report.DroppedLate != 0 {
		t.Errorf("after the drain: %v, counted %d, report %+v", err, total(got.all()), report)
	}
}

// TestCancelIsNoFailure cancels the run's context in the middle of a slow element:
// the run ends in order and the element is not given up. G65
func TestCancelIsNoFailure(t *testing.T) {
	src := newNumbers(10)
	src.endless = true
	p := core.NewPipeline("cancel")
	in, _ := core.Read(p, "numbers", src, decodeNumber)
	ctx, cancel := context.WithCancel(t.Context())
	out, dead := core.ParDoDeadLetter(in, "slow", func(c core.Context, e *core.Element[int], out *core.Out[int]) error {
		if e.Value == 5 {
			cancel()
			time.Sleep(20 * time.Millisecond)
		}
		out.Emit(e.Value)
		return c.Err()
	})
	got, letters := gather(out, "good"), gather(dead, "dead")
	report, err := core.Run(ctx, p)
	if err != nil || len(letters.all()) != 0 || len(got.all()) != 10 || report.Acked != 10 {
		t.Errorf("%v, %d results, letters %v, report %+v", err, len(got.all()), letters.all(), report)
	}
}

// TestBrokerAway has a source that cannot be opened, then cannot be polled, then
// cannot settle: the run says so, and goes on by itself. G30
func TestBrokerAway(t *testing.T) {
	away := errors.New("broker away")
	var opens, settles atomic.Int64
	failing := func(n *atomic.Int64) func() error {
		return func() error {
			if n.Add(1) <= 3 {
				return fault.As(fault.Transient, away)
			}
			return nil
		}
	}
	src := newNumbers(1000)
	src.openErr, src.settleErr = failing(&opens), failing(&settles)
	p := core.NewPipeline("away")
	in, _ := core.Read(p, "numbers", src, decodeNumber)
	got := gather(in, "gather")
	var said atomic.Int64
	report, err := core.Run(t.Context(), p, core.WithProgress(time.Millisecond, func(s core.Status) {
		for _, problem := range s.Problems {
			if errors.Is(problem.Err, away) {
				said.Add(1)
			}
		}
	}))
	if err != nil || len(got.all()) != 1000 || report.Acked != 1000 || said.Load() == 0 {
		t.Errorf("%v, %d results, said %d, report %+v", err, len(got.all()), said.Load(), report)
	}
}

// TestPermanentErrorsEndTheRun: what trying again cannot mend is the run's error and
// names the source.
func TestPermanentErrorsEndTheRun(t *testing.T) {
	gone := errors.New("stream deleted")
	permanent := func() error { return fault.As(fault.Permanent, gone) }
	for name, breakIt := range map[string]func(*numbers){
		"open": func(s *numbers) { s.openErr = permanent },
		"poll": func(s *numbers) { s.pollErr = permanent },
	} {
		src := newNumbers(10)
		breakIt(src)
		p := core.NewPipeline("gone")
		core.Read(p, "numbers", src, decodeNumber)
		if _, err := core.Run(t.Context(), p); !errors.Is(err, gone) || !strings.Contains(err.Error(), "numbers") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStopWhileBrokerAway stops before the source could be opened.
func TestStopWhileBrokerAway(t *testing.T) {
	src := newNumbers(10)
	src.openErr = func() error { return errors.New("away") }
	p := core.NewPipeline("away")
	core.Read(p, "numbers", src, decodeNumber)
	for _, end := range []func(*core.Running){(*core.Running).Stop, (*core.Running).Drain} {
		r, err := core.Start(p)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
		end(r)
		if _, err := r.Wait(); err != nil {
			t.Error(err)
		}
	}
}

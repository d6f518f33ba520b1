package core_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store/memory"
)

// gathered collects values of committed bundles only.
type gathered[T any] struct {
	mu     sync.Mutex
	values []T
}

func gather[T any](c core.PCollection[T], name string) *gathered[T] {
	g := &gathered[T]{}
	core.ParDo(c, name, func(ctx core.Context, e *core.Element[T], _ *core.Out[struct{}]) error {
		v := e.Value
		ctx.AfterBundleCommit(time.Minute, func(context.Context) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.values = append(g.values, v)
			return nil
		})
		return nil
	})
	return g
}

func (g *gathered[T]) all() []T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.values)
}

var errBad = errors.New("thirteen")

// failing passes everything but 13, which fails as kind says.
func failing(kind string) core.ProcessFunc[int, int] {
	return func(_ core.Context, e *core.Element[int], out *core.Out[int]) error {
		out.Emit(e.Value) // before the failure: it must not come out
		if e.Value != 13 {
			return nil
		}
		switch kind {
		case "panic":
			panic("thirteen")
		case "permanent":
			return fault.As(fault.Permanent, errBad)
		}
		return errBad
	}
}

const hundred = 100

// run13 runs 1..100 through a transform that fails on 13.
func run13(t *testing.T, kind string, run []core.RunOption, opts ...core.Option) (*numbers, []int, core.Report) {
	t.Helper()
	src := newNumbers(hundred)
	p := core.NewPipeline("policy")
	in, _ := core.Read(p, "numbers", src, decodeNumber)
	opts = append(opts, core.RetryDelay(time.Millisecond))
	got := gather(core.ParDo(in, "fail", failing(kind), opts...), "gather")
	report, err := core.Run(t.Context(), p, run...)
	if err != nil {
		t.Fatal(err)
	}
	return src, got.all(), report
}

// TestOnExhausted checks each policy: one bad element in a hundred leaves 99
// results and its message is treated as asked. G68, G69, G71.
func TestOnExhausted(t *testing.T) {
	withStore := func() []core.RunOption { return []core.RunOption{core.WithStore(memory.New())} }
	for _, c := range []struct {
		name    string
		run     []core.RunOption
		policy  core.Exhausted
		acked   int
		verdict []source.Verdict // on 13
		inQ     int64
		left    int64
	}{
		{"default with a store is quarantine", withStore(), core.ByDefault, hundred, []source.Verdict{source.Ack}, 1, 0},
		{"quarantine", withStore(), core.Quarantine, hundred, []source.Verdict{source.Ack}, 1, 0},
		{"default without a store is reject", nil, core.ByDefault, hundred - 1, []source.Verdict{source.Nack}, 0, 0},
		{"reject", withStore(), core.Reject, hundred - 1, []source.Verdict{source.Nack}, 0, 0},
		{"terminate", withStore(), core.Terminate, hundred - 1, []source.Verdict{source.Terminate}, 0, 0},
		{"block", withStore(), core.Block, hundred - 1, nil, 0, 1},
	} {
		for _, kind := range []string{"error", "permanent", "panic"} {
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				run := c.run
				if run != nil {
					run = withStore()
				}
				src, got, report := run13(t, kind, run, core.OnExhausted(c.policy), core.Attempts(3))
				if len(got) != hundred-1 || slices.Contains(got, 13) {
					t.Errorf("%d results, 13 among them: %v", len(got), slices.Contains(got, 13))
				}
				if n := src.verdicts(source.Ack); n != c.acked {
					t.Errorf("%d acked, want %d", n, c.acked)
				}
				var verdict []source.Verdict
				for _, s := range src.of(13) {
					verdict = append(verdict, s.Verdict)
					if s.Verdict == source.Nack && s.Delay <= 0 {
						t.Error("nack without a delay")
					}
				}
				if !slices.Equal(verdict, c.verdict) {
					t.Errorf("verdicts on 13: %v, want %v", verdict, c.verdict)
				}
				if report.Quarantined != c.inQ || report.Unsettled != c.left {
					t.Errorf("report %+v", report)
				}
			})
		}
	}
}

// TestRetryInPlace checks that a failing attempt leaves nothing behind and the
// attempts are counted.
func TestRetryInPlace(t *testing.T) {
	p := core.NewPipeline("retry")
	in, _ := core.Read(p, "numbers", newNumbers(hundred), decodeNumber)
	tries := map[int]int{}
	out := core.ParDo(in, "flaky", func(ctx core.Context, e *core.Element[int], out *core.Out[int]) error {
		tries[e.Value]++
		out.Emit(e.Value)
		if tries[e.Value] != ctx.Attempt() {
			return fault.Errorf(fault.Permanent, "attempt %d, want %d", ctx.Attempt(), tries[e.Value])
		}
		if e.Value%10 == 0 && ctx.Attempt() < 3 {
			return errBad
		}
		return nil
	}, core.RetryDelay(time.Millisecond))
	got := gather(out, "gather")
	report, err := core.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.all()) != hundred || report.Nacked != 0 || tries[10] != 3 || tries[11] != 1 {
		t.Errorf("%d results, %d nacked, %d tries of 10", len(got.all()), report.Nacked, tries[10])
	}
}

// TestDeadLetter wires the dead letter output. G68
func TestDeadLetter(t *testing.T) {
	src := newNumbers(hundred)
	p := core.NewPipeline("dead letter")
	in, _ := core.Read(p, "numbers", src, decodeNumber)
	out, dead := core.ParDoDeadLetter(in, "fail", failing("error"), core.Attempts(2), core.RetryDelay(time.Millisecond))
	good, letters := gather(out, "good"), gather(dead, "dead")
	if _, err := core.Run(t.Context(), p, core.WithStore(memory.New())); err != nil {
		t.Fatal(err)
	}
	want := []core.Failed[int]{{Value: 13, Transform: "fail", Reason: errBad.Error(), Attempts: 2}}
	if len(good.all()) != hundred-1 || !slices.Equal(letters.all(), want) || src.verdicts(source.Ack) != hundred {
		t.Errorf("%d good, letters %v, %d acked", len(good.all()), letters.all(), src.verdicts(source.Ack))
	}
}

// TestUndecoded checks both ways for messages that do not decode.
func TestUndecoded(t *testing.T) {
	refuse := func(m core.Message) (int, error) {
		switch string(m.Data) {
		case "7":
			return 0, errBad
		case "8":
			panic("eight")
		}
		return decodeNumber(m)
	}
	t.Run("wired", func(t *testing.T) {
		src := newNumbers(10)
		p := core.NewPipeline("undecoded")
		in, bad := core.Read(p, "numbers", src, refuse)
		good, letters := gather(in, "good"), gather(bad, "bad")
		if _, err := core.Run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		l := letters.all()
		if len(good.all()) != 8 || len(l) != 2 || string(l[0].Data) != "7" || l[0].Reason != errBad.Error() || l[0].Position != 7 || src.verdicts(source.Ack) != 10 {
			t.Errorf("good %v, letters %+v", good.all(), l)
		}
	})
	t.Run("not wired", func(t *testing.T) {
		src := newNumbers(10)
		p := core.NewPipeline("undecoded")
		in, _ := core.Read(p, "numbers", src, refuse)
		good := gather(in, "good")
		report, err := core.Run(t.Context(), p, core.WithStore(memory.New()))
		if err != nil {
			t.Fatal(err)
		}
		if len(good.all()) != 8 || report.Quarantined != 2 || src.verdicts(source.Ack) != 10 {
			t.Errorf("good %v, report %+v", good.all(), report)
		}
	})
}

// bundles emits, when the bundle ends, how many elements it had.
type bundles struct {
	started int
	n       int
	last    core.Element[int]
}

func (b *bundles) StartBundle(core.Context) error { b.started++; b.n = 0; return nil }
func (b *bundles) ProcessElement(_ core.Context, e *core.Element[int], _ *core.Out[int]) error {
	b.n++
	b.last = *e
	return nil
}
func (b *bundles) FinishBundle(_ core.Context, out *core.Out[int]) error {
	if b.started != 1 {
		return fmt.Errorf("bundle finished after %d starts", b.started)
	}
	b.started = 0
	out.EmitIn(b.last.Window, b.last.Time, b.n)
	return nil
}

// TestDoFnLife checks StartBundle, ProcessElement, FinishBundle and what the last
// emits (F3, H10, P9).
func TestDoFnLife(t *testing.T) {
	p := core.NewPipeline("bundles")
	in, _ := core.Read(p, "numbers", newNumbers(1000), decodeNumber)
	got := gather(core.ParDoFn(in, "bundles", func() core.DoFn[int, int] { return &bundles{} }), "gather")
	if _, err := core.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range got.all() {
		sum += n
	}
	if sum != 1000 {
		t.Errorf("bundles had %v", got.all())
	}
}

// TestOutputTimes checks what Out refuses (T20, L4).
func TestOutputTimes(t *testing.T) {
	for name, emit := range map[string]func(*core.Element[int], *core.Out[int]){
		"before the input": func(e *core.Element[int], out *core.Out[int]) { out.EmitAt(e.Time-1, 0) },
		"at MAX":           func(_ *core.Element[int], out *core.Out[int]) { out.EmitAt(event.Max, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			p := core.NewPipeline("times")
			in, _ := core.Read(p, "numbers", newNumbers(1), decodeNumber)
			out, dead := core.ParDoDeadLetter(in, "emit", func(_ core.Context, e *core.Element[int], out *core.Out[int]) error {
				emit(e, out)
				return nil
			}, core.Attempts(1))
			good, letters := gather(out, "good"), gather(dead, "dead")
			if _, err := core.Run(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if len(good.all()) != 0 || len(letters.all()) != 1 {
				t.Errorf("good %v, letters %v", good.all(), letters.all())
			}
		})
	}
}

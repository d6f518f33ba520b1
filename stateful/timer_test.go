package stateful_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

const (
	second = time.Second
	gwMax  = event.EndOfGlobalWindow
)

// timing declares one timer that emits 42, and emits 3 for each element before set
// is called.
func timing(set func(flush stateful.Timer, e elem)) func(d *decl) doFn {
	return func(d *decl) doFn {
		flush := stateful.EventTimer(d, "flush", func(_ tctx, out out) error {
			out.Emit("42")
			return nil
		})
		return doFn{Process: func(_ ctx, e elem, out out) error {
			out.Emit("3")
			set(flush, e)
			return nil
		}}
	}
}

func TestEventTimers(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		rule     string
		windows  window.Fn
		lateness time.Duration
		steps    []step[words]
		set      func(flush stateful.Timer, e elem)
		want     []string
	}{
		{rule: "T-01 bounded, T13, T16", steps: hello(0, 1),
			set:  func(f stateful.Timer, _ elem) { f.SetRelative(second) },
			want: []string{at(3, 0), at(42, event.Min.Add(second))}},
		{rule: "T-01 unbounded, X2", steps: slices.Concat([]step[words]{wm[words](0)}, hello(0, 1), []step[words]{wm[words](sec(1))}),
			set:  func(f stateful.Timer, _ elem) { f.SetRelative(second) },
			want: []string{at(3, 0), at(42, sec(1))}},
		{rule: "T-03 absolute", steps: hello(0, 1),
			set:  func(f stateful.Timer, _ elem) { f.Set(gwMax) },
			want: []string{at(3, 0), at(42, gwMax)}},
		{rule: "T-08 output timestamp, T17", steps: hello(ms(3), 1),
			set:  func(f stateful.Timer, _ elem) { f.WithOutputTimestamp(ms(8)).Set(ms(13)) },
			want: []string{at(3, ms(3)), at(42, ms(8))}},
		{rule: "T22, X3 output after the firing time", steps: hello(ms(1), 1),
			set:  func(f stateful.Timer, _ elem) { f.WithOutputTimestamp(ms(2)).SetRelative() },
			want: []string{at(3, ms(1)), at(42, ms(2))}},
		{rule: "T-10, T14 aligned", steps: slices.Concat([]step[words]{wm[words](sec(5))}, hello(sec(5), 1)),
			set:  func(f stateful.Timer, _ elem) { f.Align(time.Minute).Offset(second).SetRelative() },
			want: []string{at(3, sec(5)), at(42, sec(59))}},
		{rule: "T14 on the grid", steps: slices.Concat([]step[words]{wm[words](sec(59))}, hello(sec(60), 1)),
			set:  func(f stateful.Timer, _ elem) { f.Offset(second).Align(time.Minute).SetRelative() },
			want: []string{at(3, sec(60)), at(42, sec(59))}},
		{rule: "T-11, X13 negative times", steps: hello(event.Min, 1),
			set:  func(f stateful.Timer, _ elem) { f.Align(second).Offset(time.Millisecond).SetRelative() },
			want: []string{at(3, event.Min), at(42, event.Min.Add(774*time.Millisecond))}},
		{rule: "T-12, T13 clamped", steps: slices.Concat([]step[words]{wm[words](gwMax)}, hello(gwMax, 1)),
			set:  func(f stateful.Timer, _ elem) { f.Align(day).SetRelative() },
			want: []string{at(3, gwMax), at(42, gwMax)}},
		{rule: "T-13 within the lateness", windows: window.Fixed(10 * second), lateness: 10 * second,
			steps: slices.Concat([]step[words]{wm[words](sec(5))}, hello(sec(5), 1), []step[words]{wm[words](sec(60))}),
			set:   func(f stateful.Timer, e elem) { f.Set(e.Time.Add(10 * second)) },
			want:  []string{at(3, sec(5)), at(42, sec(15))}},
		{rule: "T13 clamped at gc(W)", windows: window.Fixed(10 * second), lateness: 10 * second,
			steps: slices.Concat([]step[words]{wm[words](sec(5))}, hello(sec(5), 1)),
			set:   func(f stateful.Timer, e elem) { f.SetRelative(time.Hour) },
			want:  []string{at(3, sec(5)), at(42, sec(20)-1)}},
		{rule: "T-14 set again by another element, T2", steps: slices.Concat([]step[words]{wm[words](0)}, hello(0, 1), hello(0, 2)),
			set:  func(f stateful.Timer, _ elem) { f.SetRelative(second) },
			want: []string{at(3, 0), at(3, 0), at(42, sec(1))}},
		{rule: "T-20 set and cleared, T4", steps: slices.Concat([]step[words]{wm[words](0)}, hello(0, 1), []step[words]{wm[words](sec(1))}),
			set: func(f stateful.Timer, _ elem) {
				f.SetRelative(second)
				f.Clear()
			}, want: []string{at(3, 0)}},
		{rule: "T-21 clear of an unset timer, T-28", steps: hello(0, 1),
			set: func(f stateful.Timer, _ elem) {
				f.Clear()
				f.Clear()
			}, want: []string{at(3, 0)}},
		{rule: "T-21 cleared, then set by the second element, T-32", steps: hello(0, 1, 2),
			set: func(f stateful.Timer, e elem) {
				f.Clear()
				if e.Value.Value == 2 {
					f.Set(sec(1))
				}
			}, want: []string{at(3, 0), at(3, 0), at(42, sec(1))}},
		{rule: "T-26 set again for later", steps: slices.Concat(hello(0, 1), []step[words]{wm[words](ms(14)), wm[words](ms(43))}),
			set: func(f stateful.Timer, _ elem) {
				f.Set(ms(13))
				f.Set(ms(42))
			}, want: []string{at(3, 0), at(42, ms(42))}},
		{rule: "T2 same time, other output timestamp", steps: hello(0, 1),
			set: func(f stateful.Timer, _ elem) {
				f.WithOutputTimestamp(ms(5)).Set(ms(13))
				f.WithOutputTimestamp(ms(7)).Set(ms(13))
			}, want: []string{at(3, 0), at(42, ms(7))}},
		{rule: "T23 no output timestamp is kept from one set to the next", steps: hello(0, 1),
			set: func(f stateful.Timer, _ elem) {
				f.Set(ms(13))
				f.Set(ms(42))
				f.WithOutputTimestamp(ms(20)).Set(ms(13))
				f.Set(ms(50))
			}, want: []string{at(3, 0), at(42, ms(50))}},
		{rule: "T-28 cleared by a later element", steps: slices.Concat(hello(0, 1, 2), []step[words]{wm[words](ms(43))}),
			set: func(f stateful.Timer, e elem) {
				if f.Set(ms(42)); e.Value.Value == 2 {
					f.Clear()
				}
			}, want: []string{at(3, 0), at(3, 0)}},
		{rule: "T-29 set twice", steps: hello(0, 1),
			set: func(f stateful.Timer, _ elem) {
				f.Set(ms(42))
				f.Set(ms(42))
			}, want: []string{at(3, 0), at(42, ms(42))}},
		{rule: "T12 in the past", steps: slices.Concat([]step[words]{wm[words](ms(50))}, hello(ms(50), 1)),
			set:  func(f stateful.Timer, _ elem) { f.Set(ms(1)) },
			want: []string{at(3, ms(50)), at(42, ms(1))}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			scenario[words, string]{
				windows: c.windows, lateness: c.lateness, steps: c.steps, build: lines(timing(c.set)),
			}.times(t, c.want...)
		})
	}
}

func TestTimersThatAreRefused(t *testing.T) {
	ten := window.Fixed(10 * time.Millisecond)
	for _, c := range []struct {
		rule    string
		windows window.Fn
		set     func(flush stateful.Timer)
		words   []string
	}{
		{"T11 after the window", ten, func(f stateful.Timer) { f.Set(ms(10)) }, []string{"expiration", "00:00:00.01Z"}},
		{"X9 without output timestamp", ten, func(f stateful.Timer) { f.WithNoOutputTimestamp().Set(ms(10)) }, []string{"expiration"}},
		{"T-33 end of time", nil, func(f stateful.Timer) { f.Set(event.Max) }, []string{"expiration", "MAX"}},
		{"T-33 past it", nil, func(f stateful.Timer) { f.Set(event.Max + 1) }, []string{"expiration"}},
		{"T17 before the element", ten, func(f stateful.Timer) { f.WithOutputTimestamp(ms(3) - 1).Set(ms(9)) }, []string{"output timestamp"}},
		{"T17 after gc(W)", ten, func(f stateful.Timer) { f.WithOutputTimestamp(ms(10)).Set(ms(9)) }, []string{"output timestamp"}},
		{"T17 after MAX", nil, func(f stateful.Timer) { f.WithOutputTimestamp(event.Max + 1).Set(ms(9)) }, []string{"output timestamp"}},
		{"Align without a period", nil, func(f stateful.Timer) { f.Align(0).SetRelative() }, []string{"Align"}},
		{"Align with Set", nil, func(f stateful.Timer) { f.Align(second).Set(ms(9)) }, []string{"SetRelative"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			scenario[words, string]{windows: c.windows, steps: hello(ms(3), 1), build: lines(timing(func(f stateful.Timer, _ elem) {
				c.set(f)
			}))}.refuses(t, append(c.words, `timer "flush"`)...)
		})
	}
}

func TestTimerWithoutOutputTimestamp(t *testing.T) { // T-09, T19
	for name, c := range map[string]struct {
		emit func(ctx tctx, out out)
		fail string
	}{
		"emits nothing":     {func(tctx, out) {}, ""},
		"emits by default":  {func(_ tctx, out out) { out.Emit("x") }, "Cannot output with timestamp"},
		"emits at its time": {func(ctx tctx, out out) { out.EmitAt(ctx.FireTime(), "x") }, "Cannot output with timestamp"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario[words, string]{steps: hello(ms(3), 1), build: lines(func(d *decl) doFn {
				flush := stateful.EventTimer(d, "flush", func(ctx tctx, out out) error { c.emit(ctx, out); return nil })
				return doFn{Process: func(_ ctx, _ elem, _ out) error {
					flush.WithNoOutputTimestamp().Set(ms(13))
					return nil
				}}
			})}
			s.each(t, func(t *testing.T, r ran[string]) {
				if c.fail == "" {
					if r.err != nil || len(r.out) > 0 {
						t.Errorf("outputs %v, error %v", r.out, r.err)
					}
					return
				}
				wantWords(t, fmt.Sprint(r.err), c.fail, `timer "flush"`)
			})
		})
	}
}

package window_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// TestExpiredIsStrict: kept at WM = gc(W), dropped one unit later.
func TestExpiredIsStrict(t *testing.T) { // L5, X10, X11
	const last = event.EndOfGlobalWindow
	lastDay := window.Fixed(24*time.Hour).Assign(nil, last)[0]
	for _, c := range []struct {
		name     string
		lateness time.Duration
		w        window.Window
		gc       event.Time
	}{
		{"no lateness: max(W)", 0, span(0, 10), at(10) - 1},
		{"lateness: max(W)+L", 5 * ms, span(0, 10), at(15) - 1},
		{"below the unit counts for nothing", 999 * time.Nanosecond, span(0, 10), at(10) - 1},
		{"negative times", 5 * ms, span(-20, -10), at(-5) - 1},
		{"at MIN", ms, window.Window{Start: event.Min, End: event.Min + 10}, event.Min + 9 + 1000},
		{"global", 0, window.GlobalWindow, last},
		{"global with lateness: cut to GWMAX", time.Hour, window.GlobalWindow, last},
		{"last window with lateness: cut to GWMAX", time.Hour, lastDay, last},
		{"longest lateness, last window: no overflow", 292 * year, lastDay, last},
	} {
		s := window.Strategy{Fn: window.Fixed(10 * ms), AllowedLateness: c.lateness}
		if gc := c.w.Expiry(c.lateness); gc != c.gc {
			t.Errorf("%s: gc = %d, want %d", c.name, gc, c.gc)
		}
		if s.Expired(c.w, event.Min) || s.Expired(c.w, c.gc-1) || s.Expired(c.w, c.gc) {
			t.Errorf("%s: expired at or before gc %d", c.name, c.gc)
		}
		if !s.Expired(c.w, c.gc+1) || !s.Expired(c.w, event.Max) {
			t.Errorf("%s: not expired after gc %d", c.name, c.gc)
		}
	}
}

// TestExpiredDropsLateElements is the windows' part of L-06: at watermark 15 only
// the element at 5 is in an expired window.
func TestExpiredDropsLateElements(t *testing.T) { // L5, L-06
	s := window.Strategy{Fn: window.Fixed(10 * ms)}
	for n, dropped := range map[int64]bool{13: false, 5: true, 16: false, 18: false} {
		if w := s.Fn.Assign(nil, at(n))[0]; s.Expired(w, at(15)) != dropped {
			t.Errorf("element at %d in %v: dropped %v, want %v", n, w, !dropped, dropped)
		}
	}
}

// TestExpiredCopyOfASlidingElement: an element in several windows may lose one (L6).
func TestExpiredCopyOfASlidingElement(t *testing.T) {
	s := window.Strategy{Fn: window.Sliding(30*ms, 10*ms, 0)}
	var kept int
	for _, w := range s.Fn.Assign(nil, at(25)) {
		if !s.Expired(w, at(30)) {
			kept++
		}
	}
	if kept != 2 {
		t.Errorf("%d of 3 copies kept, want 2", kept)
	}
}

// TestExpiredStaysExpired: with the watermark, monotone; with lateness, later.
func TestExpiredStaysExpired(t *testing.T) { // L5
	rapid.Check(t, func(t *rapid.T) {
		fn, wm := anyFn().Draw(t, "fn"), anyTime().Draw(t, "wm")
		strict := window.Strategy{Fn: fn}
		lenient := window.Strategy{Fn: fn, AllowedLateness: anyLength().Draw(t, "lateness")}
		for _, w := range fn.Assign(nil, anyTime().Draw(t, "t")) {
			if strict.Expired(w, wm) != (w.Max() < wm) {
				t.Fatalf("%v at %d: expired %v", w, wm, strict.Expired(w, wm))
			}
			if lenient.Expired(w, wm) && !(strict.Expired(w, wm) && lenient.Expired(w, wm+1)) {
				t.Fatalf("%v at %d: expired with lateness only, or alive again", w, wm)
			}
			if !lenient.Expired(w, event.Max) {
				t.Fatalf("%v is alive at MAX", w)
			}
		}
	})
}

func TestStrategyValidateListsAll(t *testing.T) {
	err := window.Strategy{Fn: window.Fixed(0), AllowedLateness: -ms}.Validate()
	for _, m := range []string{"size 0s", "allowed lateness -1ms"} {
		if err == nil || !strings.Contains(err.Error(), m) {
			t.Errorf("error %v does not mention %q", err, m)
		}
	}
	if err := (window.Strategy{Fn: window.Global()}).Validate(); err != nil {
		t.Errorf("the global strategy is invalid: %v", err)
	}
}

func TestStrategyString(t *testing.T) {
	for want, s := range map[string]window.Strategy{
		"no window function":       {},
		"global":                   {Fn: window.Global()},
		"fixed(1m0s), lateness 5s": {Fn: window.Fixed(time.Minute), AllowedLateness: 5 * time.Second},
	} {
		if got := s.String(); got != want {
			t.Errorf("prints %q, want %q", got, want)
		}
	}
}

func TestWindowString(t *testing.T) {
	if got := window.GlobalWindow.String(); got != "[global)" {
		t.Errorf("global window prints %q", got)
	}
	if got := span(0, 1500).String(); got != "[1970-01-01T00:00:00Z, 1970-01-01T00:00:01.5Z)" {
		t.Errorf("window prints %q", got)
	}
}

package window_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

const (
	ms    = time.Millisecond
	gwEnd = event.EndOfGlobalWindow + 1
	year  = 365 * 24 * time.Hour
)

// at and span read bare numbers as the cases do: milliseconds.
func at(n int64) event.Time { return event.Millis(n) }

func span(start, end int64) window.Window { return window.Window{Start: at(start), End: at(end)} }

func TestAssign(t *testing.T) {
	day := event.Time((24 * time.Hour).Microseconds())
	for _, c := range []struct {
		rule string
		fn   window.Fn
		t    event.Time
		want []window.Window
	}{
		{"L1 start is inside", window.Fixed(10 * ms), at(10), []window.Window{span(10, 20)}},
		{"L1 end is outside", window.Fixed(10 * ms), at(20) - 1, []window.Window{span(10, 20)}},
		{"L1 zero", window.Fixed(10 * ms), 0, []window.Window{span(0, 10)}},
		{"L1 negative floors", window.Fixed(10 * ms), at(-1), []window.Window{span(-10, 0)}},
		{"L1 negative on the grid", window.Fixed(10 * ms), at(-10), []window.Window{span(-10, 0)}},
		{"L1 negative below the grid", window.Fixed(10 * ms), at(-10) - 1, []window.Window{span(-20, -10)}},
		{"L1 offset", window.FixedWithOffset(10*ms, 5*ms), at(4), []window.Window{span(-5, 5)}},
		{"L1 offset, on the grid", window.FixedWithOffset(10*ms, 5*ms), at(5), []window.Window{span(5, 15)}},
		{"L1 offset, negative", window.FixedWithOffset(10*ms, 3*ms), at(-8), []window.Window{span(-17, -7)}},
		{"L1 smallest", window.Fixed(time.Microsecond), 7, []window.Window{{Start: 7, End: 8}}},
		{"L1 last window ends with the global one", window.Fixed(24 * time.Hour), event.EndOfGlobalWindow,
			[]window.Window{{Start: gwEnd - gwEnd%day, End: gwEnd}}},
		{"L1 first window starts with the range", window.Fixed(24 * time.Hour), event.Min,
			[]window.Window{{Start: event.Min, End: event.Min - event.Min%day}}},
		{"L1 longest size at the end", window.Fixed(292 * year), event.EndOfGlobalWindow,
			[]window.Window{{Start: gwEnd - gwEnd%(292*365*day), End: gwEnd}}},
		{"L4 no element is past the end; if one is, it counts as the last", window.Fixed(24 * time.Hour), event.Max,
			[]window.Window{{Start: gwEnd - gwEnd%day, End: gwEnd}}},

		{"L2 each window with t", window.Sliding(10*ms, 4*ms, 0), at(9),
			[]window.Window{span(0, 10), span(4, 14), span(8, 18)}},
		{"L2 start inside, end outside", window.Sliding(10*ms, 5*ms, 0), at(10), []window.Window{span(5, 15), span(10, 20)}},
		{"L2 negative", window.Sliding(10*ms, 5*ms, 0), at(-1), []window.Window{span(-10, 0), span(-5, 5)}},
		{"L2 offset", window.Sliding(10*ms, 5*ms, 2*ms), at(1), []window.Window{span(-8, 2), span(-3, 7)}},
		{"L2 in a window, period > size", window.Sliding(3*ms, 10*ms, 0), at(12), []window.Window{span(10, 13)}},
		{"L2 in a gap, period > size", window.Sliding(3*ms, 10*ms, 0), at(13), nil},
		{"L2 in a gap, negative", window.Sliding(3*ms, 10*ms, 0), at(-1), nil},
		{"L2 T-05", window.Sliding(3*time.Minute, time.Minute, 0), 0,
			[]window.Window{span(-120_000, 60_000), span(-60_000, 120_000), span(0, 180_000)}},
		{"L2 cut at MIN", window.Sliding(2*24*time.Hour, 24*time.Hour, 0), event.Min, []window.Window{
			{Start: event.Min, End: event.Min - event.Min%day}, {Start: event.Min, End: event.Min - event.Min%day + day}}},
		{"L2 cut at the end", window.Sliding(2*24*time.Hour, 24*time.Hour, 0), event.EndOfGlobalWindow, []window.Window{
			{Start: gwEnd - gwEnd%day - day, End: gwEnd}, {Start: gwEnd - gwEnd%day, End: gwEnd}}},

		{"L4 one window", window.Global(), at(5), []window.Window{window.GlobalWindow}},
		{"L4 from MIN", window.Global(), event.Min, []window.Window{window.GlobalWindow}},
		{"L4 to GWMAX", window.Global(), event.EndOfGlobalWindow, []window.Window{window.GlobalWindow}},
	} {
		got := c.fn.Assign(nil, c.t)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v assigns %v to %d, want %v", c.rule, c.fn, got, c.t, c.want)
		}
	}
}

func TestAssignAppends(t *testing.T) {
	for _, fn := range []window.Fn{window.Global(), window.Fixed(ms), window.Sliding(2*ms, ms, 0)} {
		if got := fn.Assign([]window.Window{span(1, 2)}, at(5)); len(got) < 2 || got[0] != span(1, 2) {
			t.Errorf("%v: %v lost what was there", fn, got)
		}
	}
}

func TestGlobalWindowBounds(t *testing.T) { // L4
	if window.GlobalWindow.Max() != event.EndOfGlobalWindow || window.GlobalWindow.Contains(event.Max) {
		t.Errorf("max %v, contains MAX %v", window.GlobalWindow.Max(), window.GlobalWindow.Contains(event.Max))
	}
}

func TestMapSide(t *testing.T) { // W5
	mainOf100 := window.Window{Start: 0, End: at(100) + 1} // max = 100 ms
	for _, c := range []struct {
		name   string
		signal window.Fn
		main   window.Window
		want   window.Window
	}{
		{"W-13", window.Fixed(20 * time.Minute), mainOf100, span(0, 20*60_000)},
		{"W5 global signal, any main", window.Global(), span(10, 20), window.GlobalWindow},
		{"W5 global signal, global main", window.Global(), window.GlobalWindow, window.GlobalWindow},
		{"W5 fixed: the window of max(M), not of its start", window.Fixed(7 * ms), span(0, 15), span(14, 21)},
		{"W5 fixed: equal windows", window.Fixed(10 * ms), span(10, 20), span(10, 20)},
		{"W5 fixed: negative", window.Fixed(7 * ms), span(-10, 0), span(-7, 0)},
		{"W5 fixed: offset", window.FixedWithOffset(10*ms, 5*ms), span(0, 10), span(5, 15)},
		{"W5 fixed: last main window", window.Fixed(24 * time.Hour), window.Window{Start: gwEnd - 5, End: gwEnd},
			window.Fixed(24*time.Hour).Assign(nil, event.EndOfGlobalWindow)[0]},
		{"W5 sliding: the earliest with max(M)", window.Sliding(10*ms, 4*ms, 0), span(0, 10), span(0, 10)},
		{"W5 sliding: one unit later", window.Sliding(10*ms, 4*ms, 0),
			window.Window{Start: 0, End: at(10) + 1}, span(4, 14)},
		{"W5 sliding: offset, negative", window.Sliding(10*ms, 5*ms, 2*ms), span(-20, 0), span(-8, 2)},
		{"W5 sliding: in a gap, the next window", window.Sliding(3*ms, 10*ms, 0), span(0, 5), span(10, 13)},
		{"W5 sliding: in the last gap, the last instant", window.Sliding(time.Microsecond, 292*year, 0),
			window.Window{Start: gwEnd - 5, End: gwEnd}, window.Window{Start: gwEnd - 1, End: gwEnd}},
	} {
		got, err := c.signal.MapSide(c.main)
		if err != nil || got != c.want {
			t.Errorf("%s: %v maps %v to %v, %v, want %v", c.name, c.signal, c.main, got, err, c.want)
		}
	}
}

// TestMapSideOfGlobalMain is the mapping's part of W-15: the error the graph shows.
func TestMapSideOfGlobalMain(t *testing.T) { // W5, W-15
	for _, signal := range []window.Fn{window.Fixed(ms), window.Sliding(2*ms, ms, 0)} {
		_, err := signal.MapSide(window.GlobalWindow)
		if !errors.Is(err, window.ErrGlobalMain) ||
			!strings.Contains(err.Error(), "side input window for GlobalWindow from non-global WindowFn") ||
			!strings.Contains(err.Error(), signal.String()) {
			t.Errorf("%v: error %q", signal, err)
		}
	}
}

func TestValidate(t *testing.T) { // L1, L2
	const tooMany = 100_001
	for _, c := range []struct {
		fn      window.Fn
		mention []string // in the error; none: valid
	}{
		{nil, []string{"no window function"}},
		{window.Global(), nil},
		{window.Fixed(time.Microsecond), nil},
		{window.Fixed(0), []string{"size 0s"}},
		{window.Fixed(-1), []string{"size -1ns"}},
		{window.Fixed(1500 * time.Nanosecond), []string{"size 1.5µs", "whole microseconds"}},
		{window.FixedWithOffset(10*ms, 9*ms), nil},
		{window.FixedWithOffset(10*ms, 10*ms), []string{"offset 10ms", "size 10ms"}},
		{window.FixedWithOffset(10*ms, -ms), []string{"offset -1ms"}},
		{window.FixedWithOffset(10*ms, 1), []string{"offset 1ns"}},
		{window.Sliding(10*ms, 5*ms, 4*ms), nil},
		{window.Sliding(5*ms, 10*ms, 7*ms), nil},
		{window.Sliding(0, 0, 0), []string{"size 0s", "period 0s"}},
		{window.Sliding(0, ms, ms), []string{"size 0s", "offset 1ms"}},
		{window.Sliding(10*ms, -ms, 0), []string{"period -1ms"}},
		{window.Sliding(10*ms, 5*ms, 5*ms), []string{"offset 5ms", "period 5ms"}},
		{window.Sliding(tooMany*ms, ms, 0), []string{"100000 windows"}},
		{window.Sliding((tooMany-1)*ms, ms, 0), nil},
	} {
		err := window.Validate(c.fn)
		if (err == nil) != (c.mention == nil) {
			t.Errorf("%v: error %v", c.fn, err)
			continue
		}
		for _, m := range c.mention {
			if !strings.Contains(err.Error(), m) {
				t.Errorf("%v: %q does not mention %q", c.fn, err, m)
			}
		}
	}
}

func TestFnString(t *testing.T) {
	for want, fn := range map[string]window.Fn{
		"global":                             window.Global(),
		"fixed(1m0s)":                        window.Fixed(time.Minute),
		"fixed(1m0s offset 1s)":              window.FixedWithOffset(time.Minute, time.Second),
		"sliding(3m0s every 1m0s)":           window.Sliding(3*time.Minute, time.Minute, 0),
		"sliding(3m0s every 1m0s offset 1s)": window.Sliding(3*time.Minute, time.Minute, time.Second),
		"fixed(0s)":                          window.Fixed(0),
	} {
		if got := fn.String(); got != want || fn.Merging() {
			t.Errorf("prints %q, merging %v, want %q", got, fn.Merging(), want)
		}
	}
}

package window_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// anyTime draws a timestamp an element may carry (L4), often near an end or 0.
func anyTime() *rapid.Generator[event.Time] {
	between := func(from, to event.Time) *rapid.Generator[event.Time] {
		return rapid.Map(rapid.Int64Range(int64(from), int64(to)), func(v int64) event.Time { return event.Time(v) })
	}
	const last = event.EndOfGlobalWindow
	return rapid.OneOf(between(event.Min, last), between(event.Min, event.Min+100),
		between(last-100, last), between(-100, 100))
}

// anyLength draws whole microseconds from 1 up, short or as long as they get.
func anyLength() *rapid.Generator[time.Duration] {
	micros := func(most int64) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.Int64Range(1, most), func(v int64) time.Duration { return time.Duration(v) * time.Microsecond })
	}
	return rapid.OneOf(micros(20), micros(1<<62/1000*2))
}

func anyOffset(below time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(0, below.Microseconds()-1),
		func(v int64) time.Duration { return time.Duration(v) * time.Microsecond })
}

// anyFn draws a valid function.
func anyFn() *rapid.Generator[window.Fn] {
	return rapid.Custom(func(t *rapid.T) window.Fn {
		size := anyLength().Draw(t, "size")
		switch rapid.SampledFrom([]string{"global", "fixed", "sliding"}).Draw(t, "kind") {
		case "global":
			return window.Global()
		case "fixed":
			return window.FixedWithOffset(size, anyOffset(size).Draw(t, "offset"))
		}
		period := max(anyLength().Draw(t, "period"), (size / 50).Truncate(time.Microsecond), time.Microsecond)
		return window.Sliding(size, period, anyOffset(period).Draw(t, "offset"))
	})
}

func TestAssignedWindowsContainTheTimestamp(t *testing.T) { // L1, L2, L4
	rapid.Check(t, func(t *rapid.T) {
		fn, at := anyFn().Draw(t, "fn"), anyTime().Draw(t, "t")
		if err := window.Validate(fn); err != nil {
			t.Fatal(err)
		}
		windows := fn.Assign(nil, at)
		for _, w := range windows {
			if !w.Contains(at) {
				t.Fatalf("%v assigns %v to %d", fn, w, at)
			}
			if w.Start < event.Min || w.Max() > event.EndOfGlobalWindow {
				t.Fatalf("%v assigns %v, not inside the global window", fn, w)
			}
		}
		if !slices.IsSortedFunc(windows, window.Window.Compare) || len(slices.Compact(slices.Clone(windows))) != len(windows) {
			t.Fatalf("%v assigns %v: not sorted or not different", fn, windows)
		}
	})
}

// TestFixedWindowsPartitionTime: each instant lies in one window, all instants of a
// window agree on it, and where one ends the next begins.
func TestFixedWindowsPartitionTime(t *testing.T) { // L1
	rapid.Check(t, func(t *rapid.T) {
		size := anyLength().Draw(t, "size")
		offset := anyOffset(size).Draw(t, "offset")
		fn := window.FixedWithOffset(size, offset)
		of := func(at event.Time) window.Window {
			windows := fn.Assign(nil, at)
			if len(windows) != 1 {
				t.Fatalf("%d windows for %d", len(windows), at)
			}
			return windows[0]
		}
		w := of(anyTime().Draw(t, "t"))
		if of(w.Start) != w || of(w.Max()) != w {
			t.Fatalf("%v: its start is in %v, its max in %v", w, of(w.Start), of(w.Max()))
		}
		if w.End <= event.EndOfGlobalWindow && of(w.End).Start != w.End {
			t.Fatalf("after %v comes %v", w, of(w.End))
		}
		cutOff := w.Start == event.Min || w.Max() == event.EndOfGlobalWindow
		if long := w.End.Sub(w.Start); long > size || long != size && !cutOff {
			t.Fatalf("%v is %v long, want %v", w, long, size)
		}
		if grid := event.Time(size.Microseconds()); w.Start != event.Min && (w.Start-event.Time(offset.Microseconds()))%grid != 0 {
			t.Fatalf("%v does not start on the grid", w)
		}
	})
}

// TestSlidingAssignsEveryWindowWithTheTimestamp compares with a search over all
// starts, and the count with the rule's.
func TestSlidingAssignsEveryWindowWithTheTimestamp(t *testing.T) { // L2
	rapid.Check(t, func(t *rapid.T) {
		size, period, offset := drawSliding(t)
		at := event.Time(rapid.Int64Range(-200, 200).Draw(t, "t"))
		var want []window.Window
		for k := event.Time(-300); k <= 300; k++ {
			if w := (window.Window{Start: k*period + offset, End: k*period + offset + size}); w.Contains(at) {
				want = append(want, w)
			}
		}
		got := slidingOf(size, period, offset).Assign(nil, at)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if fewest, most := int(size/period), int((size+period-1)/period); len(got) < fewest || len(got) > most {
			t.Fatalf("%d windows, want %d to %d", len(got), fewest, most)
		}
	})
}

// TestSlidingMapSideFormula compares with the rule as it is written.
func TestSlidingMapSideFormula(t *testing.T) { // W5
	rapid.Check(t, func(t *rapid.T) {
		size, period, offset := drawSliding(t)
		end := event.Time(rapid.Int64Range(-200, 200).Draw(t, "end"))
		lastStart := -1000*period + offset // the latest k*p+o at or before max(M)-s
		for lastStart+period <= end-1-size {
			lastStart += period
		}
		want := window.Window{Start: lastStart + period, End: lastStart + period + size}
		fn := slidingOf(size, period, offset)
		got, err := fn.MapSide(window.Window{Start: end - 7, End: end})
		if err != nil || got != want {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
		if assigned := fn.Assign(nil, end-1); len(assigned) > 0 && assigned[0] != got {
			t.Fatalf("got %v, the earliest of %v is another", got, assigned)
		}
	})
}

// TestMapSideCoversTheMainWindow is W6 as far as windows decide it: once a watermark
// has passed the mapped window, it has passed every timestamp of the main window.
func TestMapSideCoversTheMainWindow(t *testing.T) { // W5, W6
	rapid.Check(t, func(t *rapid.T) {
		signal, mainFn := anyFn().Draw(t, "signal"), anyFn().Draw(t, "main")
		for _, m := range mainFn.Assign(nil, anyTime().Draw(t, "t")) {
			s, err := signal.MapSide(m)
			if m == window.GlobalWindow && signal != window.Global() {
				if err == nil {
					t.Fatalf("%v maps the global window to %v", signal, s)
				}
				continue
			}
			if err != nil || s.Max() < m.Max() || s.Start >= s.End {
				t.Fatalf("%v maps %v to %v, %v", signal, m, s, err)
			}
		}
	})
}

func drawSliding(t *rapid.T) (size, period, offset event.Time) {
	size = event.Time(rapid.Int64Range(1, 30).Draw(t, "size"))
	period = event.Time(rapid.Int64Range(1, 30).Draw(t, "period"))
	return size, period, event.Time(rapid.Int64Range(0, int64(period)-1).Draw(t, "offset"))
}

func slidingOf(size, period, offset event.Time) window.Fn {
	return window.Sliding(duration(size), duration(period), duration(offset))
}

func duration(t event.Time) time.Duration { return time.Duration(t) * time.Microsecond }

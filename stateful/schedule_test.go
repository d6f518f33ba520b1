package stateful

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// TestScheduleAgainstSorting sets, sets again and clears timers at random and
// compares with a sorted list.
func TestScheduleAgainstSorting(t *testing.T) { // T2, T4, T6, T18
	rapid.Check(t, func(t *rapid.T) {
		s := &schedule{}
		var timers []*timer
		for i := range 12 {
			p := &pane[entry]{window: window.Window{Start: event.Time(i % 2), End: 10}}
			x := &timer{cell: &timerCell{place: place{name: fmt.Sprint("t", i%3)}}, tag: fmt.Sprint(i)}
			x.entry = &entry{encoded: fmt.Sprint("k", i%4), pane: p}
			timers = append(timers, x)
		}
		small := rapid.Map(rapid.IntRange(0, 6), func(n int) event.Time { return event.Time(n) })
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			x := rapid.SampledFrom(timers).Draw(t, "timer")
			next := timerState{set: rapid.Bool().Draw(t, "set"), at: small.Draw(t, "at"), output: small.Draw(t, "output")}
			if !next.set {
				next = timerState{}
			}
			s.change(x, next)

			var set []*timer
			hold := event.Max
			for _, x := range timers {
				if x.timerState.set {
					set = append(set, x)
					hold = min(hold, x.output)
				}
			}
			slices.SortFunc(set, func(a, b *timer) int {
				if byTime.before(a, b) {
					return -1
				}
				return 1
			})
			switch {
			case s.hold() != hold:
				t.Fatalf("hold %v, want %v", s.hold(), hold)
			case len(set) == 0 && s.first() != nil, len(set) > 0 && s.first() != set[0]:
				t.Fatalf("first %v of %v", s.first(), set)
			}
		}
	})
}

// TestOrderOfTimersHasNoTies: of two timers one comes first, so that the order does
// not depend on how they came into the schedule.
func TestOrderOfTimersHasNoTies(t *testing.T) { // invariant 3
	var all []*timer
	for i := range 32 {
		bit := func(n int) int { return i >> n & 1 }
		p := &pane[entry]{window: window.Window{Start: event.Time(bit(0)), End: 10}}
		x := &timer{cell: &timerCell{place: place{name: fmt.Sprint(bit(1))}}, tag: fmt.Sprint(bit(2))}
		x.entry = &entry{encoded: fmt.Sprint(bit(3)), pane: p}
		x.at = event.Time(bit(4))
		all = append(all, x)
	}
	for _, a := range all {
		for _, b := range all {
			if a != b && byTime.before(a, b) == byTime.before(b, a) {
				t.Errorf("%+v and %+v", a, b)
			}
		}
	}
}

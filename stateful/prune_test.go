package stateful

import (
	"testing"

	"github.com/gosluice/sluice/core/window"
)

// TestClearedKeysAreForgotten: in a window that never ends, keys whose cells are
// empty and whose timers are not set take no memory.
func TestClearedKeysAreForgotten(t *testing.T) {
	left := map[string]int{}
	for name, f := range map[string]func(v *ValueCell[int64], l *BagCell[int64], s *CombiningCell[int64, int64, int64], x TimerFamily){
		"only read": func(v *ValueCell[int64], l *BagCell[int64], _ *CombiningCell[int64, int64, int64], _ TimerFamily) {
			v.Read()
			l.Read()
		},
		"cleared": func(v *ValueCell[int64], l *BagCell[int64], s *CombiningCell[int64, int64, int64], _ TimerFamily) {
			v.Write(1)
			l.Add(1)
			s.Add(1)
			v.Clear()
			l.Clear()
			s.Clear()
		},
		"timers cleared": func(_ *ValueCell[int64], _ *BagCell[int64], _ *CombiningCell[int64, int64, int64], x TimerFamily) {
			x.SetTag("a", 5)
			x.Tag("a").Clear()
			x.Tag("b").Clear()
		},
		"a value is kept": func(v *ValueCell[int64], _ *BagCell[int64], _ *CombiningCell[int64, int64, int64], _ TimerFamily) {
			v.Write(1)
		},
		"a timer is kept": func(_ *ValueCell[int64], _ *BagCell[int64], _ *CombiningCell[int64, int64, int64], x TimerFamily) {
			x.SetTag("a", 5)
		},
		"a sum is kept": func(_ *ValueCell[int64], _ *BagCell[int64], s *CombiningCell[int64, int64, int64], _ TimerFamily) {
			s.Add(0)
		},
	} {
		h := benchHead(func(d *benchDecl) benchDoFn {
			v, l := Value[int64](d, "v"), Bag[int64](d, "l")
			s := Combining(d, "s", Sum[int64]())
			x := EventTimerFamily(d, "x", func(TimerContext[int64], benchOut) error { return nil })
			return benchDoFn{Process: func(Context[int64], benchElem, benchOut) error { f(v, l, s, x); return nil }}
		})
		feed(h, benchKeys)
		h.Snapshot(1)
		left[name] = len(h.panes.all[window.GlobalWindow].byKey)
	}
	for name, n := range left {
		want := 0
		if name[:2] == "a " {
			want = benchKeys
		}
		if n != want {
			t.Errorf("%s: %d keys are kept, want %d", name, n, want)
		}
	}
}

package stateful

import (
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
)

// sentAtOnce is how many results a step sends before it looks at its inbox again.
const sentAtOnce = 1000

// sum is one key's accumulator in one window.
type sum[K, A any] struct {
	key     K
	encoded string
	group   store.Group
	acc     A
	// dirty: in the list of what the epoch changed. empty: nothing was added since
	// the last pane. panes counts those sent.
	dirty, empty bool
	panes        int32
	pane         *pane[sum[K, A]]
}

// combineHead aggregates in one worker. A state row is an accumulator under
// window, key; its first byte counts the panes sent (capped at 255).
type combineHead[K, V, A, O any] struct {
	engine.BaseHead
	t        *engine.Task
	strategy window.Strategy
	keys     coder.Coder[K]
	fn       CombineFn[V, A, O]
	next     core.Receiver[core.KV[K, O]]
	panes    panes[sum[K, A]]
	dirty    []*sum[K, A]
	delta    *store.Delta
	low      event.Time
	// late panes have values to send when the bundle ends.
	late []*pane[sum[K, A]]
	row  []byte
	out  element.Element[element.KV[K, O]]
}

func newCombineHead[K, V, A, O any](t *engine.Task, s window.Strategy, keys coder.Coder[K], fn CombineFn[V, A, O], next core.Receiver[core.KV[K, O]]) *combineHead[K, V, A, O] {
	return &combineHead[K, V, A, O]{
		t: t, strategy: s, keys: keys, fn: fn, next: next, low: event.Min,
		panes: newPanes[sum[K, A]](), delta: store.NewDelta(t.Space(store.State)),
	}
}

// Open reads the accumulators of this worker's groups back.
func (h *combineHead[K, V, A, O]) Open() error {
	return h.t.Load(store.State, func(r store.Row) error {
		w, encoded, err := window.ReadWindow(r.Key)
		if err != nil {
			return err
		}
		key, err := h.keys.Read(encoded)
		if err != nil {
			return err
		}
		s := h.entry(h.panes.of(w, false), string(encoded), r.Group, key)
		s.panes = int32(r.Value[0])
		s.pane.groups.add(r.Group)
		if len(r.Value) > 1 {
			s.empty = false
			s.acc, err = h.fn.Coder.Read(r.Value[1:])
		}
		return err
	})
}

func (h *combineHead[K, V, A, O]) entry(p *pane[sum[K, A]], encoded string, g store.Group, key K) *sum[K, A] {
	s := &sum[K, A]{key: key, encoded: encoded, group: g, acc: h.fn.Zero(), empty: true, pane: p}
	p.byKey[encoded] = s
	p.order = append(p.order, s)
	return s
}

// Data adds each element to its key's accumulator.
func (h *combineHead[K, V, A, O]) Data(_ int, b engine.Batch) error {
	batch := b.(*engine.Elements[element.KV[K, V]])
	for i := range batch.Items {
		e := &batch.Items[i]
		if h.strategy.Expired(e.Window, h.low) {
			h.t.CountDroppedLate(1)
			continue
		}
		p := h.panes.of(e.Window, e.Window.Max() < h.low)
		key, group := batch.Key(i)
		s := p.byKey[string(key)]
		if s == nil {
			s = h.entry(p, string(key), group, e.Value.Key)
		}
		h.touch(s)
		h.fn.Add(&s.acc, e.Value.Value)
	}
	return nil
}

// touch notes that s changes; the first late value of a fired window asks for a
// late pane at the bundle's end.
func (h *combineHead[K, V, A, O]) touch(s *sum[K, A]) {
	if s.pane.fired && s.empty {
		if len(s.pane.late) == 0 {
			h.late = append(h.late, s.pane)
		}
		s.pane.late = append(s.pane.late, s)
	}
	s.empty = false
	if !s.dirty {
		s.dirty = true
		h.dirty = append(h.dirty, s)
	}
}

// Watermark notes how far the input has come; Work does what follows from it.
func (h *combineHead[K, V, A, O]) Watermark(_ int, wm event.Time) error {
	h.low = wm
	h.t.Keeps(len(h.panes.all))
	return nil
}

// Work sends the results of windows that have ended and drops expired ones.
func (h *combineHead[K, V, A, O]) Work(time.Time) (more bool, err error) {
	budget := sentAtOnce
	for len(h.panes.open) > 0 && h.low > h.panes.open[0].window.Max() {
		h.t.Touch()
		p := h.panes.open[0]
		for ; p.next < len(p.order); p.next++ {
			if budget == 0 {
				return true, nil
			}
			budget--
			h.send(p.order[p.next])
		}
		h.panes.fire()
	}
	for len(h.panes.fired) > 0 && h.strategy.Expired(h.panes.fired[0].window, h.low) {
		h.t.Touch()
		h.collect(h.panes.fired[0])
		h.panes.drop()
	}
	return false, nil
}

// send emits what s has gathered since its last pane, and empties it.
func (h *combineHead[K, V, A, O]) send(s *sum[K, A]) {
	if s.empty {
		return
	}
	w := s.pane.window
	h.out = element.Element[element.KV[K, O]]{
		Value:  element.KV[K, O]{Key: s.key, Value: h.fn.Out(s.acc)},
		Time:   w.Max(),
		Window: w,
		Pane:   h.paneOf(s),
	}
	s.panes++
	s.acc, s.empty = h.fn.Zero(), true
	if !s.dirty {
		s.dirty = true
		h.dirty = append(h.dirty, s)
	}
	h.next(&h.out)
}

// paneOf is the pane that s sends next: on time first, late ones after (P1-P3).
func (h *combineHead[K, V, A, O]) paneOf(s *sum[K, A]) event.Pane {
	p := event.Pane{Index: s.panes, NonSpeculativeIndex: s.panes, Timing: event.OnTime, First: s.panes == 0}
	if s.pane.fired {
		p.Timing = event.Late
	}
	p.Last = h.strategy.AllowedLateness == 0
	return p
}

// collect forgets a window and its rows.
func (h *combineHead[K, V, A, O]) collect(p *pane[sum[K, A]]) {
	for _, s := range p.late {
		h.send(s)
	}
	p.late = nil
	from := window.AppendWindow(nil, p.window)
	below := engine.KeyAfter(from)
	p.groups.each(func(g store.Group) { h.delta.DeleteRange(g, from, below) })
	p.order = nil
}

// Hold keeps the output behind the windows whose results are still to come, and
// late panes from being dropped downstream (P6).
func (h *combineHead[K, V, A, O]) Hold() event.Time {
	hold := h.panes.hold()
	for _, p := range h.late {
		hold = min(hold, p.window.Expiry(h.strategy.AllowedLateness))
	}
	return hold
}

// Close sends the late panes of the bundle (P3).
func (h *combineHead[K, V, A, O]) Close() (bool, error) {
	for _, p := range h.late {
		for _, s := range p.late {
			h.send(s)
		}
		p.late = p.late[:0]
	}
	h.late = h.late[:0]
	return true, nil
}

// Snapshot writes the accumulators that changed. Rows of windows collected in this
// epoch are gone already.
func (h *combineHead[K, V, A, O]) Snapshot(uint64) []*store.Delta {
	if h.t.Store() == nil {
		h.clean(func(*sum[K, A]) {})
		h.delta.Reset()
		return nil
	}
	h.clean(h.put)
	if h.delta.Len() == 0 {
		return nil
	}
	d := h.delta
	h.delta = store.NewDelta(d.Space)
	return []*store.Delta{d}
}

func (h *combineHead[K, V, A, O]) clean(keep func(*sum[K, A])) {
	for i, s := range h.dirty {
		s.dirty = false
		if s.pane.order != nil {
			keep(s)
		}
		h.dirty[i] = nil
	}
	h.dirty = h.dirty[:0]
}

func (h *combineHead[K, V, A, O]) put(s *sum[K, A]) {
	key := append(window.AppendWindow(h.row[:0], s.pane.window), s.encoded...)
	split := len(key)
	value := append(key, byte(min(s.panes, 255)))
	var err error
	if !s.empty {
		if value, err = h.fn.Coder.Append(value, s.acc); err != nil {
			h.t.Fail(err)
		}
	}
	s.pane.groups.add(s.group)
	h.delta.Put(s.group, value[:split], value[split:])
	h.row = value[:0]
}

// Idle: no window is open or waits for late values.
func (h *combineHead[K, V, A, O]) Idle() bool { return len(h.panes.all) == 0 }

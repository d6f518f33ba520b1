package gating

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

// releasedAtOnce is how many elements a step releases before it looks at its inbox
// again.
const releasedAtOnce = 1000

// gate is the head of one worker. Input 0 is main, the others are signals.
type gate[T any] struct {
	engine.BaseHead
	t       *engine.Task
	coder   coder.Coder[element.Element[T]]
	signals []window.Strategy
	next    core.Receiver[T]
	rows    *engine.HeldRows
	// seen are the signals' watermarks now, reported those of the epoch that is
	// committing, committed those a commit has made durable.
	seen, reported, committed []event.Time
	held                      map[window.Window]*heldWindow[T]
	order                     []*heldWindow[T]
	opening                   []*heldWindow[T]
	hold                      event.Time
}

// heldWindow is what the gate holds of one window.
type heldWindow[T any] struct {
	window window.Window
	// prefix is that of its held rows.
	prefix []byte
	// opens[i] must be passed by signal i's watermark.
	opens []event.Time
	low   event.Time
	// stored counts rows of committed epochs, committing those of the epoch that is
	// being committed; fresh came since.
	stored, committing int
	fresh              []element.Element[T]
	// opened: what still comes passes at once, so that the stored rows stay as they
	// are while they are read.
	opened bool
	// cursor is the last stored row that was released.
	cursor engine.Cursor
	// cut: rows up to cursor are still to be deleted.
	cut bool
}

func newGate[T any](t *engine.Task, c coder.Coder[element.Element[T]], signals []window.Strategy, next core.Receiver[T]) *gate[T] {
	g := &gate[T]{
		t: t, coder: c, signals: signals, next: next, rows: engine.NewHeldRows(t),
		held: map[window.Window]*heldWindow[T]{}, hold: event.Max,
	}
	for range signals {
		g.seen = append(g.seen, event.Min)
	}
	g.reported, g.committed = append([]event.Time(nil), g.seen...), append([]event.Time(nil), g.seen...)
	return g
}

// Open counts what is held.
func (g *gate[T]) Open() error {
	return g.rows.Load(func(_ store.Group, _, value []byte) error {
		e, err := g.coder.Read(value)
		if err != nil {
			return err
		}
		w, err := g.of(e.Window)
		if err != nil {
			return err
		}
		w.stored++
		w.low = min(w.low, e.Time)
		g.hold = min(g.hold, e.Time)
		return nil
	})
}

// of returns what is held of w, made if need be.
func (g *gate[T]) of(w window.Window) (*heldWindow[T], error) {
	if h := g.held[w]; h != nil {
		return h, nil
	}
	opens, err := g.opens(w)
	if err != nil {
		return nil, err
	}
	h := &heldWindow[T]{window: w, prefix: window.AppendWindow(nil, w), opens: opens, low: event.Max}
	g.held[w] = h
	g.order = append(g.order, h)
	g.t.Keeps(len(g.held))
	return h, nil
}

// opens maps w to what each signal's watermark must pass (W2, W5).
func (g *gate[T]) opens(w window.Window) ([]event.Time, error) {
	opens := make([]event.Time, len(g.signals))
	for i, s := range g.signals {
		side, err := s.Fn.MapSide(w)
		if err != nil {
			return nil, err
		}
		opens[i] = side.Expiry(s.AllowedLateness)
	}
	return opens, nil
}

func passed(opens, marks []event.Time) bool {
	for i, o := range opens {
		if marks[i] <= o {
			return false
		}
	}
	return true
}

// Data lets elements of open windows pass and holds the others.
func (g *gate[T]) Data(_ int, b engine.Batch) error {
	items := b.(*engine.Elements[T]).Items
	for i := range items {
		e := &items[i]
		h := g.held[e.Window]
		if h != nil && h.opened {
			g.next(e)
			continue
		}
		if h == nil {
			opens, err := g.opens(e.Window)
			if err != nil {
				return err
			}
			if passed(opens, g.committed) {
				g.next(e)
				continue
			}
			if h, err = g.of(e.Window); err != nil {
				return err
			}
		}
		h.fresh = append(h.fresh, *e)
		h.low = min(h.low, e.Time)
		g.hold = min(g.hold, e.Time)
	}
	g.askClose()
	return nil
}

// Watermark of a signal counts once it is committed.
func (g *gate[T]) Watermark(in int, wm event.Time) error {
	if in == 0 {
		return nil
	}
	g.seen[in-1] = wm
	if g.t.Mutated(engine.GateUncommitted) {
		copy(g.committed, g.seen)
		g.open()
	}
	g.askClose()
	return nil
}

// askClose asks for a commit if that would open a window.
func (g *gate[T]) askClose() {
	for _, h := range g.order {
		if passed(h.opens, g.seen) {
			g.t.AskClose(true)
			return
		}
	}
}

// Committed opens the windows that the watermarks of a committed epoch allow.
func (g *gate[T]) Committed(uint64) {
	copy(g.committed, g.reported)
	for _, h := range g.order {
		h.stored += h.committing
		h.committing = 0
	}
	g.open()
}

// open opens what it may. What came since the last epoch was closed is released
// here, what is stored in Work.
func (g *gate[T]) open() {
	kept := g.order[:0]
	for _, h := range g.order {
		if !passed(h.opens, g.committed) || h.committing > 0 {
			kept = append(kept, h)
			continue
		}
		g.t.Touch()
		g.opening = append(g.opening, h)
		h.opened = true
		for i := range h.fresh {
			g.next(&h.fresh[i])
		}
		h.fresh = nil
	}
	g.order = kept
}

// Work releases what has been stored of opened windows.
func (g *gate[T]) Work(time.Time) (more bool, err error) {
	for len(g.opening) > 0 {
		g.t.Touch()
		h := g.opening[0]
		if more, err := g.releaseStored(h); more || err != nil {
			return more, err
		}
		g.rows.DeleteAll(h.prefix)
		delete(g.held, h.window)
		g.opening = g.opening[1:]
		g.relax()
	}
	return false, nil
}

// releaseStored sends the next stored elements of h; more: there may be others.
func (g *gate[T]) releaseStored(h *heldWindow[T]) (more bool, err error) {
	if h.stored == 0 {
		return false, nil
	}
	n := 0
	last, err := g.rows.Scan(h.prefix, h.cursor, min(h.stored, releasedAtOnce), func(value []byte) error {
		e, err := g.coder.Read(value)
		if err != nil {
			return err
		}
		n++
		g.next(&e)
		return nil
	})
	if err != nil {
		return false, err
	}
	h.stored -= n
	if n > 0 {
		h.cursor, h.cut = last, true
	}
	return h.stored > 0 && n > 0, nil
}

// relax finds the earliest element still held.
func (g *gate[T]) relax() {
	g.t.Keeps(len(g.held))
	g.hold = event.Max
	for _, h := range g.order {
		g.hold = min(g.hold, h.low)
	}
	for _, h := range g.opening {
		g.hold = min(g.hold, h.low)
	}
}

// Hold keeps the output behind what is held (W9).
func (g *gate[T]) Hold() event.Time { return g.hold }

// Snapshot writes what was held in this epoch and remembers how far the signals
// are: the commit makes both count.
func (g *gate[T]) Snapshot(epoch uint64) []*store.Delta {
	copy(g.reported, g.seen)
	for _, h := range append(append([]*heldWindow[T](nil), g.opening...), g.order...) {
		if h.cut {
			g.rows.DeleteThrough(h.prefix, h.cursor)
			h.cut = false
		}
		for i := range h.fresh {
			value, err := g.coder.Append(nil, h.fresh[i])
			if err != nil {
				g.t.Fail(err)
			}
			g.rows.Put(g.rows.Own(), h.prefix, epoch, value)
		}
		h.committing += len(h.fresh)
		h.fresh = nil
	}
	return g.rows.Take()
}

// Idle: nothing is held.
func (g *gate[T]) Idle() bool { return len(g.held) == 0 }

package stateful

import (
	"fmt"

	"github.com/gosluice/sluice/core/store"
)

// seenRow is the row of an entry that no cell may have a row for: the key saw data
// and OnWindowExpiration is to be called for it (L9). Its name is empty.
type seenRow struct{ track }

// seenPrefix is the name of the row, sized.
var seenPrefix = []byte{0}

func (s *seenRow) undo()        {}
func (s *seenRow) check() error { return nil }
func (s *seenRow) keep()        {}

func (s *seenRow) save(r *rows) error {
	if !s.stored {
		r.begin(s.entry, seenPrefix, "")
		r.put(&s.track, nil)
	}
	return nil
}

// enter makes the entry of a key in p. They are kept in order where each is to be
// told of the window's end.
func (h *parDoHead[K, V, O]) enter(p *pane[entry], key []byte, g store.Group) *entry {
	x := &entry{encoded: string(key), group: g, pane: p, slots: make([]slot, len(h.decl.cells))}
	x.seen.entry = x
	p.byKey[x.encoded] = x
	if h.fn.OnWindowExpiration != nil {
		p.order = append(p.order, x)
	}
	return x
}

// leave takes back the last enter.
func (h *parDoHead[K, V, O]) leave(x *entry) {
	p := x.pane
	delete(p.byKey, x.encoded)
	if h.fn.OnWindowExpiration != nil {
		p.order = p.order[:len(p.order)-1]
	}
}

// Open reads the cells and timers of this worker's groups back.
func (h *parDoHead[K, V, O]) Open() error {
	return h.t.Load(store.State, func(r store.Row) error {
		k, err := readRowKey(r.Key)
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		p := h.panes.of(k.window, false)
		p.groups.add(r.Group)
		if k.name == "" && h.fn.OnWindowExpiration == nil {
			return nil // left by a run that had one
		}
		x := p.byKey[string(k.encoded)]
		if x == nil {
			x = h.enter(p, k.encoded, r.Group)
		}
		if k.name == "" {
			x.seen.stored = true
			return nil
		}
		c := h.decl.byName[k.name]
		if c == nil {
			return fmt.Errorf("%s: row of a cell %q that is not declared: %w", h.name, k.name, store.ErrDamaged)
		}
		if err := c.load(x, k.sub, r); err != nil {
			return fmt.Errorf("%s: cell %q: %w", h.name, k.name, err)
		}
		return nil
	})
}

// Snapshot writes the rows that are out of date. Those of windows collected in this
// epoch are gone already.
func (h *parDoHead[K, V, O]) Snapshot(uint64) []*store.Delta {
	for i, x := range h.scope.dirty {
		h.save(x)
		h.scope.dirty[i] = nil
	}
	h.scope.dirty = h.scope.dirty[:0]
	if h.t.Store() == nil {
		h.rows.delta.Reset()
	}
	if h.rows.delta.Len() == 0 {
		return nil
	}
	d := h.rows.delta
	h.rows.delta = store.NewDelta(d.Space)
	return []*store.Delta{d}
}

func (h *parDoHead[K, V, O]) save(x change) {
	t := x.tracked()
	t.dirty = false
	if t.entry.collected() {
		return
	}
	if err := x.save(&h.rows); err != nil {
		h.t.Fail(fmt.Errorf("%s: %w", h.name, err))
	}
	// A key whose cells have been cleared is as if it had never been there.
	if h.fn.OnWindowExpiration == nil && t.entry.vacant() {
		delete(t.entry.pane.byKey, t.entry.encoded)
	}
}

// Idle: no window is kept.
func (h *parDoHead[K, V, O]) Idle() bool { return len(h.panes.all) == 0 }

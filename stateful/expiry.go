package stateful

import (
	"fmt"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
)

// expired is the first window whose time is over, nil if there is none. It stays
// among the open ones until its last key has been told.
func (h *parDoHead[K, V, O]) expired() *pane[entry] {
	if len(h.panes.open) == 0 || h.expiry(h.panes.open[0]) >= h.low {
		return nil
	}
	return h.panes.open[0]
}

func (h *parDoHead[K, V, O]) expiry(p *pane[entry]) event.Time {
	return p.window.Expiry(h.strategy.AllowedLateness)
}

// expire tells the next key of p, whose timers have all fired, that its window is
// over, and collects p after the last.
func (h *parDoHead[K, V, O]) expire(p *pane[entry]) error {
	if p.next == len(p.order) {
		h.collect(p)
		return nil
	}
	x := p.order[p.next]
	p.next++
	key, err := h.keys.Read([]byte(x.encoded))
	if err != nil {
		return err
	}
	h.begin(x, key, stand(x, p.window.Max()), anExpiration)
	if err = h.fn.OnWindowExpiration(h.decl.ctx, h.decl.out); err == nil {
		err = h.check()
	}
	if err != nil {
		return fmt.Errorf("%s: OnWindowExpiration of %v: %w", h.name, p.window, err)
	}
	h.keep()
	return nil
}

// collect forgets p and its rows (X10).
func (h *parDoHead[K, V, O]) collect(p *pane[entry]) {
	h.panes.fire()
	h.panes.drop()
	from := window.AppendWindow(nil, p.window)
	below := engine.KeyAfter(from)
	p.groups.each(func(g store.Group) { h.rows.delta.DeleteRange(g, from, below) })
	p.byKey, p.order = nil, nil
}

package stateful

import (
	"container/heap"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
)

// groupSet is a set of key groups.
type groupSet [store.Groups / 64]uint64

func (s *groupSet) add(g store.Group) { s[g/64] |= 1 << (g % 64) }

// each calls f for the members in order.
func (s *groupSet) each(f func(store.Group)) {
	for g := range store.Groups {
		if s[g/64]&(1<<(g%64)) != 0 {
			f(store.Group(g))
		}
	}
}

// pane is what one worker keeps of one window: its keys, in the order they came,
// so that results do not depend on map order.
type pane[E any] struct {
	window window.Window
	byKey  map[string]*E
	order  []*E
	// groups have rows in the store.
	groups groupSet
	// fired: the watermark has passed the window's end and its results were sent.
	fired bool
	// next is the first of order that has not been sent, while firing.
	next int
	// late are the keys that got values after the window fired.
	late []*E
}

// panes holds a worker's windows: open ones wait for their end, fired ones for
// their expiry; both earliest first.
type panes[E any] struct {
	all         map[window.Window]*pane[E]
	open, fired paneHeap[E]
	last        *pane[E]
}

func newPanes[E any]() panes[E] { return panes[E]{all: map[window.Window]*pane[E]{}} }

// of returns the pane of w, made if need be: fired says that its end has passed.
// Elements that follow one another are mostly of one window.
func (p *panes[E]) of(w window.Window, fired bool) *pane[E] {
	if p.last != nil && p.last.window == w {
		return p.last
	}
	q := p.all[w]
	if q == nil {
		q = &pane[E]{window: w, byKey: map[string]*E{}, fired: fired}
		p.all[w] = q
		if fired {
			heap.Push(&p.fired, q)
		} else {
			heap.Push(&p.open, q)
		}
	}
	p.last = q
	return q
}

// fire moves the first open pane to the fired ones.
func (p *panes[E]) fire() {
	q := heap.Pop(&p.open).(*pane[E])
	q.fired = true
	heap.Push(&p.fired, q)
}

// drop forgets the first fired pane.
func (p *panes[E]) drop() {
	q := heap.Pop(&p.fired).(*pane[E])
	delete(p.all, q.window)
	if p.last == q {
		p.last = nil
	}
}

// hold is the end of the first open window: what it will send has no earlier time.
func (p *panes[E]) hold() event.Time {
	if len(p.open) == 0 {
		return event.Max
	}
	return p.open[0].window.Max()
}

type paneHeap[E any] []*pane[E]

func (h paneHeap[E]) Len() int { return len(h) }
func (h paneHeap[E]) Less(i, j int) bool {
	a, b := h[i].window, h[j].window
	if a.End != b.End {
		return a.End < b.End
	}
	return a.Start < b.Start
}
func (h paneHeap[E]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *paneHeap[E]) Push(x any)   { *h = append(*h, x.(*pane[E])) }
func (h *paneHeap[E]) Pop() any {
	old := *h
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return q
}

package memory

import (
	"bytes"
	"slices"

	"github.com/gosluice/sluice/core/store"
)

// Scan implements [store.Store]. It holds no lock while it calls fn, which may
// call the store.
func (h *handle) Scan(r store.Range, fn func(store.Row) bool) error {
	var seen [][]*page
	err := h.locked(func() error { seen = h.db.pagesLocked(r); return nil })
	if err != nil {
		return named("scan", err)
	}
	for i, pages := range seen {
		if !scanGroup(pages, r.First+store.Group(i), r, fn) {
			return nil
		}
	}
	return nil
}

// pagesLocked returns the pages of r's groups and raises the generation, so that
// nobody writes them from now on.
func (d *DB) pagesLocked(r store.Range) [][]*page {
	s := d.mu.spaces[r.Space]
	if s == nil || r.First > r.Last {
		return nil
	}
	d.mu.gen++
	pages := make([][]*page, 0, int(r.Last)-int(r.First)+1)
	for g := int(r.First); g <= int(r.Last); g++ {
		pages = append(pages, s[g].pages)
	}
	return pages
}

// scanGroup calls fn for the rows of one group and tells whether to go on.
func scanGroup(pages []*page, g store.Group, r store.Range, fn func(store.Row) bool) bool {
	for _, p := range pages[pageOf(pages, r.From):] {
		for _, w := range p.rows {
			if bytes.Compare(w.key, r.From) < 0 {
				continue
			}
			if len(r.Below) > 0 && bytes.Compare(w.key, r.Below) >= 0 {
				return true
			}
			if !fn(store.Row{Group: g, Key: w.key, Value: w.value, Merges: slices.Clip(w.merges)}) {
				return false
			}
		}
	}
	return true
}

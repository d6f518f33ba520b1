package memory

import (
	"bytes"
	"slices"
	"sort"

	"github.com/gosluice/sluice/core/store"
)

// pageRowsMax bounds what one insertion moves and one copy copies.
const pageRowsMax = 64

// space is the rows of one space by group.
type space [store.Groups]group

// row is never written after it was put on a page. Merges of successive rows of
// one key may share memory: only the newest is appended to.
type row struct {
	key, value []byte
	merges     [][]byte
}

// group is the rows of one group in order of keys, on pages none of which is
// empty. gen is the generation in which its list of pages was last copied.
type group struct {
	gen   uint64
	pages []*page
}

// page holds neighbouring rows; gen as in group.
type page struct {
	gen  uint64
	rows []row
}

// apply makes one change in generation gen.
func (g *group) apply(r store.Record, gen uint64) {
	g.own(gen)
	if r.Op == store.DeleteRange {
		g.deleteRange(r.Key, r.Value, gen)
		return
	}
	at, i, found := g.find(r.Key)
	switch {
	case r.Op == store.Delete && found:
		g.remove(at, i, i+1, gen)
	case r.Op == store.Delete:
	case found:
		p := g.page(at, gen)
		p.rows[i] = p.rows[i].with(r)
	default:
		g.insert(at, i, row{key: bytes.Clone(r.Key)}.with(r), gen)
	}
}

// with returns the row that r, a put or a merge, makes of w.
func (w row) with(r store.Record) row {
	v := append([]byte{}, r.Value...)
	if r.Op == store.Put {
		return row{key: w.key, value: v}
	}
	return row{key: w.key, value: w.value, merges: append(w.merges, v)}
}

// own copies the list of pages if a scan may be reading it.
func (g *group) own(gen uint64) {
	if g.gen < gen {
		g.gen, g.pages = gen, slices.Clone(g.pages)
	}
}

// page returns page at for writing, a copy if a scan may be reading it.
func (g *group) page(at int, gen uint64) *page {
	p := g.pages[at]
	if p.gen < gen {
		p = &page{gen: gen, rows: append(make([]row, 0, pageRowsMax), p.rows...)}
		g.pages[at] = p
	}
	return p
}

// find returns where key is or would be: row i of page at.
func (g *group) find(key []byte) (at, i int, found bool) {
	at = pageOf(g.pages, key)
	if at == len(g.pages) {
		return at, 0, false
	}
	i, found = slices.BinarySearchFunc(g.pages[at].rows, key, func(r row, key []byte) int {
		return bytes.Compare(r.key, key)
	})
	return at, i, found
}

// pageOf returns the first page whose last key is not below key.
func pageOf(pages []*page, key []byte) int {
	return sort.Search(len(pages), func(i int) bool {
		rows := pages[i].rows
		return bytes.Compare(rows[len(rows)-1].key, key) >= 0
	})
}

// insert puts r at row i of page at, where find said it belongs.
func (g *group) insert(at, i int, r row, gen uint64) {
	if at == len(g.pages) && at > 0 {
		at--
		i = len(g.pages[at].rows)
	}
	if len(g.pages) == 0 {
		g.pages = append(g.pages, &page{gen: gen})
	}
	p := g.page(at, gen)
	if len(p.rows) == pageRowsMax {
		half := len(p.rows) / 2
		upper := &page{gen: gen, rows: append(make([]row, 0, pageRowsMax), p.rows[half:]...)}
		clear(p.rows[half:])
		p.rows = p.rows[:half]
		g.pages = slices.Insert(g.pages, at+1, upper)
		if i > half {
			p, i = upper, i-half
		}
	}
	p.rows = slices.Insert(p.rows, i, r)
}

// remove takes rows i to j off page at, and the page if nothing is left.
func (g *group) remove(at, i, j int, gen uint64) {
	if i == 0 && j == len(g.pages[at].rows) {
		g.pages = slices.Delete(g.pages, at, at+1)
		return
	}
	p := g.page(at, gen)
	p.rows = slices.Delete(p.rows, i, j)
}

// deleteRange removes the rows of [from, below), page by page.
func (g *group) deleteRange(from, below []byte, gen uint64) {
	at, i, _ := g.find(from)
	for at < len(g.pages) {
		pages, rows := len(g.pages), g.pages[at].rows
		j := i + sort.Search(len(rows)-i, func(n int) bool {
			return len(below) > 0 && bytes.Compare(rows[i+n].key, below) >= 0
		})
		last := j < len(rows)
		if i < j {
			g.remove(at, i, j, gen)
		}
		if last {
			return
		}
		if len(g.pages) == pages {
			at++
		}
		i = 0
	}
}

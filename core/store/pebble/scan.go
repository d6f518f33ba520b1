package pebble

import (
	"bytes"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

// Scan implements [store.Store]. It first folds what the space has in the delta
// log, so it may write. It holds no lock while it calls fn, which may call the
// store, but for Close.
func (s *db) Scan(r store.Range, fn func(store.Row) bool) error {
	return s.call("scan", func() error {
		if r.First > r.Last || len(r.Below) > 0 && bytes.Compare(r.From, r.Below) >= 0 {
			return nil
		}
		it, err := s.rows(r)
		if err != nil {
			return err
		}
		err = scanGroups(it, r, fn)
		if err = firstError(err, it.Error(), it.Close()); err != nil {
			return s.fault.read(err)
		}
		return nil
	})
}

// rows returns an iterator over all rows of r's groups, in one committed state.
func (s *db) rows(r store.Range) (*pebbledb.Iterator, error) {
	o := &pebbledb.IterOptions{LowerBound: rowPrefix(r.Space, r.First), UpperBound: after(rowPrefix(r.Space, r.Last))}
	l := s.knownLog(r.Space)
	if l == nil {
		return s.p.NewIter(o)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := s.foldLocked(l); err != nil {
		return nil, err
	}
	return s.p.NewIter(o)
}

// knownLog is nil for a space that never had an entry.
func (s *db) knownLog(space store.Space) *spaceLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.logs[space]
}

// scanGroups calls fn for the rows of r, group by group only if it has to.
func scanGroups(it *pebbledb.Iterator, r store.Range, fn func(store.Row) bool) error {
	var row store.Row
	if len(r.From) == 0 && len(r.Below) == 0 {
		_, err := scanRows(it, &row, fn)
		return err
	}
	for g := int(r.First); g <= int(r.Last); g++ {
		it.SetBounds(bounds(rowPrefix(r.Space, store.Group(g)), r.From, r.Below))
		if more, err := scanRows(it, &row, fn); err != nil || !more {
			return err
		}
	}
	return nil
}

// scanRows calls fn for the rows within it's bounds and tells whether to go on.
func scanRows(it *pebbledb.Iterator, row *store.Row, fn func(store.Row) bool) (more bool, err error) {
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		value, err := it.ValueAndErr()
		if err != nil {
			return false, err
		}
		row.Group, row.Key = store.Group(key[rowBytes-1]), key[rowBytes:len(key):len(key)]
		if err := parseCell(row, value); err != nil {
			return false, err
		}
		if !fn(*row) {
			return false, nil
		}
	}
	return true, it.Error()
}

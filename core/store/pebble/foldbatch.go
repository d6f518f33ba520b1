package pebble

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

// foldBatch gathers the records of some entries, in the order in which they were
// committed, and writes what they do to the rows.
type foldBatch struct {
	blobs     []byte // of all entries, one after another
	ends      []int  // where each ends
	entries   [][]byte
	blobBytes int
	changes   []change
}

// change is a record with its place in the order.
type change struct {
	store.Record
	// section counts the DeleteRange records of the group before this one, which
	// must not change places with others: it has a section of its own.
	section uint32
	at      uint32 // among all records
}

// folds keeps the memory of foldBatches.
var folds = sync.Pool{New: func() any { return new(foldBatch) }}

func (f *foldBatch) release() {
	if cap(f.blobs) > 2*foldStepBytes {
		return
	}
	clear(f.changes)
	f.blobs, f.ends, f.entries, f.changes, f.blobBytes = f.blobs[:0], f.ends[:0], f.entries[:0], f.changes[:0], 0
	folds.Put(f)
}

// read gathers the entries of l after l.folded, at most to to; it stops between
// two commits when it has enough, and returns the last sequence number it covers.
func (f *foldBatch) read(p *pebbledb.DB, l *spaceLog, to uint64) (last uint64, err error) {
	it, err := p.NewIter(&pebbledb.IterOptions{
		LowerBound: entryKey(l.Space, l.folded+1, 0),
		UpperBound: entryKey(l.Space, to+1, 0),
	})
	if err != nil {
		return 0, err
	}
	last = l.folded
	for ok := it.First(); ok; ok = it.Next() {
		seq := seqOf(it.Key())
		if len(f.blobs) >= foldStepBytes && seq != last {
			return last, firstError(f.parse(l.Space), it.Close())
		}
		blob, err := it.ValueAndErr()
		if err != nil {
			return 0, firstError(err, it.Close())
		}
		last = seq
		f.blobs = append(f.blobs, blob...)
		f.ends = append(f.ends, len(f.blobs))
		f.entries = append(f.entries, bytes.Clone(it.Key()))
	}
	return to, firstError(it.Error(), it.Close(), f.parse(l.Space))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// parse makes changes of the blobs and sorts them by row.
func (f *foldBatch) parse(space store.Space) error {
	var sections [store.Groups]uint32
	begin := 0
	for _, end := range f.ends {
		d, err := store.ReadDelta(space, f.blobs[begin:end])
		if err != nil {
			return err
		}
		for r := range d.Records() {
			section := &sections[r.Group]
			if r.Op == store.DeleteRange {
				*section++
			}
			f.changes = append(f.changes, change{Record: r, section: *section, at: uint32(len(f.changes))})
			if r.Op == store.DeleteRange {
				*section++
			}
		}
		begin = end
	}
	f.blobBytes = len(f.blobs)
	slices.SortFunc(f.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.section, b.section), bytes.Compare(a.Key, b.Key), cmp.Compare(a.at, b.at))
	})
	return nil
}

// write adds the rows' changes and the end of the entries to b.
func (f *foldBatch) write(b *pebbledb.Batch, space store.Space) error {
	w := rowWriter{b: b, prefix: rowPrefix(space, 0)}
	for c := f.changes; len(c) > 0; {
		n := sameRow(c)
		if err := w.write(c[:n]); err != nil {
			return err
		}
		c = c[n:]
	}
	for _, key := range f.entries {
		// Each was set once: both go away at the next flush.
		if err := b.SingleDelete(key, nil); err != nil {
			return err
		}
	}
	return nil
}

// sameRow counts the first changes that are of one row and section.
func sameRow(c []change) int {
	n := 1
	for n < len(c) && c[n].Group == c[0].Group && c[n].section == c[0].section && bytes.Equal(c[n].Key, c[0].Key) {
		n++
	}
	return n
}

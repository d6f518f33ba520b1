package pebble

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
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
	records   []store.Record
	perGroup  [store.Groups]int
	shared    int // bytes that all keys begin with
	changes   []change
}

// change is where a record stands in the order of rows: a group's changes are
// sorted by section, then key, then by which came first.
type change struct {
	head uint64 // the first bytes of the key that tell keys apart, most of the time
	at   uint32 // index of the record
	// section counts the DeleteRange records of the group before this one, which
	// must not change places with others: it has a section of its own.
	section uint32
}

// folds keeps the memory of foldBatches.
var folds = sync.Pool{New: func() any { return new(foldBatch) }}

func (f *foldBatch) release() {
	if cap(f.blobs) > 2*foldBytesDefault {
		return
	}
	clear(f.records)
	*f = foldBatch{blobs: f.blobs[:0], ends: f.ends[:0], entries: f.entries[:0], records: f.records[:0], changes: f.changes[:0]}
	folds.Put(f)
}

// read gathers the entries of l after l.folded, at most to to; it stops between
// two commits when it has enough, and returns the last sequence number it covers.
func (f *foldBatch) read(p *pebbledb.DB, l *spaceLog, to uint64, enough int64) (last uint64, err error) {
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
		if int64(len(f.blobs)) >= enough && seq != last {
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

// parse makes records of the blobs and sorts them by row.
func (f *foldBatch) parse(space store.Space) error {
	begin := 0
	f.shared = math.MaxInt
	for _, end := range f.ends {
		d, err := store.ReadDelta(space, f.blobs[begin:end])
		if err != nil {
			return err
		}
		for r := range d.Records() {
			f.records = append(f.records, r)
			f.perGroup[r.Group]++
			f.shared = sharedBytes(f.records[0].Key, r.Key, f.shared)
		}
		begin = end
	}
	f.blobBytes = len(f.blobs)
	f.sort()
	return nil
}

// sort orders the changes: by counting to their groups, and then each group.
func (f *foldBatch) sort() {
	f.changes = slices.Grow(f.changes, len(f.records))[:len(f.records)]
	var next [store.Groups]int
	for g := 1; g < store.Groups; g++ {
		next[g] = next[g-1] + f.perGroup[g-1]
	}
	begin := next
	var section [store.Groups]uint32
	for i := range f.records {
		r := &f.records[i]
		c := change{head: head(r.Key[f.shared:]), at: uint32(i), section: section[r.Group]}
		if r.Op == store.DeleteRange {
			c.section++
			section[r.Group] += 2
		}
		f.changes[next[r.Group]] = c
		next[r.Group]++
	}
	for g := range store.Groups {
		slices.SortFunc(f.changes[begin[g]:next[g]], f.compare)
	}
}

// sharedBytes counts the bytes, at most limit, that a and b both begin with.
func sharedBytes(a, b []byte, limit int) int {
	limit = min(limit, len(a), len(b))
	if bytes.Equal(a[:limit], b[:limit]) {
		return limit
	}
	n := 0
	for a[n] == b[n] {
		n++
	}
	return n
}

// head is the first 8 bytes of key as a number with the same order.
func head(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// compare orders changes of one group.
func (f *foldBatch) compare(a, b change) int {
	if c := cmp.Compare(a.section, b.section); c != 0 {
		return c
	}
	if c := cmp.Compare(a.head, b.head); c != 0 {
		return c
	}
	if c := bytes.Compare(f.records[a.at].Key, f.records[b.at].Key); c != 0 {
		return c
	}
	return cmp.Compare(a.at, b.at)
}

// write adds the rows' changes and the end of the entries to b.
func (f *foldBatch) write(b *pebbledb.Batch, space store.Space) error {
	w := rowWriter{b: b, prefix: rowPrefix(space, 0)}
	var row []store.Record
	for c := f.changes; len(c) > 0; {
		row = row[:0]
		for len(row) == 0 || len(row) < len(c) && f.sameRow(c[0], c[len(row)]) {
			row = append(row, f.records[c[len(row)].at])
		}
		if err := w.write(row); err != nil {
			return err
		}
		c = c[len(row):]
	}
	for _, key := range f.entries {
		// Each was set once: both go away at the next flush.
		if err := b.SingleDelete(key, nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *foldBatch) sameRow(a, b change) bool {
	x, y := &f.records[a.at], &f.records[b.at]
	return a.section == b.section && a.head == b.head && x.Group == y.Group && bytes.Equal(x.Key, y.Key)
}

package store

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"
)

// Op is what a record does to its row.
type Op uint8

// The operations of a delta record.
const (
	// Put replaces the row's value and forgets its merges.
	Put Op = iota + 1
	// Delete removes the row.
	Delete
	// Merge appends an operand.
	Merge
	// DeleteRange removes the rows with Key <= row < Value of one group; an empty
	// Value is no limit, as in Range.
	DeleteRange
)

// Record is one change. For DeleteRange the range is [Key, Value).
type Record struct {
	Op         Op
	Group      Group
	Key, Value []byte
}

// Delta is one worker's changes to one space in one epoch: one blob of records.
// Records are applied in the order they were appended within a group. Not safe
// for concurrent use; after it was given to a commit it must not change until
// the commit is done.
type Delta struct {
	Space
	blob  []byte
	count int
}

// NewDelta returns an empty delta for space.
func NewDelta(space Space) *Delta { return &Delta{Space: space} }

// Len is the number of records, Size the bytes of the blob.
func (d *Delta) Len() int  { return d.count }
func (d *Delta) Size() int { return len(d.blob) }

// Reset empties d and keeps its memory.
func (d *Delta) Reset() { d.blob, d.count = d.blob[:0], 0 }

// Put records that key has value from now on. Both are copied.
func (d *Delta) Put(g Group, key, value []byte) { d.append(Put, g, key, value) }

// Delete records that key is gone.
func (d *Delta) Delete(g Group, key []byte) { d.append(Delete, g, key, nil) }

// Merge records one more operand of key.
func (d *Delta) Merge(g Group, key, operand []byte) { d.append(Merge, g, key, operand) }

// DeleteRange records that the rows of [from, below) are gone; with an empty
// below, all rows from there to the end of the group.
func (d *Delta) DeleteRange(g Group, from, below []byte) { d.append(DeleteRange, g, from, below) }

func (d *Delta) append(op Op, g Group, key, value []byte) {
	b := append(d.blob, byte(op), byte(g))
	b = binary.AppendUvarint(b, uint64(len(key)))
	b = append(b, key...)
	b = binary.AppendUvarint(b, uint64(len(value)))
	d.blob = append(b, value...)
	d.count++
}

// Records iterates the records in the order they were appended. The slices
// point into the blob.
func (d *Delta) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for b := d.blob; len(b) > 0; {
			r := Record{Op: Op(b[0]), Group: Group(b[1])}
			r.Key, b = field(b[2:])
			r.Value, b = field(b)
			if !yield(r) {
				return
			}
		}
	}
}

func field(b []byte) (value, rest []byte) {
	n, w := binary.Uvarint(b)
	end := w + int(n)
	return b[w:end:end], b[end:]
}

// Sorted returns the records ordered by (group, key), equal keys in the order
// they were appended: the sections that a delta log stores. Not for deltas with
// DeleteRange records that overlap later puts.
func (d *Delta) Sorted() []Record {
	records := make([]Record, 0, d.count)
	for r := range d.Records() {
		records = append(records, r)
	}
	slices.SortStableFunc(records, func(a, b Record) int {
		if a.Group != b.Group {
			return int(a.Group) - int(b.Group)
		}
		return bytes.Compare(a.Key, b.Key)
	})
	return records
}

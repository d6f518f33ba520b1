package pebble

import (
	"bytes"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

// rowWriter writes the changes of one space's rows to a batch.
type rowWriter struct {
	b      *pebbledb.Batch
	prefix []byte // of the rows of a group; its last byte is set for each row
}

// write adds successive changes of one row, or one DeleteRange: at most a
// deletion, and one operation with all parts that are left.
func (w *rowWriter) write(c []store.Record) error {
	w.prefix[rowBytes-1] = byte(c[0].Group)
	if c[0].Op == store.DeleteRange {
		return w.deleteRange(c[0].Key, c[0].Value)
	}
	last := len(c) - 1
	for last > 0 && c[last].Op == store.Merge {
		last--
	}
	c = c[last:]
	switch c[0].Op {
	case store.Put:
		return w.parts(w.b.SetDeferred(rowBytes+len(c[0].Key), partsSize(c)), c)
	case store.Delete:
		if err := w.delete(c[0].Key); err != nil || len(c) == 1 {
			return err
		}
		c = c[1:]
	}
	return w.parts(w.b.MergeDeferred(rowBytes+len(c[0].Key), partsSize(c)), c)
}

func partsSize(c []store.Record) (n int) {
	for i := range c {
		n += partSize(c[i].Value)
	}
	return n
}

// parts fills in an operation that has been made with the right sizes.
func (w *rowWriter) parts(op *pebbledb.DeferredBatchOp, c []store.Record) error {
	copy(op.Key[copy(op.Key, w.prefix):], c[0].Key)
	b := op.Value[:0]
	for i := range c {
		m := uint64(mergePart)
		if c[i].Op == store.Put {
			m = 0
		}
		b = appendPart(b, c[i].Value, m)
	}
	return op.Finish()
}

func (w *rowWriter) delete(key []byte) error {
	op := w.b.DeleteDeferred(rowBytes + len(key))
	copy(op.Key[copy(op.Key, w.prefix):], key)
	return op.Finish()
}

func (w *rowWriter) deleteRange(from, below []byte) error {
	lower, upper := bounds(w.prefix, from, below)
	if bytes.Compare(lower, upper) >= 0 {
		return nil // the engine takes no empty range
	}
	return w.b.DeleteRange(lower, upper, nil)
}

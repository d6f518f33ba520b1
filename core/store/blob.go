package store

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Blob is the delta's records as one byte string: what a delta log keeps and
// [ReadDelta] reads. It belongs to d.
func (d *Delta) Blob() []byte { return d.blob }

// ReadDelta makes a delta of a blob, which it keeps. A blob that is cut off or
// holds an unknown operation is refused with [ErrDamaged], whole.
func ReadDelta(space Space, blob []byte) (*Delta, error) {
	d := &Delta{Space: space, blob: slices.Clip(blob)}
	for at := 0; at < len(blob); d.count++ {
		n := recordSize(blob[at:])
		if n == 0 {
			return nil, fmt.Errorf("%w: record %d of a delta, at byte %d of %d", ErrDamaged, d.count, at, len(blob))
		}
		at += n
	}
	return d, nil
}

// recordSize is the length of the first record of b, 0 if there is no whole one.
func recordSize(b []byte) int {
	if len(b) < 2 || Op(b[0]) < Put || Op(b[0]) > DeleteRange {
		return 0
	}
	at := 2
	for range 2 {
		n, w := binary.Uvarint(b[at:])
		if w <= 0 || n > uint64(len(b)-at-w) {
			return 0
		}
		at += w + int(n)
	}
	return at
}

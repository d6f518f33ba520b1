package pebble

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

// The value of a row is a sequence of parts, oldest first: uvarint(length<<1|m)
// and length bytes, with m 0 for the value and 1 for a merge operand. A value can
// only be the first part: writing one replaces the row. So to append an operand is
// to concatenate, which the engine does for us without reading the row.

const mergePart = 1

func appendPart(b, value []byte, m uint64) []byte {
	return append(binary.AppendUvarint(b, uint64(len(value))<<1|m), value...)
}

func partSize(value []byte) int {
	n := len(value)
	return n + (bits.Len(uint(n)<<1|1)+6)/7
}

// parseCell fills Value and Merges of row, which keeps its memory for the next.
func parseCell(row *store.Row, b []byte) error {
	row.Value, row.Merges = nil, row.Merges[:0]
	for first := true; len(b) > 0; first = false {
		h, w := binary.Uvarint(b)
		if n := h >> 1; w <= 0 || n > uint64(len(b)-w) || h&mergePart == 0 && !first {
			return fmt.Errorf("%w: the row %q of group %d cannot be read", store.ErrDamaged, row.Key, row.Group)
		}
		end := w + int(h>>1)
		part := b[w:end:end]
		if h&mergePart == 0 {
			row.Value = part
		} else {
			row.Merges = append(row.Merges, part)
		}
		b = b[end:]
	}
	return nil
}

// merger appends parts. Its name is kept in the directory, which cannot be opened
// with another: it carries the version of the format above.
var merger = &pebbledb.Merger{
	Name: "sluice.parts.v1",
	Merge: func(_, value []byte) (pebbledb.ValueMerger, error) {
		return &parts{newest: append([]byte{}, value...)}, nil
	},
}

// parts gathers older operands in the order in which they come, so that many of
// them cost no more than their bytes.
type parts struct {
	newest []byte // what came first, and all that is newer
	older  [][]byte
	size   int
}

func (p *parts) MergeNewer(value []byte) error {
	p.newest = append(p.newest, value...)
	return nil
}

func (p *parts) MergeOlder(value []byte) error {
	p.older = append(p.older, slices.Clone(value))
	p.size += len(value)
	return nil
}

func (p *parts) Finish(bool) ([]byte, io.Closer, error) {
	if len(p.older) == 0 {
		return p.newest, nil, nil
	}
	b := make([]byte, 0, p.size+len(p.newest))
	for _, o := range slices.Backward(p.older) {
		b = append(b, o...)
	}
	return append(b, p.newest...), nil, nil
}

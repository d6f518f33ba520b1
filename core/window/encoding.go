package window

import (
	"encoding/binary"
	"fmt"

	"github.com/gosluice/sluice/core/event"
)

// EncodedBytes is the length of an encoded window.
const EncodedBytes = 16

// signBit, flipped, makes the big-endian bytes of negative numbers sort before
// those of positive ones.
const signBit = 1 << 63

// AppendWindow appends the [EncodedBytes] of w to dst: start, then end. Encoded
// windows compare, as bytes, like [Window.Compare]; so rows keyed by them are
// sorted by start, and the rows of a window are one range.
func AppendWindow(dst []byte, w Window) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(w.Start)^signBit)
	return binary.BigEndian.AppendUint64(dst, uint64(w.End)^signBit)
}

// ReadWindow decodes a window from the beginning of b and returns the rest of b.
// It fails only when b is too short: every 16 bytes are some window.
func ReadWindow(b []byte) (w Window, rest []byte, err error) {
	if len(b) < EncodedBytes {
		return Window{}, nil, fmt.Errorf("window: encoded window: %d bytes, want %d", len(b), EncodedBytes)
	}
	w.Start = event.Time(binary.BigEndian.Uint64(b) ^ signBit)
	w.End = event.Time(binary.BigEndian.Uint64(b[8:]) ^ signBit)
	return w, b[EncodedBytes:], nil
}

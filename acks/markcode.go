package acks

import (
	"encoding/binary"
	"fmt"
)

// markFormat is the first byte of an encoded mark.
const markFormat = 1

// AppendBinary appends the mark to b. A mark without holes takes two to nine
// bytes, each hole a byte or two. It refuses a mark that is not valid.
func (m Mark) AppendBinary(b []byte) ([]byte, error) {
	if err := m.Validate(); err != nil {
		return b, err
	}
	b = append(b, markFormat)
	b = binary.AppendUvarint(b, uint64(m.Floor))
	b = binary.AppendUvarint(b, uint64(len(m.Holes)))
	var last Position
	for _, h := range m.Holes {
		b = binary.AppendUvarint(b, uint64(h-last))
		last = h
	}
	b = binary.AppendUvarint(b, uint64(len(m.Ahead)))
	last = m.Floor
	for _, s := range m.Ahead {
		b = binary.AppendUvarint(b, uint64(s.First-last))
		b = binary.AppendUvarint(b, uint64(s.Last-s.First))
		last = s.Last
	}
	return b, nil
}

// ParseMark reads what AppendBinary wrote, all of data. Anything else is an
// [ErrMark], no bytes at all included: an empty mark never passes for one.
func ParseMark(data []byte) (Mark, error) {
	if len(data) == 0 || data[0] != markFormat {
		return Mark{}, fmt.Errorf("%w: %d bytes of no known format", ErrMark, len(data))
	}
	r := markReader{rest: data[1:]}
	m := Mark{Floor: r.position()}
	if n := r.count(1); n > 0 {
		m.Holes = make([]Position, n)
	}
	var last Position
	for i := range m.Holes {
		last += r.position()
		m.Holes[i] = last
	}
	if n := r.count(2); n > 0 {
		m.Ahead = make([]Span, n)
	}
	last = m.Floor
	for i := range m.Ahead {
		m.Ahead[i].First = last + r.position()
		last = m.Ahead[i].First + r.position()
		m.Ahead[i].Last = last
	}
	if r.bad || len(r.rest) > 0 {
		return Mark{}, fmt.Errorf("%w: cut short or too long at %d bytes", ErrMark, len(data))
	}
	if err := m.Validate(); err != nil {
		return Mark{}, err
	}
	return m, nil
}

// markReader reads numbers off rest; bad once there was none.
type markReader struct {
	rest []byte
	bad  bool
}

func (r *markReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// position reads a position or a distance; one beyond MaxPosition is none, so that
// sums of two cannot overflow.
func (r *markReader) position() Position {
	v := r.uvarint()
	if v > uint64(MaxPosition) {
		r.bad = true
		return 0
	}
	return Position(v)
}

// count reads how many items follow, each of at least size bytes.
func (r *markReader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.rest)/size) {
		r.bad = true
		return 0
	}
	return int(n)
}

package coder

import "encoding/binary"

// AppendSized adds b to dst, preceded by its length as an unsigned varint.
func AppendSized(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// ReadSized cuts what [AppendSized] added off the beginning of b. Both results are
// parts of b.
func ReadSized(b []byte) (sized, rest []byte, err error) {
	n, head := binary.Uvarint(b)
	if head <= 0 || n > uint64(len(b)-head) {
		return nil, nil, malformed("sized", "no length, or one past the end of %d bytes", len(b))
	}
	end := head + int(n)
	return b[head:end:end], b[end:], nil
}

// closeSized writes the length of what follows dst[mark], a byte kept for it, into
// that byte; where the length needs more bytes it makes room first.
func closeSized(dst []byte, mark int) []byte {
	size := len(dst) - mark - 1
	if size < 0x80 {
		dst[mark] = byte(size)
		return dst
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(size))
	dst = append(dst, head[1:n]...)
	copy(dst[mark+n:], dst[mark+1:mark+1+size])
	copy(dst[mark:], head[:n])
	return dst
}

package pebble

import (
	"fmt"
	"hash/crc32"
)

// WithFoldBytes sets how long the delta log gets before it is folded.
func WithFoldBytes(n int64) Option { return func(o *options) { o.foldBytes = n } }

// MarkerOfFormat is a sound marker of another format.
func MarkerOfFormat(format int) []byte {
	b := fmt.Appendf(nil, "%sformat %d\nowner nobody\n", markerTitle, format)
	return fmt.Appendf(b, "sum %08x\n", crc32.Checksum(b, castagnoli))
}

package coder_test
import "testing"
import "encoding/binary"
import "github.com/gosluice/sluice/core/coder"
func appendI(dst []byte, v int64) ([]byte, error) { return binary.BigEndian.AppendUint64(dst, uint64(v)^(1<<63)), nil }
func appendS(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil }
func clos(flip uint64) func(dst []byte, v int64) ([]byte, error) { return func(dst []byte, v int64) ([]byte, error) { return binary.BigEndian.AppendUint64(dst, uint64(v)^flip), nil }}
func BenchmarkBase(b *testing.B) {
	benchAppend(b, "plainI", coder.Coder[int64]{Append: appendI}, 4711)
	benchAppend(b, "closI", coder.Coder[int64]{Append: clos(1<<63)}, 4711)
	benchAppend(b, "genI", coder.Int64(), 4711)
	benchAppend(b, "plainS", coder.Coder[string]{Append: appendS}, "order-4711")
	benchAppend(b, "S", coder.String(), "order-4711")
}

package coder_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/event"
)

// TestHotAppendsDoNotAllocate holds the budget of a keyed exchange: keys and
// elements of basic types, or named over them, are encoded in place.
func TestHotAppendsDoNotAllocate(t *testing.T) {
	doesNotAllocate(t, mustFor[string](t), "a key of some length")
	doesNotAllocate(t, mustFor[int](t), 42)
	doesNotAllocate(t, mustFor[int64](t), 42)
	doesNotAllocate(t, mustFor[[]byte](t), []byte("bytes"))
	doesNotAllocate(t, mustFor[bool](t), true)
	doesNotAllocate(t, mustFor[float64](t), 1)
	doesNotAllocate(t, mustFor[time.Time](t), time.Unix(1, 2))
	doesNotAllocate(t, mustFor[event.Time](t), 42)
	doesNotAllocate(t, mustFor[orderID](t), "id")
	doesNotAllocate(t, mustFor[amount](t), 42)
	kv := coder.KV(mustFor[orderID](t), coder.Int64())
	doesNotAllocate(t, kv, pair[orderID, int64]{Key: "id", Value: 1})
	doesNotAllocate(t, coder.Element(kv), anyElement(pair[orderID, int64]{Key: "id", Value: 1}))
}

func doesNotAllocate[T any](t *testing.T, c coder.Coder[T], v T) {
	t.Helper()
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf, _ = c.Append(buf[:0], v) }); n != 0 {
		t.Errorf("%s of %T: %v allocations", c.Name, v, n)
	}
}

func benchAppend[T any](b *testing.B, name string, c coder.Coder[T], v T) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 1024)
		for b.Loop() {
			buf, _ = c.Append(buf[:0], v)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	benchAppend(b, "string", coder.String(), "order-4711")
	benchAppend(b, "int", mustFor[int](b), 4711)
	benchAppend(b, "int64", coder.Int64(), 4711)
	benchAppend(b, "named-string", mustFor[orderID](b), "order-4711")
	benchAppend(b, "time", mustFor[time.Time](b), time.Unix(1, 2))
	composed := coder.KV(coder.String(), coder.Int64())
	kv := pair[string, int64]{Key: "order-4711", Value: 1}
	benchAppend(b, "kv-composed", composed, kv)
	benchAppend(b, "kv-inferred", mustFor[pair[string, int64]](b), kv)
	benchAppend(b, "element", coder.Element(composed), anyElement(kv))
	benchAppend(b, "json", mustFor[line](b), line{Item: "order-4711", Count: 1})
	benchAppend(b, "proto", mustFor[*wrapperspb.StringValue](b), wrapperspb.String("order-4711"))
}

func benchRead[T any](b *testing.B, name string, c coder.Coder[T], v T) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		encoded, err := c.Append(nil, v)
		for b.Loop() && err == nil {
			_, err = c.Read(encoded)
		}
		if err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	benchRead(b, "string", coder.String(), "order-4711")
	benchRead(b, "int64", coder.Int64(), 4711)
	composed := coder.KV(coder.String(), coder.Int64())
	kv := pair[string, int64]{Key: "order-4711", Value: 1}
	benchRead(b, "kv-composed", composed, kv)
	benchRead(b, "element", coder.Element(composed), anyElement(kv))
	benchRead(b, "json", mustFor[line](b), line{Item: "order-4711", Count: 1})
}

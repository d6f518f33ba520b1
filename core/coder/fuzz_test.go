package coder_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/window"
)

// readsGarbage checks one Read on any bytes: it fails as malformed, or the value it
// gives survives. The bytes may differ: there are more ways to write some values
// than the one Append chooses.
func readsGarbage[T any](t *testing.T, c coder.Coder[T], b []byte) {
	t.Helper()
	v, err := c.Read(b)
	if err != nil {
		if !errors.Is(err, coder.ErrMalformed) {
			t.Fatalf("%s: %x: %v", c.Name, b, err)
		}
		return
	}
	again, err := c.Append(nil, v)
	if err != nil {
		t.Fatalf("%s: %x read as %v, which cannot be written: %v", c.Name, b, v, err)
	}
	if got, err := c.Read(again); err != nil || !same(got, v) {
		t.Fatalf("%s: %x read as %#v, written and read as %#v, %v", c.Name, b, v, got, err)
	}
	if c.Deterministic {
		if twice, _ := c.Append(nil, v); !bytes.Equal(twice, again) {
			t.Fatalf("%s: %v written as %x and %x", c.Name, v, again, twice)
		}
	}
}

func same(a, b any) bool {
	if m, ok := a.(proto.Message); ok {
		return proto.Equal(m, b.(proto.Message))
	}
	return reflect.DeepEqual(a, b)
}

func FuzzRead(f *testing.F) {
	times, windows, bools := mustFor[time.Time](f), mustFor[window.Window](f), mustFor[bool](f)
	orders, messages := mustFor[order](f), mustFor[*structpb.Struct](f)
	inferredKV, composedKV := mustFor[pair[string, order]](f), coder.KV(coder.Bytes(), coder.Int64())
	elements, digests := coder.Element(coder.KV(coder.String(), orders)), mustFor[digest](f)

	seed := func(b []byte, err error) {
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	example := order{ID: "a", At: time.Unix(1, 0).UTC(), Lines: lines{{Item: "i", Count: 1}}}
	seed(nil, nil)
	seed(bytes.Repeat([]byte{0xff}, 40), nil)
	seed(times.Append(nil, time.Unix(1, 2)))
	seed(windows.Append(nil, window.GlobalWindow))
	seed(orders.Append(nil, example))
	seed(inferredKV.Append(nil, pair[string, order]{Key: "k", Value: example}))
	seed(composedKV.Append(nil, pair[[]byte, int64]{Key: make([]byte, 200), Value: 1}))
	seed(elements.Append(nil, anyElement(pair[string, order]{Key: "k", Value: example})))
	seed(messages.Append(nil, &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewBoolValue(true)}}))

	f.Fuzz(func(t *testing.T, b []byte) {
		readsGarbage(t, times, b)
		readsGarbage(t, windows, b)
		readsGarbage(t, bools, b)
		readsGarbage(t, orders, b)
		readsGarbage(t, inferredKV, b)
		readsGarbage(t, composedKV, b)
		readsGarbage(t, elements, b)
		readsGarbage(t, digests, b)
		readsGarbage(t, messages, b)
	})
}

func FuzzReadSized(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(coder.AppendSized(nil, []byte("abc")))
	f.Add(append(coder.AppendSized(nil, make([]byte, 200)), "rest"...))
	f.Add(bytes.Repeat([]byte{0xff}, 12))
	f.Fuzz(func(t *testing.T, b []byte) {
		sized, rest, err := coder.ReadSized(b)
		if err != nil {
			wantMalformed(t, err)
			return
		}
		if !bytes.HasSuffix(b, rest) || !bytes.HasSuffix(b[:len(b)-len(rest)], sized) {
			t.Fatalf("%x was cut into %x and %x", b, sized, rest)
		}
		again, rest, err := coder.ReadSized(append(coder.AppendSized(nil, sized), rest...))
		if err != nil || !bytes.Equal(again, sized) || !bytes.HasSuffix(b, rest) {
			t.Fatalf("%x: read again as %x, %v", b, again, err)
		}
	})
}

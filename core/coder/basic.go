package coder

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
)

// String is the coder of strings: their bytes.
func String() Coder[string] {
	return Coder[string]{
		Name:          "string",
		Append:        func(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil },
		Read:          func(b []byte) (string, error) { return string(b), nil },
		Deterministic: true,
	}
}

// Bytes is the coder of byte slices: a copy of them. A nil slice reads back empty.
func Bytes() Coder[[]byte] {
	return Coder[[]byte]{
		Name:          "bytes",
		Append:        func(dst, v []byte) ([]byte, error) { return append(dst, v...), nil },
		Read:          func(b []byte) ([]byte, error) { return append([]byte{}, b...), nil },
		Deterministic: true,
	}
}

func boolean() Coder[bool] {
	return Coder[bool]{Name: "bool", Append: appendBool, Read: readBool, Deterministic: true}
}

func appendBool(dst []byte, v bool) ([]byte, error) {
	if v {
		return append(dst, 1), nil
	}
	return append(dst, 0), nil
}

func readBool(b []byte) (bool, error) {
	switch {
	case bytes.Equal(b, []byte{0}):
		return false, nil
	case bytes.Equal(b, []byte{1}):
		return true, nil
	}
	return false, malformed("bool", "%x", b)
}

func empty() Coder[struct{}] {
	return Coder[struct{}]{
		Name:          "empty",
		Append:        func(dst []byte, _ struct{}) ([]byte, error) { return dst, nil },
		Read:          func(b []byte) (struct{}, error) { return struct{}{}, wantBytes("empty", b, 0) },
		Deterministic: true,
	}
}

// wallTimeBytes is seconds since 1970, sign bit flipped, and nanoseconds: bytes in
// the order of the instants.
const wallTimeBytes = 8 + 4

// wallTime keeps the instant to the nanosecond and drops what else a time.Time
// holds, its location and the monotonic reading: two readings of one instant are
// one key.
func wallTime() Coder[time.Time] {
	return Coder[time.Time]{Name: "time", Append: appendTime, Read: readTime, Deterministic: true}
}

func appendTime(dst []byte, v time.Time) ([]byte, error) {
	dst = binary.BigEndian.AppendUint64(dst, uint64(v.Unix())^signBit)
	return binary.BigEndian.AppendUint32(dst, uint32(v.Nanosecond())), nil
}

func readTime(b []byte) (time.Time, error) {
	if err := wantBytes("time", b, wallTimeBytes); err != nil {
		return time.Time{}, err
	}
	seconds, nanos := int64(binary.BigEndian.Uint64(b)^signBit), binary.BigEndian.Uint32(b[8:])
	if nanos >= 1e9 {
		return time.Time{}, malformed("time", "%d nanoseconds", nanos)
	}
	return time.Unix(seconds, int64(nanos)).UTC(), nil
}

func windows() Coder[window.Window] {
	return Coder[window.Window]{
		Name:          "window",
		Append:        func(dst []byte, v window.Window) ([]byte, error) { return window.AppendWindow(dst, v), nil },
		Read:          readWindow,
		Deterministic: true,
	}
}

func readWindow(b []byte) (window.Window, error) {
	if err := wantBytes("window", b, window.EncodedBytes); err != nil {
		return window.Window{}, err
	}
	w, _, err := window.ReadWindow(b)
	return w, fault.As(fault.Permanent, err)
}

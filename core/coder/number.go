package coder

import (
	"encoding/binary"
	"math"
)

// signBit, flipped, makes the big-endian bytes of negative numbers sort before
// those of positive ones. For narrower numbers it is shifted down.
const signBit = 1 << 63

// Int64 is the coder of int64: 8 bytes in the order of the numbers.
func Int64() Coder[int64] {
	c := wide[int64]("int64", signBit)
	c.Append = appendInt64
	return c
}

// ints has the bytes of [Int64].
func ints() Coder[int] {
	c := wide[int]("int64", signBit)
	c.Append = appendInt
	return c
}

// appendInt64 and appendInt do what wide's Append does. As plain functions they
// take 4 ns instead of 5, and keys are most often of these types.
func appendInt64(dst []byte, v int64) ([]byte, error) {
	return binary.BigEndian.AppendUint64(dst, uint64(v)^signBit), nil
}

func appendInt(dst []byte, v int) ([]byte, error) { return appendInt64(dst, int64(v)) }

// wide is the coder of 8-byte integers; flip is signBit for signed ones, else 0.
// An int on a 32-bit machine refuses what does not fit instead of cutting it.
func wide[T int | int64 | uint | uint64 | uintptr](name string, flip uint64) Coder[T] {
	return Coder[T]{
		Name: name,
		Append: func(dst []byte, v T) ([]byte, error) {
			return binary.BigEndian.AppendUint64(dst, uint64(v)^flip), nil
		},
		Read: func(b []byte) (T, error) {
			if err := wantBytes(name, b, 8); err != nil {
				return 0, err
			}
			full := binary.BigEndian.Uint64(b) ^ flip
			v := T(full)
			if uint64(v) != full {
				return 0, malformed(name, "%#x does not fit the machine's word", full)
			}
			return v, nil
		},
		Deterministic: true,
	}
}

func four[T int32 | uint32](name string, flip uint32) Coder[T] {
	return Coder[T]{
		Name: name,
		Append: func(dst []byte, v T) ([]byte, error) {
			return binary.BigEndian.AppendUint32(dst, uint32(v)^flip), nil
		},
		Read: func(b []byte) (T, error) {
			if err := wantBytes(name, b, 4); err != nil {
				return 0, err
			}
			return T(binary.BigEndian.Uint32(b) ^ flip), nil
		},
		Deterministic: true,
	}
}

func two[T int16 | uint16](name string, flip uint16) Coder[T] {
	return Coder[T]{
		Name: name,
		Append: func(dst []byte, v T) ([]byte, error) {
			return binary.BigEndian.AppendUint16(dst, uint16(v)^flip), nil
		},
		Read: func(b []byte) (T, error) {
			if err := wantBytes(name, b, 2); err != nil {
				return 0, err
			}
			return T(binary.BigEndian.Uint16(b) ^ flip), nil
		},
		Deterministic: true,
	}
}

func one[T int8 | uint8](name string, flip uint8) Coder[T] {
	return Coder[T]{
		Name:   name,
		Append: func(dst []byte, v T) ([]byte, error) { return append(dst, uint8(v)^flip), nil },
		Read: func(b []byte) (T, error) {
			if err := wantBytes(name, b, 1); err != nil {
				return 0, err
			}
			return T(b[0] ^ flip), nil
		},
		Deterministic: true,
	}
}

// float64s keeps the bits. Not deterministic: 0 and -0 are equal with different
// bytes, and a NaN is equal to nothing; so no float is a key (S-06).
func float64s() Coder[float64] {
	return Coder[float64]{
		Name: "float64",
		Append: func(dst []byte, v float64) ([]byte, error) {
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), nil
		},
		Read: func(b []byte) (float64, error) {
			if err := wantBytes("float64", b, 8); err != nil {
				return 0, err
			}
			return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
		},
	}
}

// float32s is [float64s] in half the bytes.
func float32s() Coder[float32] {
	return Coder[float32]{
		Name: "float32",
		Append: func(dst []byte, v float32) ([]byte, error) {
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(v)), nil
		},
		Read: func(b []byte) (float32, error) {
			if err := wantBytes("float32", b, 4); err != nil {
				return 0, err
			}
			return math.Float32frombits(binary.BigEndian.Uint32(b)), nil
		},
	}
}

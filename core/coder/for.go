package coder

import (
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"github.com/gosluice/sluice/core/window"
)

// For infers the coder of T; the package comment has the table. It uses reflection
// once, here; a basic type, or one named over it, is then coded without any, and
// without allocation.
//
// It fails where values could be changed or cut in silence, listing each reason
// with the field it is about: channels, functions, complex numbers, interfaces
// with methods, unexported fields, a type that writes its own JSON but does not
// read it. Such a type needs a coder of its own, or [JSON], which accepts the loss.
func For[T any]() (Coder[T], error) {
	t := reflect.TypeFor[T]()
	if c, ok := basic[T](t); ok {
		return c, nil
	}
	l, err := layoutOf(t)
	if err != nil {
		return Coder[T]{}, fmt.Errorf("coder: no coder for %v: %w", t, err)
	}
	return boxed[T](l), nil
}

// basic finds the coder of T, or of the basic type that T is named over. The cases
// are those of basicLayout.
func basic[T any](t reflect.Type) (c Coder[T], ok bool) {
	switch t {
	case timeType:
		return named[time.Time, T](wallTime()), true
	case windowType:
		return named[window.Window, T](windows()), true
	}
	switch basicKind(t) {
	case reflect.String:
		return named[string, T](String()), true
	case reflect.Slice:
		return named[[]byte, T](Bytes()), true
	case reflect.Bool:
		return named[bool, T](boolean()), true
	case reflect.Struct:
		return named[struct{}, T](empty()), true
	case reflect.Int:
		return named[int, T](ints()), true
	case reflect.Int64:
		return named[int64, T](Int64()), true
	case reflect.Int32:
		return named[int32, T](four[int32]("int32", signBit>>32)), true
	case reflect.Int16:
		return named[int16, T](two[int16]("int16", signBit>>48)), true
	case reflect.Int8:
		return named[int8, T](one[int8]("int8", signBit>>56)), true
	case reflect.Uint:
		return named[uint, T](wide[uint]("uint64", 0)), true
	case reflect.Uintptr:
		return named[uintptr, T](wide[uintptr]("uint64", 0)), true
	case reflect.Uint64:
		return named[uint64, T](wide[uint64]("uint64", 0)), true
	case reflect.Uint32:
		return named[uint32, T](four[uint32]("uint32", 0)), true
	case reflect.Uint16:
		return named[uint16, T](two[uint16]("uint16", 0)), true
	case reflect.Uint8:
		return named[uint8, T](one[uint8]("uint8", 0)), true
	case reflect.Float64:
		return named[float64, T](float64s()), true
	case reflect.Float32:
		return named[float32, T](float32s()), true
	}
	return c, false
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	windowType = reflect.TypeFor[window.Window]()
)

// basicKind is the kind of t, but Invalid for slices other than of bytes and for
// structs with fields, whose kind does not decide their coder.
func basicKind(t reflect.Type) reflect.Kind {
	switch k := t.Kind(); {
	case k == reflect.Slice && t.Elem().Kind() != reflect.Uint8,
		k == reflect.Struct && t.NumField() > 0:
		return reflect.Invalid
	default:
		return k
	}
}

// named makes the coder of B one of T, where T is B or a type named over it. Such
// types have the same memory layout, so a T is read as a B in place.
func named[B, T any](base Coder[B]) Coder[T] {
	if c, ok := any(base).(Coder[T]); ok {
		return c
	}
	return Coder[T]{
		Name: base.Name,
		Append: func(dst []byte, v T) ([]byte, error) {
			return base.Append(dst, *(*B)(unsafe.Pointer(&v)))
		},
		Read: func(b []byte) (T, error) {
			v, err := base.Read(b)
			return *(*T)(unsafe.Pointer(&v)), err
		},
		Deterministic: base.Deterministic,
	}
}

// boxed makes a layout a coder. The value moves to the heap, since a layout takes
// its address: one allocation a call.
func boxed[T any](l layout) Coder[T] {
	return Coder[T]{
		Name:   l.name,
		Append: func(dst []byte, v T) ([]byte, error) { return l.append(dst, unsafe.Pointer(&v)) },
		Read: func(b []byte) (v T, err error) {
			err = l.read(b, unsafe.Pointer(&v))
			return v, err
		},
		Deterministic: l.deterministic,
	}
}

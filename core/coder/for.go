package coder

import (
	"fmt"
	"reflect"
	"unsafe"
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
	if b, ok := basicOf(t); ok {
		return *(*Coder[T])(b.coder), nil // T is B or named over it: see basic
	}
	l, err := layoutOf(t)
	if err != nil {
		return Coder[T]{}, fmt.Errorf("coder: no coder for %v: %w", t, err)
	}
	return boxed[T](l), nil
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

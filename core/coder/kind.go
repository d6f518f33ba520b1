package coder

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/gosluice/sluice/core/window"
)

// basic is the coder of a basic type B, found by reflection.
//
// It serves T, named over B, unchanged: the two types have one memory layout, and
// a function that takes or returns a B does so in the same registers and stack
// slots as one of T. The language has no conversion for that, so For goes through
// the pointer. The other ways are to compile a wrapper of each B for each T, or to
// reflect on every value.
type basic struct {
	coder  unsafe.Pointer // to a Coder[B]
	layout layout
}

func basicFrom[B any](c Coder[B]) basic {
	return basic{coder: unsafe.Pointer(&c), layout: layoutFrom(c)}
}

// basicOf finds the coder of the basic type that t is, or is named over.
func basicOf(t reflect.Type) (b basic, ok bool) {
	switch t {
	case timeType:
		return basicFrom(wallTime()), true
	case windowType:
		return basicFrom(windows()), true
	}
	switch basicKind(t) {
	case reflect.String:
		return basicFrom(String()), true
	case reflect.Slice:
		return basicFrom(Bytes()), true
	case reflect.Bool:
		return basicFrom(boolean()), true
	case reflect.Struct:
		return basicFrom(empty()), true
	case reflect.Int:
		return basicFrom(ints()), true
	case reflect.Int64:
		return basicFrom(Int64()), true
	case reflect.Int32:
		return basicFrom(four[int32]("int32", signBit>>32)), true
	case reflect.Int16:
		return basicFrom(two[int16]("int16", signBit>>48)), true
	case reflect.Int8:
		return basicFrom(one[int8]("int8", signBit>>56)), true
	case reflect.Uint:
		return basicFrom(wide[uint]("uint64", 0)), true
	case reflect.Uintptr:
		return basicFrom(wide[uintptr]("uint64", 0)), true
	case reflect.Uint64:
		return basicFrom(wide[uint64]("uint64", 0)), true
	case reflect.Uint32:
		return basicFrom(four[uint32]("uint32", 0)), true
	case reflect.Uint16:
		return basicFrom(two[uint16]("uint16", 0)), true
	case reflect.Uint8:
		return basicFrom(one[uint8]("uint8", 0)), true
	case reflect.Float64:
		return basicFrom(float64s()), true
	case reflect.Float32:
		return basicFrom(float32s()), true
	}
	return b, false
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

package coder

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/gosluice/sluice/core/element"
)

// layout codes values of a type that is known only by reflection, such as the key
// of a KV inside [For]: it takes the address of a value instead of the value. p
// must point to a value of the layout's type.
type layout struct {
	name          string
	append        func(dst []byte, p unsafe.Pointer) ([]byte, error)
	read          func(b []byte, p unsafe.Pointer) error // sets *p
	deterministic bool
}

func layoutOf(t reflect.Type) (layout, error) {
	if l, ok := basicLayout(t); ok {
		return l, nil
	}
	switch {
	case isKV(t):
		return kvLayout(t)
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return byteArray(t), nil
	case t.Kind() == reflect.Pointer && t.Implements(messageType):
		return protoLayout(t)
	}
	seen := inspect(t)
	return jsonLayout(t, seen.deterministic), errors.Join(seen.problems...)
}

// basicLayout holds the cases of basic, once more: Go gives no way to go from the
// type that reflection found to a type parameter.
func basicLayout(t reflect.Type) (l layout, ok bool) {
	switch t {
	case timeType:
		return layoutFrom(wallTime()), true
	case windowType:
		return layoutFrom(windows()), true
	}
	switch basicKind(t) {
	case reflect.String:
		return layoutFrom(String()), true
	case reflect.Slice:
		return layoutFrom(Bytes()), true
	case reflect.Bool:
		return layoutFrom(boolean()), true
	case reflect.Struct:
		return layoutFrom(empty()), true
	case reflect.Int:
		return layoutFrom(ints()), true
	case reflect.Int64:
		return layoutFrom(Int64()), true
	case reflect.Int32:
		return layoutFrom(four[int32]("int32", signBit>>32)), true
	case reflect.Int16:
		return layoutFrom(two[int16]("int16", signBit>>48)), true
	case reflect.Int8:
		return layoutFrom(one[int8]("int8", signBit>>56)), true
	case reflect.Uint:
		return layoutFrom(wide[uint]("uint64", 0)), true
	case reflect.Uintptr:
		return layoutFrom(wide[uintptr]("uint64", 0)), true
	case reflect.Uint64:
		return layoutFrom(wide[uint64]("uint64", 0)), true
	case reflect.Uint32:
		return layoutFrom(four[uint32]("uint32", 0)), true
	case reflect.Uint16:
		return layoutFrom(two[uint16]("uint16", 0)), true
	case reflect.Uint8:
		return layoutFrom(one[uint8]("uint8", 0)), true
	case reflect.Float64:
		return layoutFrom(float64s()), true
	case reflect.Float32:
		return layoutFrom(float32s()), true
	}
	return l, false
}

func layoutFrom[B any](c Coder[B]) layout {
	return layout{
		name:   c.Name,
		append: func(dst []byte, p unsafe.Pointer) ([]byte, error) { return c.Append(dst, *(*B)(p)) },
		read: func(b []byte, p unsafe.Pointer) (err error) {
			*(*B)(p), err = c.Read(b)
			return err
		},
		deterministic: c.Deterministic,
	}
}

func byteArray(t reflect.Type) layout {
	name, n := fmt.Sprintf("[%d]byte", t.Len()), t.Len()
	return layout{
		name: name,
		append: func(dst []byte, p unsafe.Pointer) ([]byte, error) {
			return append(dst, unsafe.Slice((*byte)(p), n)...), nil
		},
		read: func(b []byte, p unsafe.Pointer) error {
			copy(unsafe.Slice((*byte)(p), n), b)
			return wantBytes(name, b, n)
		},
		deterministic: true,
	}
}

var kvType = reflect.TypeFor[element.KV[struct{}, struct{}]]()

func isKV(t reflect.Type) bool {
	return t.PkgPath() == kvType.PkgPath() && strings.HasPrefix(t.Name(), "KV[")
}

// kvLayout is [KV] by reflection: the same bytes.
func kvLayout(t reflect.Type) (layout, error) {
	key, keyErr := layoutOf(t.Field(0).Type)
	value, valueErr := layoutOf(t.Field(1).Type)
	if err := errors.Join(inPart("key", keyErr), inPart("value", valueErr)); err != nil {
		return layout{}, err
	}
	keyAt, valueAt, name := t.Field(0).Offset, t.Field(1).Offset, kvName(key.name, value.name)
	return layout{
		name: name,
		append: func(dst []byte, p unsafe.Pointer) ([]byte, error) {
			out, err := key.append(append(dst, 0), unsafe.Add(p, keyAt))
			if err != nil {
				return dst, err
			}
			out, err = value.append(closeSized(out, len(dst)), unsafe.Add(p, valueAt))
			if err != nil {
				return dst, err
			}
			return out, nil
		},
		read: func(b []byte, p unsafe.Pointer) error {
			k, v, err := ReadSized(b)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return errors.Join(key.read(k, unsafe.Add(p, keyAt)), value.read(v, unsafe.Add(p, valueAt)))
		},
		deterministic: key.deterministic && value.deterministic,
	}, nil
}

func inPart(part string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", part, err)
}

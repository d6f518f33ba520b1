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
	if b, ok := basicOf(t); ok {
		return b.layout, nil
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

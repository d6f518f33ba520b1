package coder

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"unsafe"

	"github.com/gosluice/sluice/core/fault"
)

// JSON codes T with encoding/json, under the name "json:" and the type's name, for
// instance "json:Order" or "json:[]Order"; so fields may be added, and a type may
// move to another package. A type that is renamed keeps its data if its coder keeps
// the old Name: set it.
//
// Unlike [For], which uses it for what has no other coder, it takes any T: what
// encoding/json leaves out, such as unexported fields, is lost. It is Deterministic
// where T holds no map, interface or float. A string that is not UTF-8 is an error
// of Append, since JSON would change it.
func JSON[T any]() Coder[T] {
	t := reflect.TypeFor[T]()
	return boxed[T](jsonLayout(t, inspect(t).deterministic))
}

func jsonLayout(t reflect.Type, deterministic bool) layout {
	name := "json:" + shape(t)
	return layout{
		name: name,
		append: func(dst []byte, p unsafe.Pointer) ([]byte, error) {
			return appendJSON(dst, name, reflect.NewAt(t, p).Interface())
		},
		read: func(b []byte, p unsafe.Pointer) error {
			if err := json.Unmarshal(b, reflect.NewAt(t, p).Interface()); err != nil {
				return malformed(name, "%v", err)
			}
			return nil
		},
		deterministic: deterministic,
	}
}

func appendJSON(dst []byte, name string, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err == nil && replacedText(b) {
		err = errors.New("a string is not UTF-8, JSON would change it")
	}
	if err != nil {
		return dst, fault.Errorf(fault.Permanent, "coder: %s: %w", name, err)
	}
	return append(dst, b...), nil
}

// replacedText says that encoding/json has put \ufffd where a string was not UTF-8.
// The real U+FFFD it writes unescaped, and a backslash in a string as two: so the
// escape is one after an even number of backslashes.
func replacedText(b []byte) bool {
	for {
		at := bytes.Index(b, []byte(`\ufffd`))
		if at < 0 {
			return false
		}
		before := b[:at]
		if slashes := len(before) - len(bytes.TrimRight(before, `\`)); slashes%2 == 0 {
			return true
		}
		b = b[at+2:]
	}
}

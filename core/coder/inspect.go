package coder

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
)

// inspection is what the types inside a type say about its JSON form.
type inspection struct {
	// deterministic: no map, interface or float inside.
	deterministic bool
	// problems are the reasons why a value might not come back as it was.
	problems []error

	seen map[visit]bool
}

// visit is one type as it was met. An opaque type is inside one that writes its own
// JSON: it counts for deterministic only.
type visit struct {
	t      reflect.Type
	opaque bool
}

func inspect(t reflect.Type) inspection {
	in := inspection{deterministic: true, seen: map[visit]bool{}}
	in.walk(visit{t: t}, "")
	return in
}

// walk looks at a type and what is inside it, each type once. path names the field.
func (in *inspection) walk(v visit, path string) {
	if in.seen[v] {
		return
	}
	in.seen[v] = true
	if !v.opaque && marshalsItself(v.t) {
		in.checkOwnJSON(v.t, path)
		v.opaque = true
	}
	switch v.t.Kind() {
	case reflect.Float32, reflect.Float64:
		in.deterministic = false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		in.walk(visit{v.t.Elem(), v.opaque}, path)
	case reflect.Map:
		in.mapType(v, path)
	case reflect.Struct:
		in.structType(v, path)
	case reflect.Interface:
		in.deterministic = false
		if v.t.NumMethod() > 0 {
			in.problem(v, path, "cannot be read back: JSON does not say what an interface with methods held")
		}
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		in.deterministic = false
		in.problem(v, path, "has no JSON form")
	}
}

func (in *inspection) mapType(v visit, path string) {
	in.deterministic = false
	key := v.t.Key()
	if k := key.Kind(); k != reflect.String && !isInteger(k) && !key.Implements(textMarshaler) {
		in.problem(v, path, "has keys that JSON cannot write")
	}
	in.walk(visit{key, v.opaque}, path)
	in.walk(visit{v.t.Elem(), v.opaque}, path)
}

func isInteger(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Uintptr }

func (in *inspection) structType(v visit, path string) {
	if reflect.PointerTo(v.t).Implements(messageType) {
		in.problem(v, path, "is a protobuf message: use a pointer to it, not inside another type")
		v.opaque = true
	}
	for f := range v.t.Fields() {
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		switch {
		case v.opaque:
			in.walk(visit{f.Type, true}, at)
		case f.Tag.Get("json") == "-" || f.Name == "_":
		case f.IsExported():
			in.walk(visit{t: f.Type}, at)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			in.walk(visit{t: f.Type}, path) // JSON takes its fields as v's
		default:
			in.problem(v, at, "is not exported: JSON would lose it")
		}
	}
}

var (
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// marshalsItself says that t, or a pointer to it, writes its own JSON or text.
func marshalsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler) || p.Implements(textMarshaler)
}

// checkOwnJSON wants the reading half, and that the form is not that of an embedded
// field, whose methods the struct has without being asked.
func (in *inspection) checkOwnJSON(t reflect.Type, path string) {
	p := reflect.PointerTo(t)
	if !p.Implements(jsonUnmarshaler) && (p.Implements(jsonMarshaler) || !p.Implements(textUnmarshaler)) {
		in.problem(visit{t: t}, path, "writes its own JSON but does not read it")
	}
	if t.Kind() != reflect.Struct || t.NumField() < 2 {
		return
	}
	for f := range t.Fields() {
		if f.Anonymous && marshalsItself(f.Type) {
			in.problem(visit{t: t}, path,
				fmt.Sprintf("embeds %v, whose JSON would stand for all its fields: give that field a name", f.Type))
		}
	}
}

func (in *inspection) problem(v visit, path, what string) {
	switch {
	case v.opaque:
	case path == "":
		in.problems = append(in.problems, fmt.Errorf("it %s", what))
	default:
		in.problems = append(in.problems, fmt.Errorf("field %s %s", path, what))
	}
}

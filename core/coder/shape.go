package coder

import (
	"fmt"
	"reflect"
	"strings"
)

// shape names t for a coder's Name: the type's own name without its package, or
// what it is made of where it has none. The fields of a struct are not part of it.
func shape(t reflect.Type) string {
	if isScalar(t.Kind()) && !marshalsItself(t) {
		return scalarName(t.Kind())
	}
	if t.Name() != "" {
		return withoutPackages(t.Name())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + shape(t.Elem())
	case reflect.Slice:
		return "[]" + shape(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), shape(t.Elem()))
	case reflect.Map:
		return "map[" + shape(t.Key()) + "]" + shape(t.Elem())
	}
	return t.Kind().String() // struct, interface, and what JSON cannot encode
}

func isScalar(k reflect.Kind) bool {
	return reflect.Bool <= k && k <= reflect.Float64 || k == reflect.String
}

// scalarName is the kind's name, one for all kinds of a word's size.
func scalarName(k reflect.Kind) string {
	switch k {
	case reflect.Int:
		return "int64"
	case reflect.Uint, reflect.Uintptr:
		return "uint64"
	}
	return k.String()
}

// withoutPackages drops the import paths inside a type's name, which its type
// arguments have: Pair[string,example.com/shop.Order] is Pair[string,Order].
func withoutPackages(name string) string {
	var out strings.Builder
	for name != "" {
		end := strings.IndexAny(name, "[],*(){}; ")
		if end < 0 {
			end = len(name)
		}
		word, next := name[:end], min(end+1, len(name))
		out.WriteString(word[strings.LastIndexAny(word, "./")+1:])
		out.WriteString(name[end:next])
		name = name[next:]
	}
	return out.String()
}

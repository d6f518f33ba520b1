package stateful

import "reflect"

// copies says that an assignment of a T shares nothing with it: there is no
// pointer, slice, map, interface, channel or function in it, and no field that a
// coder might pass over. What does not copy is kept encoded, so that what a read
// returned is the caller's own (S6).
func copies(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.String:
		return true
	case reflect.Array:
		return copies(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if !f.IsExported() || f.Tag.Get("json") == "-" || !copies(f.Type) {
				return false
			}
		}
		return true
	default:
		return reflect.Bool <= k && k <= reflect.Complex128
	}
}

// encodes says that every T has an encoding, so that there is nothing to check
// before the epoch's end. own: the coder is not one of coder.For.
func encodes(t reflect.Type, own bool) bool {
	switch k := t.Kind(); {
	case own:
		return false
	case k == reflect.Array:
		return t.Elem().Kind() == reflect.Uint8
	case k == reflect.Struct:
		return t.NumField() == 0
	default:
		return k == reflect.String || reflect.Bool <= k && k <= reflect.Float64
	}
}

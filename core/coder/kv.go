package coder

import "github.com/gosluice/sluice/core/element"

// KV composes the coder of a KV: the key, sized, then the value. Where K and V are
// known, prefer it to For[element.KV[K, V]], which writes the same bytes but
// allocates.
func KV[K, V any](key Coder[K], value Coder[V]) Coder[element.KV[K, V]] {
	return Coder[element.KV[K, V]]{
		Name: kvName(key.Name, value.Name),
		Append: func(dst []byte, v element.KV[K, V]) ([]byte, error) {
			out, err := key.AppendSized(dst, v.Key)
			if err != nil {
				return dst, err
			}
			if out, err = value.Append(out, v.Value); err != nil {
				return dst, err
			}
			return out, nil
		},
		Read: func(b []byte) (kv element.KV[K, V], err error) {
			if kv.Key, b, err = key.ReadSized(b); err != nil {
				return kv, err
			}
			kv.Value, err = value.Read(b)
			return kv, err
		},
		Deterministic: key.Deterministic && value.Deterministic,
	}
}

func kvName(key, value string) string { return "kv(" + key + "," + value + ")" }

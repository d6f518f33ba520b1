// Package coder answers the question "which bytes stand for a value?": keys
// before they are hashed, state cells, held rows and effects before they are
// stored. Its main noun is [Coder], a pair of functions on byte slices with a
// name.
//
// The life of a coder: [For] infers it from a type while the graph is built, and
// there reports what cannot be stored; it is composed ([KV], [Element]); its Name
// is stored beside what it wrote; the next run compares names before it reads.
//
// What [For] chooses, and the Name it gives:
//
//	[]byte, string, bool        "bytes", "string", "bool"
//	int8 … int64, uint8 …       "int8" … fixed width, big-endian, in the order of the
//	                            numbers; int is "int64", uint and uintptr are "uint64"
//	float32, float64            "float32", "float64"; not deterministic
//	time.Time                   "time": the instant, read back in UTC
//	window.Window               "window": 16 bytes, in the order of the windows
//	struct{}                    "empty": no bytes
//	[n]byte                     "[n]byte"
//	types named over the above  as the type below, so they may be renamed; not over
//	                            time.Time and window.Window
//	element.KV[K, V]            "kv(K,V)"
//	pointers to proto messages  "proto:" and the message's full name; not deterministic
//	all else                    "json:" and the type's name, see [JSON]
//
// Invariants:
//  1. Read of the bytes that Append added gives an equal value.
//  2. Read fails, and does not panic, on bytes that Append cannot have written
//     where it can tell; such an error is [ErrMalformed].
//  3. A Name stands for one encoding for ever: what it wrote can be read under it.
//  4. A type whose value would be changed or cut in silence gets no coder from For.
//
// Coders are values without state, safe for concurrent use. The package owns no
// goroutines and knows nothing of where bytes go.
package coder

import (
	"errors"
	"fmt"

	"github.com/gosluice/sluice/core/fault"
)

// Coder turns values of T into bytes and back. Its zero value is no coder.
type Coder[T any] struct {
	// Name identifies the encoding on disk. Another name for the state of the same
	// transform is an incompatible change of the pipeline, so it changes exactly
	// when the encoding does, and never with the machine or the build.
	Name string
	// Append adds the bytes of v to dst and returns it, as the built-in append
	// does. After an error it returns dst as it was given; the error is
	// fault.Permanent: v has no encoding.
	Append func(dst []byte, v T) ([]byte, error)
	// Read gets exactly the bytes that one Append added and must not keep b. Its
	// error is fault.Permanent and wraps [ErrMalformed].
	Read func(b []byte) (T, error)
	// Deterministic says that equal values have equal bytes, in every process and
	// with every version of Go: what a key needs, whose identity is its bytes (S2).
	Deterministic bool
}

// ErrMalformed is in the chain of every error of a Read in this package: the bytes
// are not what the coder writes.
var ErrMalformed = errors.New("malformed bytes")

// Validate lists what is missing in a coder; nil if nothing.
func (c Coder[T]) Validate() error {
	var problems []error
	missing := func(field string, is bool) {
		if is {
			problems = append(problems, fmt.Errorf("coder %q: %s is not set", c.Name, field))
		}
	}
	missing("Name", c.Name == "")
	missing("Append", c.Append == nil)
	missing("Read", c.Read == nil)
	return errors.Join(problems...)
}

// AppendSized adds the bytes of v, preceded by their length, so that something
// else may follow. It does not allocate where Append does not.
func (c Coder[T]) AppendSized(dst []byte, v T) ([]byte, error) {
	out, err := c.Append(append(dst, 0), v)
	if err != nil {
		return dst, err
	}
	return closeSized(out, len(dst)), nil
}

// ReadSized decodes what [Coder.AppendSized] added at the beginning of b and
// returns the rest of b.
func (c Coder[T]) ReadSized(b []byte) (v T, rest []byte, err error) {
	sized, rest, err := ReadSized(b)
	if err != nil {
		return v, nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	v, err = c.Read(sized)
	return v, rest, err
}

func malformed(name, format string, args ...any) error {
	return fault.Errorf(fault.Permanent, "coder: %s: %w: %s", name, ErrMalformed, fmt.Sprintf(format, args...))
}

// wantBytes refuses b unless it has n bytes.
func wantBytes(name string, b []byte, n int) error {
	if len(b) != n {
		return malformed(name, "%d bytes, want %d", len(b), n)
	}
	return nil
}

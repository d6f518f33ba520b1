package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
)

// Format appends the encoding of v to dst and returns it, as append does. It is
// called by several goroutines at once. An error (or a panic) fails v for good
// and leaves it out of the file; the others are written.
type Format[T any] func(dst []byte, v T) ([]byte, error)

// JSONLines writes each record as JSON on a line of its own.
func JSONLines[T any]() Format[T] {
	return func(dst []byte, v T) ([]byte, error) {
		line, err := json.Marshal(v)
		if err != nil {
			return dst, err
		}
		return append(append(dst, line...), '\n'), nil
	}
}

// Lines writes each record as it is, with a newline after it. A record that
// contains a newline fails: it would come back as two.
func Lines[T ~string | ~[]byte]() Format[T] {
	return func(dst []byte, v T) ([]byte, error) {
		start := len(dst)
		dst = append(dst, v...)
		if bytes.IndexByte(dst[start:], '\n') >= 0 {
			return dst, errors.New("the record contains a newline")
		}
		return append(dst, '\n'), nil
	}
}

// appendTo calls the format on v and turns its panic into an error.
func (f Format[T]) appendTo(dst []byte, v T) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = dst, fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f(dst, v)
}

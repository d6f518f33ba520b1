package engine

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic of user code with its stack.
type PanicError struct {
	Value any
	Stack []byte
}

func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

func newPanic(v any) error {
	if err, ok := v.(bundleError); ok {
		return err
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}

// Recovered turns a recovered value into an error; nil stays nil.
func Recovered(v any) error {
	if v == nil {
		return nil
	}
	return newPanic(v)
}

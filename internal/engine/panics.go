package engine

import (
	"errors"
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

// careful remembers the stages whose code has panicked.
type careful map[*Stage]bool

// note adds the stage of t if err is a panic.
func (c careful) note(t *Task, err error) {
	var p *PanicError
	if errors.As(err, &p) {
		c[t.Stage] = true
		t.region.log.Error("panic: the epoch is abandoned and done again with a recover around every call", "stage", t.Stage.Name, "panic", p.Value, "stack", string(p.Stack))
	}
}

// Careful says that the stage's code has panicked before.
func (t *Task) Careful() bool { return t.region.careful[t.Stage] }

// Package fault classifies errors, so that the engine can decide by class what
// happens next without knowing any connector. Classify where the cause is known
// (the connector, the sink, the user's DoFn); decide in one place.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Class says what an error means for the work that met it.
type Class uint8

// The classes. An error that nobody classified is Transient.
const (
	// Transient: nothing happened, the same call may work. Retried with backoff.
	Transient Class = iota
	// Permanent: this element can never succeed. It becomes a failed result, a
	// dead letter or a quarantine entry, and work goes on.
	Permanent
	// Ambiguous: the call may have been applied. Retried only under an idempotent
	// ID; otherwise the bundle is abandoned.
	Ambiguous
	// Lost: the lease or partition belongs to someone else. The work is dropped
	// and nothing is settled.
	Lost
	// Closed: we are stopping. Unwind quietly.
	Closed
	// Bug: an invariant is broken.
	Bug
)

// String names the class in lower case.
func (c Class) String() string {
	switch c {
	case Transient:
		return "transient"
	case Permanent:
		return "permanent"
	case Ambiguous:
		return "ambiguous"
	case Lost:
		return "lost"
	case Closed:
		return "closed"
	case Bug:
		return "bug"
	}
	return fmt.Sprintf("class(%d)", uint8(c))
}

// Error carries a class with its cause.
type Error struct {
	Class Class
	Err   error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// As wraps err with class c; nil stays nil.
func As(c Class, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Class: c, Err: err}
}

// Errorf formats an error of class c; %w works as in fmt.Errorf.
func Errorf(c Class, format string, args ...any) error {
	return &Error{Class: c, Err: fmt.Errorf(format, args...)}
}

// Of returns the class of err: that of the outermost *Error in its chain;
// Closed for a cancelled context; Transient for all else.
func Of(err error) Class {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Class
	case errors.Is(err, context.Canceled):
		return Closed
	}
	return Transient
}

package core

import (
	"fmt"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// Out takes what a DoFn emits. Nothing leaves it until the DoFn returns nil; what
// a failing call emitted is forgotten.
type Out[T any] struct {
	pending []element.Element[T]
	// at is where the input element stands; ok false outside ProcessElement.
	at element.Element[struct{}]
	ok bool
	// err is the first emission that was refused.
	err error
}

// Emit sends v on with the input element's time and window.
func (o *Out[T]) Emit(v T) {
	if !o.ok {
		o.refuse(fmt.Errorf("no element to take the time from: Emit outside ProcessElement; use EmitIn"))
		return
	}
	if o.at.Time >= event.Max {
		//lint:ignore ST1005 the words of rule T19
		o.refuse(fmt.Errorf("Cannot output with timestamp: the timer was set without an output timestamp (T19)"))
		return
	}
	o.pending = append(o.pending, place(&o.at, v))
}

// EmitAt sends v on with event time t, which must not be before the input
// element's (T20), in the input element's window.
func (o *Out[T]) EmitAt(t event.Time, v T) {
	switch {
	case !o.ok:
		o.refuse(fmt.Errorf("no element to take the window from: EmitAt outside ProcessElement; use EmitIn"))
	case t < o.at.Time || t >= event.Max:
		//lint:ignore ST1005 the words of rule T20
		o.refuse(fmt.Errorf("Cannot output with timestamp %v: it must be at least the input's %v and before MAX", t, o.at.Time))
	default:
		e := place(&o.at, v)
		e.Time = t
		o.pending = append(o.pending, e)
	}
}

// EmitIn sends v on with event time t in window w: from FinishBundle, at a time no
// earlier than that of an element of the bundle.
func (o *Out[T]) EmitIn(w window.Window, t event.Time, v T) {
	o.pending = append(o.pending, element.Element[T]{Value: v, Time: t, Window: w, Pane: event.NoFiring})
}

func (o *Out[T]) refuse(err error) {
	if o.err == nil {
		o.err = err
	}
}

// Begin prepares for the outputs of one element at the place of e: for the
// packages of this module.
func (o *Out[T]) Begin(at element.Element[struct{}], ok bool) {
	o.pending, o.at, o.ok, o.err = o.pending[:0], at, ok, nil
}

// Flush hands the outputs to next: for the packages of this module.
func (o *Out[T]) Flush(next Receiver[T]) {
	for i := range o.pending {
		next(&o.pending[i])
	}
	clear(o.pending)
	o.pending = o.pending[:0]
}

// Err is the first emission that was refused.
func (o *Out[T]) Err() error { return o.err }

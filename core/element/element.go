// Package element holds the values that travel through a pipeline: [Element],
// [KV] and the delivery reference [Ref]. It is a leaf, so that the engine, the
// public packages and connectors share one type; users write core.Element.
package element

import (
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// Ref ties an element to the delivery that it stands for: channel index in
// the top 16 bits, position in the rest. Zero: it stands for no delivery.
type Ref uint64

// Element is one value with its event time, window and pane.
//
// A transform that is given a *Element may read it until it returns and must
// not keep the pointer: the engine reuses one element per transform and worker.
type Element[T any] struct {
	Value  T
	Time   event.Time
	Window window.Window
	Pane   event.Pane
	// Ref is the delivery this element stands for; transforms that map one
	// element to another keep it, aggregations drop it.
	Ref Ref
}

// KV is a value with its key.
type KV[K, V any] struct {
	Key   K
	Value V
}

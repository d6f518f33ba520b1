package sinks

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
)

// The defaults of an in-bundle sink.
const (
	recordsDefault  = 1000
	attemptsDefault = 10
)

// bundleHead is one worker of an in-bundle sink: batches live within a bundle and
// are written one at a time, in order.
type bundleHead[T, R any] struct {
	engine.BaseHead
	t       *engine.Task
	name    string
	writer  Writer[T, R]
	cfg     Config[T]
	written core.Receiver[R]
	failed  core.Receiver[core.Failed[T]]

	open    []*bundleBatch[T]
	queued  []*bundleBatch[T] // full, in order; the first is being written
	writing bool
	last    element.Ref
	ordinal uint32
}

type bundleBatch[T any] struct {
	destination string
	window      window.Window
	records     []Record[T]
	attempt     int
	retryAt     time.Time
	low         event.Time
}

func newBundleHead[T, R any](t *engine.Task, name string, w Writer[T, R], cfg Config[T], written core.Receiver[R], failed core.Receiver[core.Failed[T]]) *bundleHead[T, R] {
	if cfg.Records == 0 {
		cfg.Records = recordsDefault
	}
	if cfg.Attempts == 0 {
		cfg.Attempts = attemptsDefault
	}
	return &bundleHead[T, R]{t: t, name: name, writer: w, cfg: cfg, written: written, failed: failed}
}

// Data adds records to their batches.
func (h *bundleHead[T, R]) Data(_ int, batch engine.Batch) error {
	items := batch.(*engine.Elements[T]).Items
	for i := range items {
		e := &items[i]
		b := h.batchOf(e)
		b.records = append(b.records, Record[T]{ID: h.identify(e.Ref, len(b.records)), Value: e.Value, Time: e.Time})
		b.low = min(b.low, e.Time)
		if len(b.records) >= h.cfg.Records {
			h.queue(b)
		}
	}
	h.t.HoldInput(len(h.queued) > 1)
	return nil
}

// identify names a record: outputs of one delivery follow one another in every
// replay, so their number is the same.
func (h *bundleHead[T, R]) identify(ref element.Ref, n int) RecordID {
	if ref == 0 {
		return RecordID{Ordinal: uint32(n)}
	}
	if ref == h.last {
		h.ordinal++
	} else {
		h.last, h.ordinal = ref, 0
	}
	return RecordID{Source: h.t.Origin(ref), Ref: ref, Ordinal: h.ordinal}
}

func (h *bundleHead[T, R]) batchOf(e *element.Element[T]) *bundleBatch[T] {
	destination := h.cfg.destination(e.Value)
	for _, b := range h.open {
		if b.window == e.Window && b.destination == destination {
			return b
		}
	}
	b := &bundleBatch[T]{destination: destination, window: e.Window, low: event.Max}
	h.open = append(h.open, b)
	return b
}

func (h *bundleHead[T, R]) queue(b *bundleBatch[T]) {
	for i, o := range h.open {
		if o == b {
			h.open = append(h.open[:i], h.open[i+1:]...)
			break
		}
	}
	h.queued = append(h.queued, b)
}

// Work writes the first queued batch.
func (h *bundleHead[T, R]) Work(now time.Time) (bool, error) {
	if h.writing || len(h.queued) == 0 {
		return false, nil
	}
	b := h.queued[0]
	if b.retryAt.After(now) {
		h.t.WakeAt(b.retryAt)
		return false, nil
	}
	h.writing = true
	batch := b.contents()
	h.t.Call(engine.CallWrite, h.name+": write", func(ctx context.Context) (any, error) {
		return h.writer.Write(ctx, batch)
	}, func(v any, err error) {
		outcome, _ := v.(Outcome[R])
		h.wrote(b, outcome, err)
	}, nil)
	return false, nil
}

func (b *bundleBatch[T]) contents() Batch[T] {
	records := b.records
	return Batch[T]{
		Destination: b.destination, Window: b.window, Len: len(records),
		All: func(yield func(Record[T], error) bool) {
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
		},
	}
}

// wrote takes the outcome of one write.
func (h *bundleHead[T, R]) wrote(b *bundleBatch[T], o Outcome[R], err error) {
	h.writing = false
	switch fault.Of(err) {
	case fault.Permanent:
		h.failAll(b, err)
	default:
		if err != nil {
			h.again(b, err)
			return
		}
		h.emit(b, o)
	}
	h.t.Healthy("write")
	h.queued = h.queued[1:]
	h.t.HoldInput(len(h.queued) > 1)
}

// again retries b in place, or gives the bundle up: the replay has the same IDs.
func (h *bundleHead[T, R]) again(b *bundleBatch[T], err error) {
	b.attempt++
	if b.attempt >= h.cfg.Attempts {
		h.t.Fail(fmt.Errorf("%s: write failed %d times: %w", h.name, b.attempt, err))
	}
	h.t.Degraded("write", err)
	b.retryAt = h.t.Now().Add(retryDelay(b.attempt))
	h.t.WakeAt(b.retryAt)
}

func (h *bundleHead[T, R]) emit(b *bundleBatch[T], o Outcome[R]) {
	at := b.window.Max()
	if b.window == window.GlobalWindow {
		at = b.low
		for _, r := range b.records {
			at = max(at, r.Time)
		}
	}
	for _, r := range o.Results {
		e := element.Element[R]{Value: r, Time: at, Window: b.window, Pane: event.NoFiring}
		h.written(&e)
	}
	if len(o.Failed) == 0 {
		return
	}
	reasons := map[RecordID]error{}
	for _, f := range o.Failed {
		reasons[f.ID] = f.Err
	}
	for _, r := range b.records {
		if reason, bad := reasons[r.ID]; bad {
			h.fail(b, r, reason)
		}
	}
}

func (h *bundleHead[T, R]) failAll(b *bundleBatch[T], err error) {
	for _, r := range b.records {
		h.fail(b, r, err)
	}
}

func (h *bundleHead[T, R]) fail(b *bundleBatch[T], r Record[T], err error) {
	f := element.Element[core.Failed[T]]{
		Value: core.Failed[T]{Value: r.Value, Transform: h.name, Reason: err.Error(), Attempts: b.attempt + 1},
		Time:  r.Time, Window: b.window, Pane: event.NoFiring, Ref: r.ID.Ref,
	}
	h.failed(&f)
}

// Hold keeps the output behind the records that are not written.
func (h *bundleHead[T, R]) Hold() event.Time {
	hold := event.Max
	for _, b := range h.open {
		hold = min(hold, b.low)
	}
	for _, b := range h.queued {
		hold = min(hold, b.low)
	}
	return hold
}

// Close writes what is left; the bundle ends when all of it is confirmed.
func (h *bundleHead[T, R]) Close() (bool, error) {
	h.queued = append(h.queued, h.open...)
	h.open = nil
	h.last = 0
	if _, err := h.Work(h.t.Now()); err != nil {
		return false, err
	}
	return len(h.queued) == 0, nil
}

// Idle: everything is written.
func (h *bundleHead[T, R]) Idle() bool { return len(h.open)+len(h.queued) == 0 }

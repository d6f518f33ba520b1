package sinks

import (
	"errors"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
)

// errStopped ends a read whose reader has seen enough.
var errStopped = errors.New("stopped")

// effectHead is one worker of an after-commit sink.
type effectHead[T, R any] struct {
	engine.BaseHead
	t      *engine.Task
	name   string
	shared *staging[T, R]
	coder  coder.Coder[element.Element[T]]
	cfg    Config[T]
	// eachBundle: every batch closes with its bundle.
	eachBundle bool
	written    core.Receiver[R]
	failed     core.Receiver[core.Failed[T]]

	rows    *engine.HeldRows
	effects *store.Delta
	// live batches in the order they were opened; gather finds the open one.
	live   []*gathering
	gather map[gatherKey]*gathering
	low    event.Time
	hold   event.Time
	// opened and closed number batches within the epoch; end is the earliest end of
	// an open batch's window.
	opened, closed uint32
	numbered       uint64
	end            event.Time
	calls          int
	tokens         []Token
}

type gatherKey struct {
	window      window.Window
	destination string
}

func newEffectHead[T, R any](t *engine.Task, name string, shared *staging[T, R], c coder.Coder[element.Element[T]], cfg Config[T], eachBundle bool, written core.Receiver[R], failed core.Receiver[core.Failed[T]]) *effectHead[T, R] {
	return &effectHead[T, R]{
		t: t, name: name, shared: shared, coder: c, cfg: cfg, eachBundle: eachBundle,
		written: written, failed: failed, rows: engine.NewHeldRows(t),
		effects: store.NewDelta(t.Space(store.Effect)), gather: map[gatherKey]*gathering{},
		low: event.Min, hold: event.Max, end: event.Max,
	}
}

// Data adds records to their batches.
func (h *effectHead[T, R]) Data(_ int, batch engine.Batch) error {
	items := batch.(*engine.Elements[T]).Items
	for i := range items {
		e := &items[i]
		b := h.batchOf(e)
		e.Ref = 0 // settled with this epoch; the batch lives longer
		value, err := h.coder.Append(nil, *e)
		if err != nil {
			h.fail(e, err.Error(), 1)
			continue
		}
		b.fresh = append(b.fresh, value)
		b.note(e.Time, len(value))
		h.hold = min(h.hold, e.Time)
		if h.cfg.Records > 0 && b.records >= h.cfg.Records || h.cfg.Bytes > 0 && b.bytes >= h.cfg.Bytes {
			h.close(b)
		}
	}
	return nil
}

func (h *effectHead[T, R]) batchOf(e *element.Element[T]) *gathering {
	key := gatherKey{e.Window, h.cfg.destination(e.Value)}
	if b := h.gather[key]; b != nil {
		return b
	}
	h.renumber()
	b := &gathering{
		destination: key.destination, window: key.window, low: event.Max, high: event.Min, since: h.t.Now(), home: h.rows.Own(),
		prefix: newPrefix(key.window, h.t.Epoch(), h.opened*uint32(h.t.Stage.Workers)+uint32(h.t.Index), key.destination),
	}
	h.opened++
	h.gather[key] = b
	h.live = append(h.live, b)
	h.end = min(h.end, b.window.Max())
	return b
}

// renumber restarts the numbers of batches with each epoch.
func (h *effectHead[T, R]) renumber() {
	if e := h.t.Epoch(); e != h.numbered {
		h.numbered, h.opened, h.closed = e, 0, 0
	}
}

// close has b staged; what comes for its window and destination opens another.
func (h *effectHead[T, R]) close(b *gathering) {
	b.phase = due
	delete(h.gather, gatherKey{b.window, b.destination})
}

// Watermark closes the batches whose windows have ended.
func (h *effectHead[T, R]) Watermark(_ int, wm event.Time) error {
	h.low = wm
	if wm > h.end {
		h.closeWhere(func(b *gathering) bool { return wm > b.window.Max() })
	}
	return nil
}

func (h *effectHead[T, R]) closeWhere(ended func(*gathering) bool) {
	h.end = event.Max
	for _, b := range h.live {
		switch {
		case b.phase != open:
		case ended(b):
			h.close(b)
		default:
			h.end = min(h.end, b.window.Max())
		}
	}
}

// Work stages what is due and closes what has become old.
func (h *effectHead[T, R]) Work(now time.Time) (bool, error) {
	for _, b := range h.live {
		if b.phase == open {
			h.age(b, now)
		}
		if b.phase != due {
			continue
		}
		if b.retryAt.After(now) {
			h.t.WakeAt(b.retryAt)
			continue
		}
		h.stage(b)
	}
	return false, nil
}

// age closes b if it is old.
func (h *effectHead[T, R]) age(b *gathering, now time.Time) {
	if h.cfg.Age == 0 {
		return
	}
	if at := b.since.Add(h.cfg.Age); at.After(now) {
		h.t.WakeAt(at)
		return
	}
	h.close(b)
}

// relax finds the earliest record whose fate is open.
func (h *effectHead[T, R]) relax() {
	h.hold = event.Max
	h.t.Keeps(len(h.live))
	for _, b := range h.live {
		h.hold = min(h.hold, b.low)
	}
}

// Hold keeps the output behind every record whose fate is open (W15).
func (h *effectHead[T, R]) Hold() event.Time { return h.hold }

// Close ends the bundle: batches of windows that have ended already gather no
// longer than a bundle. A sink that publishes with each bundle stages first.
func (h *effectHead[T, R]) Close() (bool, error) {
	if !h.eachBundle {
		if h.cfg.Age == 0 {
			h.closeWhere(func(b *gathering) bool { return h.low > b.window.Max() })
		}
		return true, nil
	}
	h.closeWhere(func(*gathering) bool { return true })
	if _, err := h.Work(h.t.Now()); err != nil {
		return false, err
	}
	for _, b := range h.live {
		if b.phase == due || b.phase == staging_ {
			return false, nil
		}
	}
	return true, nil
}

// Snapshot writes the records gathered in this epoch.
func (h *effectHead[T, R]) Snapshot(epoch uint64) []*store.Delta {
	for _, b := range h.live {
		for _, value := range b.fresh {
			h.rows.Put(b.home, b.prefix, epoch, value)
		}
		b.committing, b.fresh = append(b.committing, b.fresh...), nil
	}
	if tokens := h.tokens; len(tokens) > 0 {
		h.tokens = nil
		h.t.AtCommit(func() { h.shared.forget(h.t.Index, tokens) })
	}
	deltas := h.rows.Take()
	if h.effects.Len() > 0 {
		deltas = append(deltas, h.effects)
		h.effects = store.NewDelta(h.effects.Space)
	}
	return deltas
}

// Committed lets records of the committed epoch leave memory.
func (h *effectHead[T, R]) Committed(uint64) {
	for _, b := range h.live {
		b.stored += len(b.committing)
		b.committing = nil
	}
}

// Idle: no batch is on its way.
func (h *effectHead[T, R]) Idle() bool { return len(h.live) == 0 }

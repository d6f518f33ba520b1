package stateful

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// parDoHead is one worker of a [ParDo].
type parDoHead[K, V, O any] struct {
	engine.BaseHead
	parDo[K, V, O]
	t     *engine.Task
	name  string
	decl  *Decl[K, V, O]
	scope *scope
	fn    DoFn[K, V, O]
	panes panes[entry]
	// entry is that of the element being processed, attempt the call for it.
	entry   *entry
	attempt func(*element.Element[element.KV[K, V]]) error
	rows    rows
	low     event.Time
	// bundleLow is the earliest element of the bundle, where FinishBundle may still
	// emit at its time.
	bundleLow event.Time
	warned    bool
}

func newParDoHead[K, V, O any](p parDo[K, V, O], t *engine.Task, name string) *parDoHead[K, V, O] {
	ctx := &callContext[K]{Context: p.guard.Context(), scope: &scope{}}
	h := &parDoHead[K, V, O]{
		parDo: p, t: t, name: name, decl: newDecl[K, V, O](ctx), scope: ctx.scope,
		panes: newPanes[entry](), low: event.Min, bundleLow: event.Max,
	}
	h.rows.delta = store.NewDelta(t.Space(store.State))
	h.fn = p.declare(h.decl)
	h.decl.over = true
	h.attempt = h.process
	h.bundles()
	return h
}

// bundles has the task tell of the bundle's start and end.
func (h *parDoHead[K, V, O]) bundles() {
	ctx := h.guard.Context()
	if start := h.fn.StartBundle; start != nil {
		h.t.OnStart(func() error { return start(ctx) })
	}
	finish := h.fn.FinishBundle
	if finish == nil {
		return
	}
	h.t.OnFinish(func() error {
		h.decl.out.Begin(element.Element[struct{}]{}, false)
		if err := finish(ctx, h.decl.out); err != nil {
			return err
		}
		if err := h.decl.out.Err(); err != nil {
			return fault.As(fault.Permanent, err)
		}
		h.decl.out.Flush(h.next)
		h.bundleLow = event.Max
		return nil
	})
}

// Data processes elements, each with the state of its key and window.
func (h *parDoHead[K, V, O]) Data(_ int, b engine.Batch) error {
	batch := b.(*engine.Elements[element.KV[K, V]])
	for i := range batch.Items {
		key, group := batch.Key(i)
		h.take(&batch.Items[i], key, group)
	}
	return nil
}

// take processes one element, whose encoded key is key.
func (h *parDoHead[K, V, O]) take(e *element.Element[element.KV[K, V]], key []byte, g store.Group) {
	if h.strategy.Expired(e.Window, h.low) {
		h.t.CountDroppedLate(1)
		return
	}
	p := h.panes.of(e.Window, false)
	h.entry = p.byKey[string(key)]
	isNew := h.entry == nil
	if isNew {
		h.entry = h.enter(p, key, g)
	}
	if h.fn.FinishBundle != nil {
		h.bundleLow = min(h.bundleLow, e.Time)
	}
	kept := h.guard.Run(e, h.attempt)
	leave := isNew && !(kept && h.touched())
	if kept {
		h.keep()
	} else {
		h.scope.undo()
	}
	if leave { // nothing of it is kept
		h.leave(h.entry)
	}
}

// process is one attempt at an element.
func (h *parDoHead[K, V, O]) process(e *element.Element[element.KV[K, V]]) error {
	at := stand(h.entry, e.Time)
	at.Pane, at.Ref = e.Pane, e.Ref
	h.begin(h.entry, e.Value.Key, at, anElement)
	if err := h.fn.Process(h.decl.ctx, e, h.decl.out); err != nil {
		return err
	}
	return h.check()
}

// begin shows x to the cells; what the call emits stands at at.
func (h *parDoHead[K, V, O]) begin(x *entry, key K, at element.Element[struct{}], from caller) {
	h.scope.begin(x, moment{
		watermark: h.low, at: at.Time, from: from,
		expiry: x.pane.window.Expiry(h.strategy.AllowedLateness),
	})
	h.decl.ctx.key = key
	h.decl.out.Begin(at, true)
}

// check is why the call cannot be kept though it returned no error.
func (h *parDoHead[K, V, O]) check() error {
	if err := h.decl.out.Err(); err != nil {
		return fault.As(fault.Permanent, err)
	}
	return h.scope.check()
}

// touched says that the call leaves something that its entry is kept for.
func (h *parDoHead[K, V, O]) touched() bool {
	return len(h.scope.touched) > 0 || h.fn.OnWindowExpiration != nil
}

// keep makes what the call did count and sends what it emitted.
func (h *parDoHead[K, V, O]) keep() {
	if x := h.scope.entry; h.fn.OnWindowExpiration != nil && !x.seen.stored {
		h.scope.soil(&x.seen)
	}
	h.decl.ctx.keep()
	h.decl.out.Flush(h.next)
}

// Watermark notes how far the input has come; Work does what follows from it.
func (h *parDoHead[K, V, O]) Watermark(_ int, wm event.Time) error {
	h.low = wm
	h.t.Keeps(len(h.panes.all))
	return nil
}

// Hold keeps the output behind timers, windows whose expiration is to be told, and
// what FinishBundle may emit (T18, X15, H10).
func (h *parDoHead[K, V, O]) Hold() event.Time {
	hold := min(h.decl.timers.hold(), h.bundleLow)
	if h.fn.OnWindowExpiration != nil {
		hold = min(hold, h.panes.hold())
	}
	return hold
}

// Work fires timers and ends windows, the earliest first.
func (h *parDoHead[K, V, O]) Work(time.Time) (more bool, err error) {
	for budget := sentAtOnce; ; budget-- {
		x, p := h.decl.timers.first(), h.expired()
		switch {
		case x != nil && x.at < h.low && (p == nil || x.at <= h.expiry(p)):
			if budget == 0 {
				return true, nil
			}
			h.t.Touch()
			err = h.fire(x)
		case p != nil:
			if budget == 0 {
				return true, nil
			}
			h.t.Touch()
			err = h.expire(p)
		default:
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// fire calls back for x, which is not set any more by then (T9).
func (h *parDoHead[K, V, O]) fire(x *timer) error {
	fired := x.timerState
	h.decl.timers.change(x, timerState{})
	h.scope.soil(x)
	key, err := h.keys.Read([]byte(x.entry.encoded))
	if err != nil {
		return err
	}
	h.begin(x.entry, key, stand(x.entry, fired.output), aTimer)
	h.decl.ctx.timer, h.decl.ctx.fired = x, fired
	if err = x.cell.fire(); err == nil {
		err = h.check()
	}
	if err != nil {
		return fmt.Errorf("%s: timer %q at %v: %w", h.name, x.cell.name, fired.at, err)
	}
	h.keep()
	h.warn()
	return nil
}

// warn tells once that timers were kept from setting themselves for ever.
func (h *parDoHead[K, V, O]) warn() {
	if h.decl.timers.stopped > 0 && !h.warned {
		h.warned = true
		h.decl.ctx.Logger().Warn("a timer sets itself again and again though the watermark is past its window: it is stopped",
			"sets", againMax)
	}
}

var _ engine.Head = (*parDoHead[struct{}, core.Message, struct{}])(nil)

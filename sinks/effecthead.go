package sinks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
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

// Open finds what is pending and what was gathered, and cleans up after earlier
// runs and abandoned epochs.
func (h *effectHead[T, R]) Open() error {
	err := h.shared.recover(h.t.Context(), h.pendingTokens)
	if err != nil {
		return fmt.Errorf("recover what was staged before: %w", err)
	}
	for _, token := range h.shared.abandoned(h.t.Index) {
		h.discard(token)
	}
	published := map[string]*gathering{}
	if err := h.t.Load(store.Effect, func(r store.Row) error { return h.adopt(r, published) }); err != nil {
		return err
	}
	err = h.rows.Load(func(prefix, value []byte) error { return h.regain(prefix, value, published) })
	h.relax()
	return err
}

// discard removes what an abandoned epoch staged.
func (h *effectHead[T, R]) discard(token Token) {
	h.t.Call(engine.CallStage, h.name+": discard", func(ctx context.Context) (any, error) {
		return nil, h.shared.stager.Discard(ctx, token)
	}, func(_ any, err error) {
		if err != nil { // it stays until the next start cleans up
			h.t.Logger().Warn("what was staged could not be removed", "sink", h.name, "error", err)
		}
	}, nil)
}

func (h *effectHead[T, R]) pendingTokens() (tokens []Token, err error) {
	err = h.t.LoadAll(h.t.Space(store.Effect), func(r store.Row) error {
		row, err := decodeEffect(r.Key, r.Value)
		if err == nil {
			tokens = append(tokens, row.token)
		}
		return err
	})
	return tokens, err
}

// adopt takes over a pending effect.
func (h *effectHead[T, R]) adopt(r store.Row, published map[string]*gathering) error {
	row, err := decodeEffect(r.Key, r.Value)
	if err != nil {
		return err
	}
	row.group = r.Group
	b, err := parsePrefix(row.prefix)
	if err != nil {
		return err
	}
	b.phase, b.low, b.high, b.records = pending, row.low, row.high, row.records
	published[string(b.prefix)] = b
	h.live = append(h.live, b)
	h.t.Adopt(h.effect(b, row))
	return nil
}

// regain counts a held row: of a pending batch, or of one that is open again.
func (h *effectHead[T, R]) regain(prefix, value []byte, published map[string]*gathering) error {
	b := published[string(prefix)]
	if b == nil {
		var err error
		if b, err = parsePrefix(prefix); err != nil {
			return err
		}
		b.since = h.t.Now()
		published[string(prefix)] = b
		h.live = append(h.live, b)
		h.gather[gatherKey{b.window, b.destination}] = b
		h.end = min(h.end, b.window.Max())
	}
	b.stored++
	if b.phase == open {
		e, err := h.coder.Read(value)
		if err != nil {
			return err
		}
		b.note(e.Time, len(value))
	}
	return nil
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
		destination: key.destination, window: key.window, low: event.Max, high: event.Min, since: h.t.Now(),
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

// stage prepares b elsewhere.
func (h *effectHead[T, R]) stage(b *gathering) {
	b.phase = staging_
	h.calls++
	batch := contents(b, h.rows, h.coder)
	stager := h.shared.stager
	h.t.Call(engine.CallStage, h.name+": stage", func(ctx context.Context) (any, error) {
		return stager.Stage(ctx, batch)
	}, func(v any, err error) {
		h.calls--
		h.staged(b, v, err)
	}, func(v any, err error) {
		if s, ok := v.(Staged); ok && err == nil && s.Token != nil {
			_ = stager.Discard(context.Background(), s.Token) // left over: Recover removes it at the next start otherwise
		}
	})
}

// staged takes the outcome of staging b: an effect of the epoch being filled.
func (h *effectHead[T, R]) staged(b *gathering, v any, err error) {
	h.t.Touch()
	if err != nil {
		h.stageFailed(b, err)
		return
	}
	h.t.Healthy("stage " + b.destination)
	s := v.(Staged)
	h.renumber()
	row := &effectRow{
		epoch: h.t.Epoch(), batch: h.closed*uint32(h.t.Stage.Workers) + uint32(h.t.Index),
		prefix: b.prefix, low: b.low, high: b.high, records: b.records, token: s.Token,
	}
	h.closed++
	for _, f := range s.Failed {
		row.failed = append(row.failed, failedOrdinal{f.ID.Ordinal, f.Err.Error()})
	}
	b.phase = pending
	h.shared.add(h.t.Index, s.Token)
	h.tokens = append(h.tokens, s.Token)
	row.group, _ = h.t.Groups()
	h.effects.Put(row.group, row.key(), row.encode())
	h.t.Start(h.effect(b, row))
	h.t.AskClose(true)
}

func (h *effectHead[T, R]) stageFailed(b *gathering, err error) {
	if fault.Of(err) == fault.Permanent {
		h.failAll(b, err)
		h.finish(b, nil)
		return
	}
	h.t.Degraded("stage "+b.destination, err)
	b.phase = due
	b.attempt++
	b.retryAt = h.t.Now().Add(retryDelay(b.attempt))
	h.t.WakeAt(b.retryAt)
}

// effect is the publishing of b under the ID that its row fixes.
func (h *effectHead[T, R]) effect(b *gathering, row *effectRow) engine.Effect {
	id := EffectID{Store: h.t.StoreID(), Transform: h.name, Epoch: row.epoch, Batch: row.batch}
	stager := h.shared.stager
	return engine.Effect{
		Key: string(row.key()),
		Run: func(ctx context.Context) (any, error) { return stager.Publish(ctx, id, row.token) },
		Done: func(v any, err error) {
			outcome, _ := v.(Outcome[R])
			h.published(b, row, outcome, err)
		},
	}
}

// published emits the results of b and forgets it.
func (h *effectHead[T, R]) published(b *gathering, row *effectRow, o Outcome[R], err error) {
	if err != nil {
		h.failAll(b, err)
	} else {
		h.emit(b, o.Results)
		h.failSome(b, row, o.Failed)
	}
	h.finish(b, row)
	h.t.AskClose(true)
}

func (h *effectHead[T, R]) emit(b *gathering, results []R) {
	for _, r := range results {
		e := element.Element[R]{Value: r, Time: b.resultTime(), Window: b.window, Pane: event.NoFiring}
		h.written(&e)
	}
}

// failSome emits the records that were not staged or not published.
func (h *effectHead[T, R]) failSome(b *gathering, row *effectRow, late []FailedRecord) {
	reasons := map[uint32]string{}
	for _, f := range row.failed {
		reasons[f.ordinal] = f.reason
	}
	for _, f := range late {
		reasons[f.ID.Ordinal] = f.Err.Error()
	}
	if len(reasons) == 0 {
		return
	}
	h.eachRecord(b, func(r Record[T]) {
		if reason, bad := reasons[r.ID.Ordinal]; bad {
			h.failRecord(b, r, reason)
		}
	})
}

func (h *effectHead[T, R]) failAll(b *gathering, err error) {
	h.eachRecord(b, func(r Record[T]) { h.failRecord(b, r, err.Error()) })
}

func (h *effectHead[T, R]) eachRecord(b *gathering, f func(Record[T])) {
	for r, err := range contents(b, h.rows, h.coder).All {
		if err != nil {
			h.t.Fail(fmt.Errorf("%s: read back a failed batch: %w", h.name, err))
		}
		f(r)
	}
}

func (h *effectHead[T, R]) failRecord(b *gathering, r Record[T], reason string) {
	e := element.Element[T]{Value: r.Value, Time: r.Time, Window: b.window, Pane: event.NoFiring}
	h.fail(&e, reason, b.attempt+1)
}

func (h *effectHead[T, R]) fail(e *element.Element[T], reason string, attempts int) {
	f := element.Element[core.Failed[T]]{
		Value: core.Failed[T]{Value: e.Value, Transform: h.name, Reason: reason, Attempts: attempts},
		Time:  e.Time, Window: e.Window, Pane: e.Pane,
	}
	h.failed(&f)
}

// finish removes b and its rows with the epoch.
func (h *effectHead[T, R]) finish(b *gathering, row *effectRow) {
	h.rows.DeleteAll(b.prefix)
	if row != nil {
		key := row.key()
		h.effects.Delete(row.group, key)
		h.t.Forget(string(key))
	}
	for i, o := range h.live {
		if o == b {
			h.live = append(h.live[:i], h.live[i+1:]...)
			break
		}
	}
	b.fresh, b.committing = nil, nil
	h.relax()
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
			h.rows.Put(b.prefix, epoch, value)
		}
		b.committing, b.fresh = append(b.committing, b.fresh...), nil
	}
	if tokens := h.tokens; len(tokens) > 0 {
		h.tokens = nil
		h.t.AtCommit(func() { h.shared.commit(h.t.Index, tokens) })
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

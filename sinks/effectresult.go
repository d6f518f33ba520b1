package sinks

import (
	"fmt"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
)

// published emits the results of b and forgets it.
func (h *effectHead[T, R]) published(b *gathering, row *effectRow, o Outcome[R], err error) {
	if err != nil {
		h.failAll(b, err)
		h.discard(row.token)
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

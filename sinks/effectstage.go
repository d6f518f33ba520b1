package sinks

import (
	"context"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/internal/engine"
)

// stage prepares b elsewhere.
func (h *effectHead[T, R]) stage(b *gathering) {
	b.phase = staging_
	h.calls++
	batch := contents(b, h.rows, h.coder)
	shared, worker := h.shared, h.t.Index
	h.t.Call(engine.CallStage, h.name+": stage", func(ctx context.Context) (any, error) {
		s, err := shared.stager.Stage(ctx, batch)
		if err == nil {
			shared.add(worker, s.Token)
		}
		return s, err
	}, func(v any, err error) {
		h.calls--
		h.staged(b, v, err)
	}, func(v any, err error) {
		if s, ok := v.(Staged); ok && err == nil {
			shared.forget(worker, []Token{s.Token})
			_ = shared.stager.Discard(context.Background(), s.Token) // left over: Recover removes it at the next start otherwise
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
	h.tokens = append(h.tokens, s.Token)
	row.group = b.home
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

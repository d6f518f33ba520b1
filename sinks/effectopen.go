package sinks

import (
	"context"
	"fmt"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

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
	err = h.rows.Load(func(home store.Group, prefix, value []byte) error { return h.regain(home, prefix, value, published) })
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
	b.home, b.phase, b.low, b.high, b.records = r.Group, pending, row.low, row.high, row.records
	published[string(b.prefix)] = b
	h.live = append(h.live, b)
	h.t.Adopt(h.effect(b, row))
	return nil
}

// regain counts a held row: of a pending batch, or of one that is open again.
func (h *effectHead[T, R]) regain(home store.Group, prefix, value []byte, published map[string]*gathering) error {
	b := published[string(prefix)]
	if b == nil {
		var err error
		if b, err = parsePrefix(prefix); err != nil {
			return err
		}
		b.home, b.since = home, h.t.Now()
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

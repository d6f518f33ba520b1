package memory

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gosluice/sluice/core/store"
)

// handle is an open store. It is open as long as its DB says so.
type handle struct{ db *DB }

// ID implements [store.Store].
func (h *handle) ID() string { return h.db.id }

// Commit implements [store.Store]. It does not block.
func (h *handle) Commit(ctx context.Context, c *store.Commit) error {
	if err := h.commit(ctx, c); err != nil {
		return fmt.Errorf("memory: commit: %w", err)
	}
	return nil
}

func (h *handle) commit(ctx context.Context, c *store.Commit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := h.locked(func() error { return c.Check(h.db.mu.epochs[c.Region]) }); err != nil {
		return err
	}
	if err := ask(h.db.BeforeApply, c); err != nil {
		return err
	}
	if err := h.locked(func() error { return h.db.applyLocked(c) }); err != nil {
		return err
	}
	if err := ask(h.db.AfterApply, c); err != nil {
		return err
	}
	return h.locked(func() error { return nil }) // a hook may have crashed the process
}

// ask calls a hook that may be nil.
func ask(hook func(*store.Commit) error, c *store.Commit) error {
	if hook == nil {
		return nil
	}
	return hook(c)
}

// locked runs fn under the DB's lock if h is still open.
func (h *handle) locked(fn func() error) error {
	h.db.mu.Lock()
	defer h.db.mu.Unlock()
	if h.db.mu.open != h {
		return store.ErrClosed
	}
	return fn()
}

// applyLocked checks c once more, since another commit may have come between,
// and makes all its changes.
func (d *DB) applyLocked(c *store.Commit) error {
	if err := c.Check(d.mu.epochs[c.Region]); err != nil {
		return err
	}
	for _, delta := range c.Deltas {
		s := d.mu.spaces[delta.Space]
		if s == nil {
			s = new(space)
			d.mu.spaces[delta.Space] = s
		}
		for r := range delta.Records() {
			s[r.Group].apply(r, d.mu.gen)
		}
	}
	d.mu.epochs[c.Region] = c.Epoch
	return nil
}

// Epoch implements [store.Store].
func (h *handle) Epoch(region store.RegionID) (epoch uint64, err error) {
	err = h.locked(func() error { epoch = h.db.mu.epochs[region]; return nil })
	return epoch, named("epoch", err)
}

// Manifest implements [store.Store].
func (h *handle) Manifest() (m []byte, err error) {
	err = h.locked(func() error { m = bytes.Clone(h.db.mu.manifest); return nil })
	return m, named("manifest", err)
}

// SetManifest implements [store.Store].
func (h *handle) SetManifest(m []byte) error {
	return named("set manifest", h.locked(func() error {
		h.db.mu.manifest = append([]byte{}, m...)
		return nil
	}))
}

// Close implements [store.Store]. A scan that is running ends with its state.
func (h *handle) Close() error {
	return named("close", h.locked(func() error { h.db.mu.open = nil; return nil }))
}

func named(call string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("memory: %s: %w", call, err)
}

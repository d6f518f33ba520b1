package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/gosluice/sluice/core/store"
	"pgregory.net/rapid"
)

// testModel draws sequences of calls, with reopenings and crashes between, and
// compares the store with the model after each.
func testModel(t *testing.T, h Harness) {
	if h.Short {
		t.Skip("short")
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := &place{failer: rt, t: t, h: h, o: h.New(t)}
		p.open()
		defer p.close()
		m := newModel()
		actions := map[string]func(*rapid.T){
			"commit":   func(rt *rapid.T) { drawCommit(rt, p, m) },
			"refused":  func(rt *rapid.T) { drawRefused(rt, p, m) },
			"scan":     func(rt *rapid.T) { drawScan(rt, p, m) },
			"manifest": func(rt *rapid.T) { drawManifest(rt, p, m) },
			"reopen":   func(*rapid.T) { p.reopen(); m.expect(p) },
		}
		if h.Crash != nil {
			actions["crash"] = func(*rapid.T) { p.crash(); m.expect(p) }
		}
		rt.Repeat(actions)
		m.expect(p)
		p.reopen()
		m.expect(p)
	})
}

// The places that drawn records hit: few, so that they meet.
var (
	drawnKeys   = rapid.SampledFrom([]string{"", "\x00", "a", "a\x00", "ab", "b", "b\xff", "c", "\xff", "\xff\xff"})
	drawnGroups = rapid.SampledFrom([]store.Group{0, 1, 127, 128, 254, 255})
	drawnSpaces = rapid.Custom(func(t *rapid.T) store.Space {
		return store.Space{
			Region:    store.RegionID(rapid.IntRange(1, 2).Draw(t, "region")),
			Kind:      rapid.SampledFrom([]store.Kind{store.State, store.Held}).Draw(t, "kind"),
			Transform: store.TransformID(rapid.IntRange(1, 2).Draw(t, "transform")),
		}
	})
)

// drawCommit commits what two workers, each with half of the groups, changed in
// up to three spaces.
func drawCommit(t *rapid.T, p *place, m *model) {
	region := store.RegionID(rapid.IntRange(1, 2).Draw(t, "committing"))
	c := &store.Commit{Region: region, Epoch: m.epochs[region] + 1}
	for _, s := range rapid.SliceOfNDistinct(drawnSpaces, 0, 3, rapid.ID).Draw(t, "spaces") {
		workers := [2]*store.Delta{store.NewDelta(s), store.NewDelta(s)}
		for range rapid.IntRange(0, 12).Draw(t, "records") {
			g := drawnGroups.Draw(t, "group")
			drawRecord(t, workers[g/128], g)
		}
		c.Deltas = append(c.Deltas, workers[:]...)
	}
	if err := p.Commit(context.Background(), c); err != nil {
		t.Fatalf("commit: %v", err)
	}
	m.commit(c)
}

func drawRecord(t *rapid.T, d *store.Delta, g store.Group) {
	key := []byte(drawnKeys.Draw(t, "key"))
	value := []byte(rapid.SampledFrom([]string{"", "1", "22", "333"}).Draw(t, "value"))
	switch rapid.IntRange(0, 9).Draw(t, "op") {
	case 0, 1, 2, 3:
		d.Put(g, key, value)
	case 4, 5:
		d.Delete(g, key)
	case 6, 7, 8:
		d.Merge(g, key, value)
	case 9:
		d.DeleteRange(g, key, []byte(drawnKeys.Draw(t, "below")))
	}
}

// drawRefused: a commit out of order changes nothing.
func drawRefused(t *rapid.T, p *place, m *model) {
	region := store.RegionID(rapid.IntRange(1, 2).Draw(t, "committing"))
	epoch := rapid.Uint64Range(0, m.epochs[region]+3).Filter(func(e uint64) bool { return e != m.epochs[region]+1 }).Draw(t, "epoch")
	d := store.NewDelta(drawnSpaces.Draw(t, "space"))
	d.DeleteRange(0, nil, nil)
	d.Put(1, b("a"), b("refused"))
	err := p.Commit(context.Background(), &store.Commit{Region: region, Epoch: epoch, Deltas: []*store.Delta{d}})
	if !errors.Is(err, store.ErrEpoch) {
		t.Fatalf("epoch %d after %d: %v", epoch, m.epochs[region], err)
	}
}

func drawScan(t *rapid.T, p *place, m *model) {
	r := store.Range{
		Space: drawnSpaces.Draw(t, "space"),
		First: drawnGroups.Draw(t, "first"), Last: drawnGroups.Draw(t, "last"),
		From: []byte(drawnKeys.Draw(t, "from")), Below: []byte(drawnKeys.Draw(t, "below")),
	}
	p.expect(r, m.show(r)...)
}

func drawManifest(t *rapid.T, p *place, m *model) {
	m.manifest = rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "manifest")
	if err := p.SetManifest(m.manifest); err != nil {
		t.Fatalf("set manifest: %v", err)
	}
}

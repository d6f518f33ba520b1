package files

import (
	"testing"
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
)

func TestWindowName(t *testing.T) {
	for want, w := range map[string]window.Window{
		"global":                            window.GlobalWindow,
		"20260102T150400Z-20260102T150500Z": minute,
		"19700101T000000.000001Z-19700101T000000.5Z": {Start: 1, End: 500_000},
		"19691231T235959Z-19700101T000000Z":          {Start: -1_000_000, End: 0},
		"MIN-MAX":                                    {Start: event.Min, End: event.Max},
	} {
		got := WindowName(w)
		if got != want {
			t.Errorf("%v: %q, want %q", w, got, want)
		}
		if err := checkPath(got); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	}
}

// Two effects never share a default name, whatever differs between them.
func TestDefaultNameIsUnique(t *testing.T) {
	base := NameInfo{Destination: "west", Window: minute, Effect: effect}
	infos := []NameInfo{base}
	for _, change := range []func(*NameInfo){
		func(n *NameInfo) { n.Destination = "east" },
		func(n *NameInfo) { n.Window.End++ },
		func(n *NameInfo) { n.Effect.Store = "store-b" },
		func(n *NameInfo) { n.Effect.Transform = "late-file" },
		func(n *NameInfo) { n.Effect.Epoch++ },
		func(n *NameInfo) { n.Effect.Batch++ },
	} {
		n := base
		change(&n)
		infos = append(infos, n)
	}
	seen := map[string]NameInfo{}
	for _, n := range infos {
		name := DefaultName(n)
		if other, ok := seen[name]; ok {
			t.Errorf("%q names %+v and %+v", name, n, other)
		}
		seen[name] = n
	}
}

// A fresh state directory counts epochs from the start and must not meet the
// files of the one before.
func TestFreshStateWritesBesideOldFiles(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	for _, store := range []string{"first", "second"} {
		id := sinks.EffectID{Store: store, Transform: "files", Epoch: 1}
		mustPublish(t, w, id, mustStage(t, w, batchOf("west", "run "+store)))
	}
	if got := filesBelow(t, dir); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestOwnNames(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, Config[string]{Dir: dir, Name: func(n NameInfo) string {
		return n.Window.Start.Time().Format(time.DateOnly) + "/" + n.Tag()
	}})
	f := mustPublish(t, w, effect, mustStage(t, w, batchOf("west", "a")))
	if want := "2026-01-02/" + (NameInfo{Effect: effect}).Tag() + ".jsonl"; f.Name != want {
		t.Errorf("%q, want %q", f.Name, want)
	}
}

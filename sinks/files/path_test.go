package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gosluice/sluice/core/fault"
)

var badDestinations = []string{
	"..", ".", "../x", "a/../b", "a/..", "/etc", "/", "a/", "a//b", "a\x00b", "a\nb", `a\b`, `..\x`,
	".sluice-tmp", ".sluice-tmp/x", ".SLUICE-TMP/x", ".hidden", "a/.b", "\u200c.sluice-tmp", "a\u202eb", "\xff",
	strings.Repeat("x", 256), strings.Repeat("x", 240), strings.Repeat("ab/", 400) + "c",
}

func TestBadDestinationFailsTheBatch(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	for _, d := range badDestinations {
		_, err := w.Stage(t.Context(), batchOf(d, "a"))
		if fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), "destination") {
			t.Errorf("%q: %v", d, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
}

func TestGoodDestinations(t *testing.T) {
	for _, d := range []string{"", "west", "late/west", "a.b", "a..b", "müll", "a b", "tenant:1", strings.Repeat("x", 150), "a/b/c/d"} {
		dir := t.TempDir()
		w := linesWriter(t, dir)
		f := mustPublish(t, w, effect, mustStage(t, w, batchOf(d, "a")))
		if _, err := os.Stat(filepath.Join(dir, f.Name)); err != nil {
			t.Errorf("%q: %v", d, err)
		}
	}
}

func TestBadNameFailsTheBatchBeforeTheCommit(t *testing.T) {
	for _, name := range []string{"", "../x", "/x", ".x", strings.Repeat("x", 255)} {
		w := newWriter(t, Config[string]{Dir: t.TempDir(), Name: func(NameInfo) string { return name }})
		if _, err := w.Stage(t.Context(), batchOf("west", "a")); fault.Of(err) != fault.Permanent {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzDestination: whatever a destination says, nothing appears outside Dir.
func FuzzDestination(f *testing.F) {
	for _, d := range badDestinations {
		f.Add(d)
	}
	f.Add("late/west")
	f.Fuzz(func(t *testing.T, d string) {
		around := t.TempDir()
		dir := filepath.Join(around, "in", "out")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, Config[string]{Dir: dir, NoSync: true})
		s, err := w.Stage(t.Context(), batchOf(d, "a"))
		if err != nil {
			if fault.Of(err) != fault.Permanent {
				t.Fatalf("%q: %v", d, err)
			}
			return
		}
		file := mustPublish(t, w, effect, s.Token)
		got := filesBelow(t, around)
		if len(got) != 1 || got[0] != "in/out/"+file.Name || strings.HasPrefix(file.Name, ".") {
			t.Fatalf("%q: %v", d, got)
		}
	})
}

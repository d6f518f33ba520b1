package files

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gosluice/sluice/sinks"
)

func TestRecoverKeepsWhatIsPending(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	pending := mustStage(t, w, batchOf("", "pending"))
	want := filesBelow(t, dir)
	mustStage(t, w, batchOf("", "left over"))
	foreign := tempDir + "/" + w.folder.owner + "-notes.txt" // no Stage makes such a name
	if err := os.WriteFile(filepath.Join(dir, foreign), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	if err := linesWriter(t, dir).Recover(t.Context(), []sinks.Token{pending}); err != nil {
		t.Fatal(err)
	}
	want = append(want, foreign)
	slices.Sort(want)
	if got := filesBelow(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	mustPublish(t, w, effect, pending)
}

// Two writers share a folder; one recovers and must not take the other's files.
func TestRecoverKeepsOtherOwners(t *testing.T) {
	dir := t.TempDir()
	other := newWriter(t, Config[string]{Dir: dir, Owner: "other"})
	tok := mustStage(t, other, batchOf("", "pending"))
	typed := newWriter(t, Config[int]{Dir: dir}) // the default Owner is the type
	tokTyped := mustStage(t, typed, batchOf("", 1))

	if err := newWriter(t, Config[string]{Dir: dir}).Recover(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	mustPublish(t, other, effect, tok)
	id := effect
	id.Transform = "typed"
	mustPublish(t, typed, id, tokTyped)
}

func TestRecoverOfTheFirstRun(t *testing.T) {
	dir := t.TempDir()
	if err := linesWriter(t, dir).Recover(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("made %v", entries)
	}
}

func TestDiscard(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	tok := mustStage(t, w, batchOf("", "a"))
	for range 2 { // unknown by now is success
		if err := w.Discard(t.Context(), tok); err != nil {
			t.Error(err)
		}
	}
	if got := filesBelow(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

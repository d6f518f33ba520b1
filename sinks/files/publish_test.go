package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// K-03 (the sink's part), G86: a file that is named as a result exists at that
// moment, complete, for anyone who opens it.
func TestResultNamesAVisibleFile(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	tok := mustStage(t, w, batchOf("orders/west", "a", "b", "c", "d", "e", "f"))
	if got := filesBelow(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], tempDir) {
		t.Fatalf("before Publish: %v", got)
	}
	f := mustPublish(t, w, effect, tok)
	if got := readBack(t, dir, f); !slices.Equal(got, []string{"a", "b", "c", "d", "e", "f"}) {
		t.Errorf("read back %q", got)
	}
	want := File{
		Name:        "orders/west-20260102T150400Z-20260102T150500Z-e00000042-b003-" + NameInfo{Effect: effect}.Tag() + ".txt",
		Destination: "orders/west", Window: minute, Records: 6, Bytes: 12,
		Checksum: "c6b39a37aa42bdd454f15806269ca1d0d417cd4823ec7a3db809908d6214f4dc",
	}
	if f != want {
		t.Errorf("got %+v\nwant %+v", f, want)
	}
	if got := filesBelow(t, dir); !slices.Equal(got, []string{f.Name}) {
		t.Errorf("after Publish: %v", got)
	}
}

func TestPublishAgain(t *testing.T) {
	dir := t.TempDir()
	tok := mustStage(t, linesWriter(t, dir), batchOf("west", "a"))
	first := mustPublish(t, linesWriter(t, dir), effect, tok)
	if again := mustPublish(t, linesWriter(t, dir), effect, tok); again != first {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if got := filesBelow(t, dir); len(got) != 1 {
		t.Errorf("files %v", got)
	}
}

// TestPublishAtOnce repeats one effect from many goroutines and two writers.
func TestPublishAtOnce(t *testing.T) {
	dir := t.TempDir()
	writers := []*Writer[string]{linesWriter(t, dir), linesWriter(t, dir)}
	for round := range 50 {
		id := effect
		id.Batch = uint32(round)
		tok := mustStage(t, writers[0], batchOf("late/west", "a", "b"))
		files := make([]File, 8)
		var wg sync.WaitGroup
		for i := range files {
			wg.Go(func() {
				out, err := writers[i%2].Publish(t.Context(), id, tok)
				if err != nil || len(out.Results) != 1 {
					t.Errorf("round %d: %+v, %v", round, out, err)
					return
				}
				files[i] = out.Results[0]
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		if len(slices.Compact(files)) != 1 {
			t.Fatalf("round %d: different results %v", round, files)
		}
	}
	if got := filesBelow(t, dir); len(got) != 50 {
		t.Errorf("%d files, want 50", len(got))
	}
}

func TestNameTakenByOtherContent(t *testing.T) {
	for _, other := range []string{"", "b\n", "a\na\n"} {
		dir := t.TempDir()
		w := linesWriter(t, dir)
		tok := mustStage(t, w, batchOf("", "a"))
		name, err := w.fileName(NameInfo{Window: minute, Effect: effect})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = w.Publish(t.Context(), effect, tok)
		if fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), path) {
			t.Errorf("over %q: %v", other, err)
		}
		if got, _ := os.ReadFile(path); string(got) != other {
			t.Errorf("the file that was there holds %q now", got)
		}
	}
}

// TestNameTakenByAnother: a folder or a link in the way is never followed.
func TestNameTakenByAnother(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, put := range map[string]func(string) error{
		"folder": func(p string) error { return os.Mkdir(p, 0o755) },
		"link":   func(p string) error { return os.Symlink(outside, p) },
	} {
		dir := t.TempDir()
		w := linesWriter(t, dir)
		tok := mustStage(t, w, batchOf("", "a"))
		name, _ := w.fileName(NameInfo{Window: minute, Effect: effect})
		if err := put(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Publish(t.Context(), effect, tok); fault.Of(err) != fault.Permanent {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestFolderLinksOutside: a destination folder that is a link out of Dir is an
// error, not a way out.
func TestFolderLinksOutside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "late")); err != nil {
		t.Fatal(err)
	}
	w := linesWriter(t, dir)
	_, err := w.Publish(t.Context(), effect, mustStage(t, w, batchOf("late/west", "a")))
	transientAt(t, err, "late", "escapes")
	if got := filesBelow(t, outside); len(got) > 0 {
		t.Errorf("written outside: %v", got)
	}
}

func TestLostFile(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	tok := mustStage(t, w, batchOf("west", "a", "b"))
	if err := w.Discard(t.Context(), tok); err != nil {
		t.Fatal(err)
	}
	_, err := w.Publish(t.Context(), effect, tok)
	if fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), "2 records are lost") || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

func TestDamagedTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	w := linesWriter(t, dir)
	tok := mustStage(t, w, batchOf("west", "a", "b"))
	if err := os.Truncate(filepath.Join(dir, filesBelow(t, dir)[0]), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Publish(t.Context(), effect, tok); fault.Of(err) != fault.Permanent {
		t.Errorf("%v", err)
	}
	if got := filesBelow(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], tempDir) {
		t.Errorf("visible: %v", got)
	}
}

func TestPublishRefusesBadTokens(t *testing.T) {
	w := linesWriter(t, t.TempDir())
	good := mustStage(t, w, batchOf("west", "a"))
	newer := slices.Clone(good)
	newer[0]++
	for _, tok := range []sinks.Token{nil, {}, newer, good[:len(good)-1], append(slices.Clone(good), 0)} {
		if _, err := w.Publish(t.Context(), effect, tok); fault.Of(err) != fault.Permanent {
			t.Errorf("Publish %x: %v", tok, err)
		}
		if err := w.Discard(t.Context(), tok); fault.Of(err) != fault.Permanent {
			t.Errorf("Discard %x: %v", tok, err)
		}
		if err := w.Recover(t.Context(), []sinks.Token{tok}); fault.Of(err) != fault.Permanent {
			t.Errorf("Recover %x: %v", tok, err)
		}
	}
	mustPublish(t, w, effect, good)
}

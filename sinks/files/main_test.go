package files

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var minute = window.Window{
	Start: event.At(time.Date(2026, 1, 2, 15, 4, 0, 0, time.UTC)),
	End:   event.At(time.Date(2026, 1, 2, 15, 5, 0, 0, time.UTC)),
}

var effect = sinks.EffectID{Store: "store-a", Transform: "orders-file", Epoch: 42, Batch: 3}

// batchOf makes a batch of the minute.
func batchOf[T any](destination string, values ...T) sinks.Batch[T] {
	return sinks.Batch[T]{
		Destination: destination, Window: minute, Len: len(values), All: recordsOf(values),
	}
}

func recordsOf[T any](values []T) iter.Seq2[sinks.Record[T], error] {
	return func(yield func(sinks.Record[T], error) bool) {
		for i, v := range values {
			if !yield(sinks.Record[T]{ID: sinks.RecordID{Ordinal: uint32(i)}, Value: v, Time: minute.Start}, nil) {
				return
			}
		}
	}
}

// linesWriter writes strings as lines below dir.
func linesWriter(t testing.TB, dir string) *Writer[string] {
	t.Helper()
	return newWriter(t, Config[string]{Dir: dir, Format: Lines[string](), Suffix: ".txt"})
}

func newWriter[T any](t testing.TB, c Config[T]) *Writer[T] {
	t.Helper()
	w, err := NewWriter(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// mustStage stages b and expects no failed record.
func mustStage[T any](t testing.TB, w *Writer[T], b sinks.Batch[T]) sinks.Token {
	t.Helper()
	s, err := w.Stage(t.Context(), b)
	if err != nil || len(s.Failed) > 0 {
		t.Fatalf("Stage: %v, failed %v", err, s.Failed)
	}
	return s.Token
}

// mustPublish publishes and returns the one file.
func mustPublish[T any](t testing.TB, w *Writer[T], id sinks.EffectID, tok sinks.Token) File {
	t.Helper()
	out, err := w.Publish(t.Context(), id, tok)
	if err != nil || len(out.Results) != 1 || len(out.Failed) > 0 {
		t.Fatalf("Publish: %+v, %v", out, err)
	}
	return out.Results[0]
}

// readBack returns a file's lines.
func readBack(t testing.TB, dir string, f File) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, f.Name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// filesBelow lists the regular files below dir, sorted.
func filesBelow(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// numbered returns n different lines.
func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("order %06d", i)
	}
	return lines
}

package pebble_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gosluice/sluice/core/store"
)

// silent is for tests that provoke what would be logged.
var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

func open(t testing.TB, o store.Opener) store.Store {
	t.Helper()
	s, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// counted is a commit that puts the row "epoch" and one row of its own.
func counted(epoch uint64) *store.Commit {
	d := store.NewDelta(cells)
	d.Put(0, []byte("epoch"), fmt.Append(nil, epoch))
	d.Put(store.Group(epoch), fmt.Appendf(nil, "row-%04d", epoch), nil)
	return &store.Commit{Region: 1, Epoch: epoch, Deltas: []*store.Delta{d}}
}

func commit(t testing.TB, s store.Store, epoch uint64) {
	t.Helper()
	if err := s.Commit(context.Background(), counted(epoch)); err != nil {
		t.Fatal(err)
	}
}

// checkCounted compares what s holds with the commits 1 to its epoch, which is
// returned.
func checkCounted(t testing.TB, s store.Store) uint64 {
	t.Helper()
	epoch, err := s.Epoch(1)
	if err != nil {
		t.Fatal(err)
	}
	rows, last := uint64(0), ""
	if err := s.Scan(cells.All(), func(r store.Row) bool {
		if string(r.Key) == "epoch" {
			last = string(r.Value)
		} else {
			rows++
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if rows != epoch || epoch > 0 && last != fmt.Sprint(epoch) {
		t.Fatalf("epoch %d with %d rows of the epoch %q", epoch, rows, last)
	}
	return epoch
}

// contents is what a directory holds, by name, for comparison.
func contents(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %d %x\n", path, len(data), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

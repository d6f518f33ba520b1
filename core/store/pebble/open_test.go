package pebble_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/pebble"
)

// made returns a directory with rows in tables, entries in the log and a manifest.
func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	for round := range uint64(3) {
		s := open(t, pebble.Dir(path))
		for e := range uint64(5) {
			commit(t, s, round*5+e+1)
		}
		checkCounted(t, s)
		commit2 := counted(round + 1)
		commit2.Region = 2
		commit2.Deltas[0].Space.Transform = 7
		if err := s.Commit(t.Context(), commit2); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
	}
	return path
}

// one returns the only, or last, file of the directory that matches.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in %s: %v", pattern, dir, err)
	}
	return names[len(names)-1]
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// edit rewrites the file that matches pattern.
func edit(pattern string, fn func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := one(t, dir, pattern)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, fn(bytes.Clone(data)))
	}
}

func remove(pattern string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		one(t, dir, pattern)
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func cut(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }
func flip(at func(n int) int) func([]byte) []byte {
	return func(b []byte) []byte { b[at(len(b))] ^= 0x10; return b }
}

var refusals = []struct {
	name   string
	damage func(t *testing.T, dir string)
	want   error
	says   string
}{
	{"marker empty", edit("SLUICE", cut(0)), store.ErrDamaged, "SLUICE"},
	{"marker cut", edit("SLUICE", cut(40)), store.ErrDamaged, "SLUICE"},
	{"marker cut in its sum", edit("SLUICE", func(b []byte) []byte { return b[:len(b)-3] }), store.ErrDamaged, "SLUICE"},
	{"marker changed", edit("SLUICE", flip(func(int) int { return 45 })), store.ErrDamaged, "SLUICE"},
	{"marker lengthened", edit("SLUICE", func(b []byte) []byte { return append(b, "more\n"...) }), store.ErrDamaged, "SLUICE"},
	{"marker missing", remove("SLUICE"), store.ErrDamaged, "SLUICE is missing"},
	{"marker of another directory", func(t *testing.T, dir string) {
		data, err := os.ReadFile(filepath.Join(made(t), "SLUICE"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "SLUICE"), data)
	}, store.ErrDamaged, "has the id"},
	{"marker of a newer format", func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "SLUICE"), pebble.MarkerOfFormat(2))
	}, store.ErrVersion, "format 2"},
	{"engine format newer", func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "marker.format-version.000099.999"), nil)
	}, store.ErrVersion, "999"},
	{"engine format missing", remove("marker.format-version.*"), store.ErrDamaged, "marker.format-version"},
	{"manifest marker missing", remove("marker.manifest.*"), store.ErrDamaged, "marker.manifest"},
	{"manifest missing", remove("MANIFEST-*"), store.ErrDamaged, "MANIFEST"},
	{"manifest empty", edit("MANIFEST-*", cut(0)), store.ErrDamaged, "MANIFEST"},
	{"manifest cut", edit("MANIFEST-*", cut(20)), store.ErrDamaged, ""},
	{"manifest changed", edit("MANIFEST-*", flip(func(n int) int { return n / 2 })), store.ErrDamaged, ""},
	{"tables missing", remove("*.sst"), store.ErrDamaged, "sstable"},
	{"table cut", edit("*.sst", func(b []byte) []byte { return b[:len(b)/2] }), store.ErrDamaged, ".sst"},
	{"logs swept away", remove("*.log"), store.ErrDamaged, "write-ahead log"},
	{"log changed", edit("*.log", flip(func(int) int { return 100 })), store.ErrDamaged, ""},
	{"log cut by a byte of its last write", edit("*.log", func(b []byte) []byte { return b[:len(bytes.TrimRight(b, "\x00"))-30] }), store.ErrDamaged, ""},
	{"options changed", edit("OPTIONS-*", func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("merger=sluice."), []byte("merger=other."))
	}), store.ErrDamaged, "merger"},
}

func TestRefusedAndLeftAlone(t *testing.T) {
	original := made(t)
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(original)); err != nil {
				t.Fatal(err)
			}
			c.damage(t, dir)
			expectRefusal(t, dir, c.want, c.says)
		})
	}
	s := open(t, pebble.Dir(original)) // the copies were refused for the damage only
	checkCounted(t, s)
	closeStore(t, s)
}

// expectRefusal: the error is want, names the path, what is wrong and what to do,
// and nothing in the directory changes, however often one tries.
func expectRefusal(t *testing.T, dir string, want error, says string, opts ...pebble.Option) {
	t.Helper()
	before := contents(t, dir)
	for range 2 {
		s, err := pebble.Dir(dir, append(opts, pebble.WithLogger(silent))...).Open()
		if err == nil {
			closeStore(t, s)
			t.Fatalf("opened; want %v", want)
		}
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		text := err.Error()
		if !strings.Contains(text, dir) || !strings.Contains(text, says) || !strings.Contains(text, "; ") {
			t.Errorf("the message %q should name %q, %q and what to do", text, dir, says)
		}
		if after := contents(t, dir); after != before {
			t.Errorf("the directory changed:\n%s\nwas:\n%s", names(after), names(before))
		}
	}
}

func names(contents string) (s string) {
	for line := range strings.Lines(contents) {
		s += fmt.Sprintf("%.120s\n", line)
	}
	return s
}

func TestEveryByteOfTheMarkerCounts(t *testing.T) {
	dir := made(t)
	path := filepath.Join(dir, "SLUICE")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		write(t, path, bad)
		if s, err := pebble.Dir(dir).Open(); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("byte %d of the marker changed: %v", i, err)
			if err == nil {
				closeStore(t, s)
			}
		}
	}
}

func TestForeign(t *testing.T) {
	for name, fill := range map[string]func(t *testing.T, dir string){
		"a file":           func(t *testing.T, dir string) { write(t, filepath.Join(dir, "notes.txt"), []byte("hello")) },
		"a folder":         func(t *testing.T, dir string) { _ = os.Mkdir(filepath.Join(dir, "notes.txt"), 0o700) },
		"a lock with data": func(t *testing.T, dir string) { write(t, filepath.Join(dir, "LOCK"), []byte("notes.txt")) },
		"another database": func(t *testing.T, dir string) {
			p, err := pebbledb.Open(dir, &pebbledb.Options{Logger: quiet{}})
			if err == nil {
				err = p.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir)
			expectRefusal(t, dir, store.ErrForeign, "it holds")
			expectRefusal(t, dir, store.ErrForeign, "it holds", pebble.MustExist())
		})
	}
	t.Run("is a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "state")
		write(t, file, nil)
		expectRefusal(t, file, store.ErrForeign, "it is a file")
	})
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

// TestTakesOverAnEmptyDirectory: empty but for what a volume's root has, and what
// an attempt that was cut short left.
func TestTakesOverAnEmptyDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "LOCK"), nil)
	write(t, filepath.Join(dir, "SLUICE.tmp"), []byte("sluice st"))
	s := open(t, pebble.Dir(dir))
	commit(t, s, 1)
	closeStore(t, s)
	s = open(t, pebble.Dir(dir, pebble.MustExist()))
	checkCounted(t, s)
	closeStore(t, s)
}

func TestMustExist(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "a", "b")
	if _, err := pebble.Dir(missing, pebble.MustExist()).Open(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	expectRefusal(t, t.TempDir(), fs.ErrNotExist, "mounted", pebble.MustExist())
	s := open(t, pebble.Dir(missing)) // makes the parents
	closeStore(t, s)
	s = open(t, pebble.Dir(missing, pebble.MustExist()))
	closeStore(t, s)
}

func TestLockedUnderAnyName(t *testing.T) {
	base := t.TempDir()
	dir, link := filepath.Join(base, "state"), filepath.Join(base, "link")
	s := open(t, pebble.Dir(dir))
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(base)
	for _, path := range []string{dir, dir + "/", "state", "./state/../state", link} {
		expectRefusal(t, path, store.ErrLocked, "in use")
	}
	commit(t, s, 1)
	closeStore(t, s)
	s = open(t, pebble.Dir(link))
	checkCounted(t, s)
	closeStore(t, s)
}

func TestString(t *testing.T) {
	if got := pebble.Dir("/var/lib/orders").String(); got != "pebble:/var/lib/orders" {
		t.Error(got)
	}
}

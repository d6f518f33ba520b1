package pebble

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
)

// sight is what a look at a directory shows.
type sight struct {
	exists bool
	marked bool // there is a marker, and it is in order
	marker marker
}

// ready tells whether the directory is a state directory that was made to the end.
func (s sight) ready() bool { return s.marker.wal > 0 }

// look tells what path holds. It touches nothing, and refuses what cannot become
// or is no sound state directory as far as names, sizes and the marker show.
func look(files vfs.FS, path string) (sight, error) {
	info, err := files.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return sight{}, nil
	}
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%w: it is a file", store.ErrForeign)
	}
	if err != nil {
		return sight{}, err
	}
	names, err := files.List(path)
	if err != nil {
		return sight{}, err
	}
	if !slices.Contains(names, markerName) {
		return sight{exists: true}, lookUnmarked(files, path, names)
	}
	m, err := readMarker(files, path)
	if err == nil && m.wal > 0 {
		err = lookMarked(files, path, names, m)
	}
	return sight{exists: true, marked: true, marker: m}, err
}

// lookUnmarked accepts a directory that is empty but for what a file system's
// root has, or what a crash while making the directory leaves.
func lookUnmarked(files vfs.FS, path string, names []string) error {
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		info, err := files.Stat(files.PathJoin(path, name))
		return err == nil && (name == "LOCK" && info.Size() == 0 || name == markerTemp || name == "lost+found")
	})
	slices.Sort(others)
	for _, name := range others {
		if strings.HasPrefix(name, "OPTIONS-") && hasMerger(files, files.PathJoin(path, name)) {
			return fmt.Errorf("%w: the file %s is missing", store.ErrDamaged, markerName)
		}
	}
	switch len(others) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%w: it holds %s", store.ErrForeign, others[0])
	}
	return fmt.Errorf("%w: it holds %s and %d more", store.ErrForeign, others[0], len(others)-1)
}

// hasMerger tells whether a database with these options is one of ours.
func hasMerger(files vfs.FS, options string) bool {
	f, err := files.Open(options)
	if err != nil {
		return false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return err == nil && strings.Contains(string(b), "merger="+merger.Name)
}

// lookMarked checks that the files without which the engine would start anew, or
// from an older state, are there.
func lookMarked(files vfs.FS, path string, names []string, m marker) error {
	format, newestLog := uint64(0), uint64(0)
	for _, name := range names {
		if s, ok := strings.CutPrefix(name, "marker.format-version."); ok {
			_, s, _ = strings.Cut(s, ".")
			format = max(format, number(s))
		}
		if s, ok := strings.CutSuffix(name, ".log"); ok {
			newestLog = max(newestLog, number(s))
		}
	}
	if format > uint64(pebbledb.FormatNewest) {
		return fmt.Errorf("%w: engine format %d, this program knows %d", store.ErrVersion, format, pebbledb.FormatNewest)
	}
	if format == 0 {
		return fmt.Errorf("%w: the file marker.format-version is missing", store.ErrDamaged)
	}
	if newestLog < m.wal {
		return fmt.Errorf("%w: the write-ahead log %06d.log, or a newer one, is missing", store.ErrDamaged, m.wal)
	}
	return lookManifest(files, path)
}

// number reads a decimal, 0 if s is none.
func number(s string) uint64 {
	n, _ := strconv.ParseUint(s, 10, 64)
	return n
}

func lookManifest(files vfs.FS, path string) error {
	desc, err := pebbledb.Peek(path, files)
	if err != nil {
		return classify(err)
	}
	if !desc.Exists {
		return fmt.Errorf("%w: the file marker.manifest is missing", store.ErrDamaged)
	}
	info, err := files.Stat(desc.ManifestFilename)
	if err == nil && info.Size() == 0 {
		return fmt.Errorf("%w: the file %s is empty", store.ErrDamaged, files.PathBase(desc.ManifestFilename))
	}
	if err != nil {
		return classify(err)
	}
	return nil
}

// classify makes an error of the engine, which read a directory with a marker,
// ErrDamaged, unless the operating system could not do what it was asked.
func classify(err error) error {
	var errno syscall.Errno
	var path *fs.PathError
	switch {
	case err == nil || errors.Is(err, store.ErrDamaged):
		return err
	case pebbledb.IsCorruptionError(err), errors.Is(err, fs.ErrNotExist):
	case errors.As(err, &errno), errors.As(err, &path):
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrDamaged, err)
}

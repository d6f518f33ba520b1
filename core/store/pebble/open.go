package pebble

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
)

// Open implements [store.Opener]. The steps, each of which may refuse:
//
//  1. look at the directory; make it if it is missing;
//  2. lock it, and look again: another process may have been faster;
//  3. in an empty one, write the marker of a directory that is being made;
//     in one that is ready, read all that Open will read, changing nothing;
//  4. open the database, which recovers from its log, and load the roots;
//  5. write the marker of a directory that is ready.
func (d *dir) Open() (store.Store, error) {
	s, err := d.open()
	if err != nil {
		return nil, fmt.Errorf("pebble: open %s: %w%s", d.path, err, advice(err))
	}
	return s, nil
}

var errNotMade = fmt.Errorf("no state directory is there: %w", fs.ErrNotExist)

// advice says what to do about an error of Open.
func advice(err error) string {
	for _, a := range []struct {
		is   error
		text string
	}{
		{errNotMade, "check the path and that its disk is mounted, or leave out MustExist to make it"},
		{store.ErrLocked, "stop the other process, or give this one a directory of its own"},
		{store.ErrForeign, "give an empty directory, or one that this program made"},
		{store.ErrVersion, "run the newer version that wrote it, or restore a copy from before"},
		{store.ErrDamaged, "restore it from a copy, or move it away to start without its state"},
	} {
		if errors.Is(err, a.is) {
			return "; " + a.text
		}
	}
	return ""
}

func (d *dir) open() (s *db, err error) {
	seen, err := d.look()
	if err != nil {
		return nil, err
	}
	if !seen.exists {
		if err := d.make(); err != nil {
			return nil, err
		}
	}
	files, path, err := d.files()
	if err != nil {
		return nil, err
	}
	lock, err := acquire(files, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = lock.Close()
		}
	}()
	if seen, err = d.look(); err != nil {
		return nil, err
	}
	if !seen.marked {
		seen.marker.id = newID()
		if err := writeMarker(files, path, seen.marker); err != nil {
			return nil, err
		}
	}
	s = newDB(d, files, path, lock, seen.marker)
	return s, s.start()
}

func (d *dir) look() (sight, error) {
	files, path, err := d.files()
	if err != nil {
		return sight{}, err
	}
	seen, err := look(files, path)
	if err == nil && d.mustExist && !seen.ready() {
		err = errNotMade
	}
	return seen, err
}

// make makes the directory and its parents, so that they survive a power cut.
func (d *dir) make() error {
	files, path, err := d.files()
	if err != nil {
		return err
	}
	parents := []string{}
	for at := path; ; at = files.PathDir(at) {
		up := files.PathDir(at)
		parents = append(parents, up)
		if _, err := files.Stat(up); err == nil || up == at {
			break
		}
	}
	if err := files.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, p := range parents {
		if err := syncDir(files, p); err != nil {
			return err
		}
	}
	return nil
}

// acquire locks the directory. A conflict comes as a bare error number, or from
// this process as a bare message; anything else went wrong on the way to it.
func acquire(files vfs.FS, path string) (*pebbledb.Lock, error) {
	lock, err := pebbledb.LockDirectory(path, files)
	var errno syscall.Errno
	var wrapped *fs.PathError
	switch {
	case err == nil:
		return lock, nil
	case errors.As(err, &wrapped):
		return nil, err
	case errors.As(err, &errno) && errno != syscall.EAGAIN && errno != syscall.EACCES:
		return nil, fmt.Errorf("lock: %w", err)
	}
	return nil, store.ErrLocked
}

func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return fmt.Sprintf("%x", id)
}

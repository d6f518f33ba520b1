package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"sync"
)

// folder is Config.Dir as the writer uses it. Safe for concurrent use.
type folder struct {
	dir    string
	owner  string // eight characters, the start of its temporary names
	noSync bool
	open   func(dir string) (disk, error)

	mu struct {
		sync.Mutex
		// durable folders: their names were synced by this process.
		durable map[string]struct{}
	}
}

// durableMax bounds the memory of folder.durable; it only saves fsyncs.
const durableMax = 4096

func newFolder(dir, owner string, noSync bool) *folder {
	sum := sha256.Sum256([]byte(owner))
	return &folder{dir: dir, owner: hex.EncodeToString(sum[:4]), noSync: noSync, open: openDisk}
}

// enter opens the folder for one call: a folder that was replaced (a disk
// mounted again) is found the next time.
func (f *folder) enter() (disk, error) {
	d, err := f.open(f.dir)
	if err != nil {
		return nil, f.fault("open", ".", err)
	}
	return d, nil
}

// makeDir creates dir and what is above it, and makes their names durable. A
// folder that exists already may come from a run that crashed before its fsync.
func (f *folder) makeDir(d disk, dir string) error {
	if dir == "." {
		return nil
	}
	if err := f.makeDir(d, path.Dir(dir)); err != nil {
		return err
	}
	err := d.mkdir(dir)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return f.fault("create folder", dir, err)
	}
	if err != nil && f.isDurable(dir) {
		return nil
	}
	if err := f.sync(d, path.Dir(dir)); err != nil {
		return err
	}
	f.markDurable(dir)
	return nil
}

func (f *folder) isDurable(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.mu.durable[dir]
	return ok
}

func (f *folder) markDurable(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.durable == nil || len(f.mu.durable) >= durableMax {
		f.mu.durable = map[string]struct{}{}
	}
	f.mu.durable[dir] = struct{}{}
}

// sync makes the names in dir durable.
func (f *folder) sync(d disk, dir string) error {
	if f.noSync {
		return nil
	}
	if err := d.syncFolder(dir); err != nil {
		return f.fault("sync folder", dir, err)
	}
	return nil
}

// removeTemp removes a temporary file; one that is gone is success.
func (f *folder) removeTemp(d disk, name string) error {
	if err := d.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.fault("remove", name, err)
	}
	return nil
}

// path is name as the user knows it.
func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

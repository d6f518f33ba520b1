package pebble

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// engineFS is the file system that the engine works on. It differs from the real
// one where the engine would end the process, or trust what a power cut may take.
//
// When a write to a log fails, or the sync of a directory, the engine panics, in
// places with its locks held or in a state from which no recover helps. So it is
// not told: the failure becomes the store's fault, which every caller that waits
// for the engine looks at before it believes in success. From then on the disk
// stays as it was when things were well. What decides how the next Open finds it,
// the logs, the manifest, the markers and the names in the directory, is neither
// made, written, renamed nor removed; the engine may think it was. Tables may
// still appear: without a manifest that names them they are nothing.
//
// A new MANIFEST is made to stay before the engine makes the marker that names it:
// the order of names that appear in a directory without a sync is not promised.
type engineFS struct {
	vfs.FS
	fault *fault
}

// Unwrap lets the engine find the real one.
func (e engineFS) Unwrap() vfs.FS { return e.FS }

func (e engineFS) failed() bool { return e.fault.get() != nil }

// hide makes err, if there is one, the fault.
func (e engineFS) hide(what string, err error) {
	if err != nil {
		_ = e.fault.set(fmt.Errorf("%s: %w", what, err))
	}
}

// decides tells whether the file has a say in what the next Open finds.
func (e engineFS) decides(name string) bool {
	name = e.PathBase(name)
	return strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "marker.")
}

// Create implements [vfs.FS].
func (e engineFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	create := func() (vfs.File, error) { return e.FS.Create(name, category) }
	if !e.decides(name) {
		return create()
	}
	f := e.make(name, create)
	if strings.HasPrefix(e.PathBase(name), "MANIFEST-") && !e.failed() {
		e.hide("sync", syncDir(e.FS, e.PathDir(name)))
	}
	return f, nil
}

// ReuseForWrite implements [vfs.FS]; the engine uses it for logs.
func (e engineFS) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return e.make(to, func() (vfs.File, error) { return e.FS.ReuseForWrite(from, to, category) }), nil
}

// make returns the file that create makes, or one that takes no data.
func (e engineFS) make(name string, create func() (vfs.File, error)) vfs.File {
	if !e.failed() {
		f, err := create()
		if err == nil {
			return hiding{File: f, fs: e}
		}
		e.hide("make "+name, err)
	}
	return hiding{File: vfs.NewMemFile(nil), fs: e}
}

// OpenDir implements [vfs.FS].
func (e engineFS) OpenDir(name string) (vfs.File, error) {
	f, err := e.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return hiding{File: f, fs: e}, nil
}

// Remove implements [vfs.FS].
func (e engineFS) Remove(name string) error {
	if e.failed() {
		return nil
	}
	return e.FS.Remove(name)
}

// RemoveAll implements [vfs.FS].
func (e engineFS) RemoveAll(name string) error {
	if e.failed() {
		return nil
	}
	return e.FS.RemoveAll(name)
}

// hiding is a file that decides, or a directory: its writes and syncs never fail.
type hiding struct {
	vfs.File
	fs engineFS
}

// do runs fn, which changes the disk, unless something failed before.
func (h hiding) do(what string, fn func() error) {
	if !h.fs.failed() {
		h.fs.hide(what, fn())
	}
}

// Write implements [vfs.File].
func (h hiding) Write(b []byte) (int, error) {
	h.do("write", func() error { _, err := h.File.Write(b); return err })
	return len(b), nil
}

// Sync implements [vfs.File].
func (h hiding) Sync() error {
	h.do("sync", h.File.Sync)
	return nil
}

// SyncData implements [vfs.File].
func (h hiding) SyncData() error {
	h.do("sync", h.File.SyncData)
	return nil
}

// SyncTo implements [vfs.File].
func (h hiding) SyncTo(length int64) (full bool, err error) {
	h.do("sync", func() (err error) { full, err = h.File.SyncTo(length); return err })
	return full, nil
}

// Close implements [vfs.File].
func (h hiding) Close() error {
	h.fs.hide("close", h.File.Close())
	return nil
}

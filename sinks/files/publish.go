package files

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/gosluice/sluice/core/fault"
)

// publish makes the file of t visible as name. Each step may find that an earlier
// or a concurrent call has done it; the folder is synced even then, since that
// call may not have come so far.
func (f *folder) publish(t token, name string) error {
	d, err := f.enter()
	if err != nil {
		return err
	}
	defer d.close()
	if err := f.makeDir(d, path.Dir(name)); err != nil {
		return err
	}
	if err := f.link(d, t, name); err != nil {
		return err
	}
	if err := f.sync(d, path.Dir(name)); err != nil {
		return err
	}
	return f.removeTemp(d, t.tempPath())
}

// link returns nil when name has the content of t.
func (f *folder) link(d disk, t token, name string) error {
	switch size, err := d.size(t.tempPath()); {
	case errors.Is(err, fs.ErrNotExist):
		return f.confirm(d, t, name)
	case err != nil:
		return f.fault("look at", t.tempPath(), err)
	case size != t.bytes:
		return fault.Errorf(fault.Permanent, "files: publish %s: the temporary file %s has %d bytes, %d were written: it is damaged",
			f.path(name), f.path(t.tempPath()), size, t.bytes)
	}
	err := d.link(t.tempPath(), name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		// Another call may be between its link and its removal, or past both.
		return f.confirm(d, t, name)
	}
	return f.fault("link", name, err)
}

// confirm returns nil where name exists with the content of t.
func (f *folder) confirm(d disk, t token, name string) error {
	_, err := d.size(t.tempPath())
	left := err == nil
	// The final name is looked at after the temporary one: a call that removes the
	// temporary name has linked the final one before.
	switch same, err := sameContent(d, t, name); {
	case same:
		return nil
	case err == nil:
		return fault.Errorf(fault.Permanent, "files: publish %s: the file exists with other content; it is left as it is", f.path(name))
	case !errors.Is(err, fs.ErrNotExist):
		return f.fault("read", name, err)
	case left:
		return f.fault("link", name, err) // its folder was taken away; the next try makes it again
	}
	return f.lost(d, t, name)
}

// lost is the error for a file of which neither name is there.
func (f *folder) lost(d disk, t token, name string) error {
	if _, err := d.size(tempDir); errors.Is(err, fs.ErrNotExist) {
		return f.fault("publish "+name+" from", tempDir, err)
	}
	return fault.Errorf(fault.Permanent,
		"files: publish %s: %d records are lost: neither it nor the temporary file %s exists; something else removed or moved it, or Owner or Name was changed with files pending",
		f.path(name), t.records, f.path(t.tempPath()))
}

// sameContent compares size and checksum.
func sameContent(d disk, t token, name string) (bool, error) {
	size, err := d.size(name)
	if errors.Is(err, errNotRegular) || err == nil && size != t.bytes {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	file, err := d.open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(file, t.bytes+1)); err != nil {
		return false, err
	}
	return bytes.Equal(sum.Sum(nil), t.sum[:]), nil
}

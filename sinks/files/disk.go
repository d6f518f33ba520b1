package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// disk is what a writer needs of a filesystem, below one folder. Names have "/"
// between parts; "." is the folder itself. Errors wrap fs.ErrExist and
// fs.ErrNotExist. Tests put faults, crashes and power cuts behind it.
type disk interface {
	// create makes a new file for writing and fails if the name exists.
	create(name string) (file, error)
	open(name string) (file, error)
	// size of a regular file; errNotRegular for anything else.
	size(name string) (int64, error)
	list(folder string) ([]string, error)
	mkdir(name string) error
	// link gives the file a second name and fails if that exists.
	link(from, to string) error
	remove(name string) error
	// syncFolder makes the names in a folder durable.
	syncFolder(name string) error
	close() error
}

// file is an open file of a disk.
type file interface {
	io.ReadWriteCloser
	Sync() error
}

var errNotRegular = errors.New("not a regular file")

// openDisk opens a folder of the machine. os.Root keeps every name inside it,
// symbolic links included.
func openDisk(dir string) (disk, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return osDisk{root}, nil
}

type osDisk struct{ root *os.Root }

func (d osDisk) create(name string) (file, error) {
	return asFile(d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))
}

func (d osDisk) open(name string) (file, error) { return asFile(d.root.Open(name)) }

// asFile keeps a nil *os.File from becoming a file that is not nil.
func asFile(f *os.File, err error) (file, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d osDisk) size(name string) (int64, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, &fs.PathError{Op: "stat", Path: name, Err: errNotRegular}
	}
	return info.Size(), nil
}

func (d osDisk) list(folder string) ([]string, error) {
	f, err := d.root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d osDisk) mkdir(name string) error    { return d.root.Mkdir(name, 0o755) }
func (d osDisk) link(from, to string) error { return d.root.Link(from, to) }
func (d osDisk) remove(name string) error   { return d.root.Remove(name) }
func (d osDisk) close() error               { return d.root.Close() }

func (d osDisk) syncFolder(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

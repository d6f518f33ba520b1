package files

import (
	"errors"
	"sync"
)

// errCrashed is what a dead process sees: nothing it does reaches the disk.
var errCrashed = errors.New("crashed")

// script decides what becomes of each call to the disk, by its number from 0.
type script struct {
	mu    sync.Mutex
	calls int
	names []string
	// before and after give the error of a call: before it, nothing of it
	// happened; after it, all did. Either may be nil.
	before, after func(call int) error
	// lie is a call that says it succeeded and does nothing; -1 for none.
	lie int
}

func newScript() *script { return &script{lie: -1} }

// run makes one call.
func (s *script) run(name string, do func() error) error {
	s.mu.Lock()
	call := s.calls
	s.calls++
	s.names = append(s.names, name)
	s.mu.Unlock()
	if s.before != nil {
		if err := s.before(call); err != nil {
			return err
		}
	}
	var err error
	if call != s.lie {
		err = do()
	}
	if s.after != nil {
		if err := s.after(call); err != nil {
			return err
		}
	}
	return err
}

// crashAt kills the process before or after call n: no later call does anything.
func crashAt(n int, after bool) *script {
	s := newScript()
	s.before = func(call int) error {
		if call > n || call == n && !after {
			return errCrashed
		}
		return nil
	}
	s.after = func(call int) error {
		if call == n {
			return errCrashed
		}
		return nil
	}
	return s
}

// failOnce makes call n fail with err, before or after it was done.
func failOnce(n int, after bool, err error) *script {
	fail := func(call int) error {
		if call == n {
			return err
		}
		return nil
	}
	s := newScript()
	if after {
		s.after = fail
	} else {
		s.before = fail
	}
	return s
}

// failFrom makes every call from n on fail with err.
func failFrom(n int, err error) *script {
	s := newScript()
	s.before = func(call int) error {
		if call >= n {
			return err
		}
		return nil
	}
	return s
}

// scripted is a disk whose calls go through a script.
type scripted struct {
	s *script
	d disk
}

func (d scripted) file(name string, f file, err error) (file, error) {
	if err != nil {
		return nil, err
	}
	return scriptedFile{d.s, name, f}, nil
}

func (d scripted) create(name string) (f file, err error) {
	err = d.s.run("create", func() (err error) { f, err = d.d.create(name); return err })
	return d.file(name, f, err)
}

func (d scripted) open(name string) (f file, err error) {
	err = d.s.run("open", func() (err error) { f, err = d.d.open(name); return err })
	return d.file(name, f, err)
}

func (d scripted) size(name string) (n int64, err error) {
	err = d.s.run("size", func() (err error) { n, err = d.d.size(name); return err })
	return n, err
}

func (d scripted) list(name string) (names []string, err error) {
	err = d.s.run("list", func() (err error) { names, err = d.d.list(name); return err })
	return names, err
}

func (d scripted) mkdir(name string) error {
	return d.s.run("mkdir", func() error { return d.d.mkdir(name) })
}

func (d scripted) link(from, to string) error {
	return d.s.run("link", func() error { return d.d.link(from, to) })
}

func (d scripted) remove(name string) error {
	return d.s.run("remove", func() error { return d.d.remove(name) })
}

func (d scripted) syncFolder(name string) error {
	return d.s.run("syncFolder", func() error { return d.d.syncFolder(name) })
}

func (d scripted) close() error { return d.d.close() }

type scriptedFile struct {
	s    *script
	name string
	f    file
}

func (f scriptedFile) Read(p []byte) (n int, err error) {
	err = f.s.run("read", func() (err error) { n, err = f.f.Read(p); return err })
	return n, err
}

func (f scriptedFile) Write(p []byte) (n int, err error) {
	err = f.s.run("write", func() (err error) { n, err = f.f.Write(p); return err })
	return n, err
}

func (f scriptedFile) Sync() error  { return f.s.run("sync", f.f.Sync) }
func (f scriptedFile) Close() error { return f.s.run("close", f.f.Close) }

// on makes the writer use d through s, nil for d as it is.
func on[T any](w *Writer[T], d disk, s *script) *Writer[T] {
	if s != nil {
		d = scripted{s, d}
	}
	w.folder.open = func(string) (disk, error) { return d, nil }
	return w
}

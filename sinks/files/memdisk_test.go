package files

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// memory is a disk in memory that tells what was written from what was made
// durable. A killed process leaves the former, a power cut the latter plus any
// part of the rest.
type memory struct {
	mu      sync.Mutex
	live    map[string]*node // by path, what processes see
	durable map[string]*node // names that were synced
}

type node struct {
	folder bool
	data   []byte
	synced []byte
}

func newMemory() *memory {
	root := &node{folder: true}
	return &memory{live: map[string]*node{".": root}, durable: map[string]*node{".": root}}
}

// powerCut keeps what was synced and a random part of what was not: names added
// or removed, and content, each on its own.
func (m *memory) powerCut(r *rand.Rand) {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := map[string]*node{}
	for _, name := range m.everyName() {
		n := m.durable[name]
		if m.live[name] != n && r.IntN(2) == 0 {
			n = m.live[name]
		}
		if n != nil && (name == "." || after[path.Dir(name)] != nil) {
			after[name] = n
		}
	}
	for _, n := range after {
		if !slices.Equal(n.data, n.synced) {
			n.data = slices.Clone(n.data[:r.IntN(len(n.data)+1)])
		}
		n.synced = slices.Clone(n.data)
	}
	m.live, m.durable = after, cloneNames(after)
}

// everyName is sorted, so that a folder comes before what is in it.
func (m *memory) everyName() []string {
	var names []string
	for name := range m.live {
		names = append(names, name)
	}
	for name := range m.durable {
		if m.live[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func cloneNames(names map[string]*node) map[string]*node {
	c := make(map[string]*node, len(names))
	for name, n := range names {
		c[name] = n
	}
	return c
}

// files lists the regular files that match keep, with their content.
func (m *memory) files(keep func(name string) bool) map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]string{}
	for name, n := range m.live {
		if !n.folder && keep(name) {
			out[name] = string(n.data)
		}
	}
	return out
}

func (m *memory) finals() map[string]string {
	return m.files(func(name string) bool { return !isTemp(name) })
}

func (m *memory) temps() map[string]string { return m.files(isTemp) }

func isTemp(name string) bool { return strings.HasPrefix(name, tempDir+"/") }

// add puts n at name, as create, link and mkdir do.
func (m *memory) add(name string, n *node) error {
	if parent := m.live[path.Dir(name)]; parent == nil {
		return fs.ErrNotExist
	} else if !parent.folder {
		return syscall.ENOTDIR
	}
	if m.live[name] != nil {
		return fs.ErrExist
	}
	m.live[name] = n
	return nil
}

func (m *memory) find(name string) (*node, error) {
	if n := m.live[name]; n != nil {
		return n, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memory) create(name string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := &node{}
	if err := m.add(name, n); err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n}, nil
}

func (m *memory) open(name string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err != nil {
		return nil, err
	}
	return &memFile{m: m, n: n}, nil
}

func (m *memory) size(name string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err == nil && n.folder {
		err = errNotRegular
	}
	if err != nil {
		return 0, err
	}
	return int64(len(n.data)), nil
}

func (m *memory) list(folder string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(folder); err != nil {
		return nil, err
	}
	var names []string
	for name := range m.live {
		if name != "." && path.Dir(name) == folder {
			names = append(names, path.Base(name))
		}
	}
	return names, nil
}

func (m *memory) mkdir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(name, &node{folder: true})
}

func (m *memory) link(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(from)
	if err != nil {
		return err
	}
	return m.add(to, n)
}

func (m *memory) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.find(name)
	delete(m.live, name)
	return err
}

func (m *memory) syncFolder(folder string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(folder); err != nil {
		return err
	}
	for _, name := range m.everyName() {
		if path.Dir(name) != folder || name == "." {
			continue
		}
		if n := m.live[name]; n != nil {
			m.durable[name] = n
		} else {
			delete(m.durable, name)
		}
	}
	return nil
}

func (m *memory) close() error { return nil }

type memFile struct {
	m      *memory
	n      *node
	at     int
	closed bool
}

func (f *memFile) Read(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	n := copy(p, f.n.data[f.at:])
	f.at += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.n.data = append(f.n.data, p...)
	return len(p), nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.n.synced = slices.Clone(f.n.data)
	return nil
}

func (f *memFile) Close() error {
	if f.closed {
		return errors.New("closed twice")
	}
	f.closed = true
	return nil
}

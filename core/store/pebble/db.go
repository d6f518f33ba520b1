package pebble

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
)

// The engine's memory: a cache for scans, and memtables of which a few may wait
// for their flush.
const (
	cacheBytes    = 16 << 20
	memTableBytes = 16 << 20
	memTablesMax  = 4
	l0FilesMax    = 10 // in one place: more, and scans look into more; fewer, and rows are rewritten more often
)

// db is an open directory.
type db struct {
	dir   *dir
	files vfs.FS
	path  string
	lock  *pebbledb.Lock

	usage   usage
	fault   fault
	witness witness
	p       *pebbledb.DB

	// order is held from the choice of a sequence number until the batch is in the
	// write-ahead log.
	order struct {
		sync.Mutex
		seq uint64
	}
	mu struct {
		sync.Mutex
		regions map[store.RegionID]*region
		logs    map[store.Space]*spaceLog
	}
	manifest struct {
		writing sync.Mutex // held by SetManifest
		value   atomic.Pointer[[]byte]
	}
	unfolded atomic.Int64 // bytes of blobs in the delta log
	folder   folder
}

// region is where a region stands. mu is held while it commits.
type region struct {
	mu    sync.Mutex
	epoch atomic.Uint64 // the last one whose sync has returned
}

func newDB(d *dir, files vfs.FS, path string, lock *pebbledb.Lock, m marker) *db {
	s := &db{dir: d, files: files, path: path, lock: lock}
	s.usage.idle = make(chan struct{})
	s.fault.log = d.log()
	s.witness.files, s.witness.path, s.witness.fault = files, path, &s.fault
	s.witness.mu.marker = m
	s.folder = newFolder()
	s.mu.regions = make(map[store.RegionID]*region)
	return s
}

func (s *db) options() *pebbledb.Options {
	return &pebbledb.Options{
		FS:                          engineFS{FS: s.files, fault: &s.fault},
		Lock:                        s.lock,
		Merger:                      merger,
		CacheSize:                   cacheBytes,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: memTablesMax,
		L0CompactionThreshold:       l0FilesMax,
		L0StopWritesThreshold:       3 * l0FilesMax,
		FormatMajorVersion:          pebbledb.FormatNewest,
		Logger:                      &s.fault,
		EventListener: &pebbledb.EventListener{
			BackgroundError: s.fault.background,
			DataCorruption:  s.fault.corruption,
			FlushEnd:        s.fault.flushed,
			WALCreated:      s.witness.created,
		},
	}
}

// start opens the database of a directory that is locked and has a marker.
func (s *db) start() error {
	m := s.witness.marker()
	if m.wal > 0 {
		if err := s.verify(m); err != nil {
			return err
		}
	}
	p, err := openEngine(s.path, s.options())
	if err != nil {
		return err
	}
	s.p = p
	if err := s.load(m); err != nil {
		if !s.fault.wrecked() {
			_ = p.Close()
		}
		return err
	}
	go s.runFolder()
	return nil
}

// openEngine opens the database. Some damage makes the engine panic.
func openEngine(path string, o *pebbledb.Options) (p *pebbledb.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", store.ErrDamaged, r)
		}
	}()
	p, err = pebbledb.Open(path, o)
	return p, classify(err)
}

// verify opens the database without changing it, and reads the roots.
func (s *db) verify(m marker) error {
	o := s.options()
	o.ReadOnly = true
	p, err := openEngine(s.path, o)
	if err != nil {
		return err
	}
	r, err := readRoots(p)
	if err == nil {
		err = r.check(m)
	}
	if e := p.Close(); err == nil {
		err = e
	}
	return classify(err)
}

// load takes over the roots, and makes the directory ready.
func (s *db) load(m marker) error {
	r, err := readRoots(s.p)
	if err == nil {
		err = r.check(m)
	}
	if err != nil {
		return classify(err)
	}
	for id, epoch := range r.epochs {
		s.region(id).epoch.Store(epoch)
	}
	s.mu.logs = r.logs
	s.manifest.value.Store(&r.manifest)
	s.unfolded.Store(r.unfolded)
	s.order.seq = r.seq
	s.witness.synced.Store(r.seq) // opening flushes what it recovers
	if r.id == "" {
		set := func() error { return s.p.Set([]byte(keyID), []byte(m.id), pebbledb.Sync) }
		if err := s.fault.guard(set); err != nil {
			return err
		}
	}
	if err := s.witness.write(); err != nil {
		return err
	}
	return s.fault.get()
}

// ID implements [store.Store].
func (s *db) ID() string { return s.witness.marker().id }

// Epoch implements [store.Store].
func (s *db) Epoch(id store.RegionID) (epoch uint64, err error) {
	err = s.call("epoch", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r := s.mu.regions[id]; r != nil {
			epoch = r.epoch.Load()
		}
		return nil
	})
	return epoch, err
}

// region returns the region, which is made if it is new.
func (s *db) region(id store.RegionID) *region {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mu.regions[id]
	if r == nil {
		r = new(region)
		s.mu.regions[id] = r
	}
	return r
}

// Manifest implements [store.Store].
func (s *db) Manifest() (m []byte, err error) {
	err = s.call("manifest", func() error {
		m = bytes.Clone(*s.manifest.value.Load())
		return nil
	})
	return m, err
}

// SetManifest implements [store.Store].
func (s *db) SetManifest(m []byte) error {
	return s.call("set manifest", func() error {
		s.manifest.writing.Lock()
		defer s.manifest.writing.Unlock()
		m := append([]byte{}, m...)
		_, err := s.write(func(b *pebbledb.Batch, _ uint64) error {
			return b.Set([]byte(keyManifest), m, nil)
		})
		if err == nil {
			s.manifest.value.Store(&m)
		}
		return err
	})
}

package pebble

import (
	"sync"
	"sync/atomic"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

const (
	// foldBytesDefault is how long the delta log gets before all of it is folded:
	// long enough that a cell which changes every epoch is folded once for many,
	// short enough that Open and Scan have little to do.
	foldBytesDefault = 16 << 20
	// foldFactorMax times that, and commits fold themselves before they return.
	foldFactorMax = 4
)

// spaceLog is where the delta log of one space stands.
type spaceLog struct {
	store.Space
	synced atomic.Uint64 // highest sequence number of an entry that is synced
	mu     sync.Mutex    // held while folding and while a scan chooses its state
	folded uint64        // no entry up to here is left; guarded by mu
}

// foldAll folds every space, until the folder is told to end.
func (s *db) foldAll() error {
	for _, l := range s.spaceLogs() {
		if s.folder.ending() {
			return nil
		}
		if err := s.fold(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *db) spaceLogs() []*spaceLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	logs := make([]*spaceLog, 0, len(s.mu.logs))
	for _, l := range s.mu.logs {
		logs = append(logs, l)
	}
	return logs
}

func (s *db) fold(l *spaceLog) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return s.foldLocked(l)
}

// foldLocked makes rows of all entries that are synced.
func (s *db) foldLocked(l *spaceLog) error {
	for to := l.synced.Load(); l.folded < to; {
		if err := s.foldStep(l, to); err != nil {
			return s.fault.read(err)
		}
	}
	return nil
}

// foldStep folds the first entries after l.folded, at most to to, in one batch: as
// many commits as it takes to have a log's length of them.
// It needs no sync: after a power cut either the rows are there or the entries.
func (s *db) foldStep(l *spaceLog, to uint64) error {
	f := folds.Get().(*foldBatch)
	defer f.release()
	last, err := f.read(s.p, l, to, s.dir.foldBytes)
	if err != nil {
		return err
	}
	b := s.p.NewBatch(pebbledb.WithMaxRetainedSizeBytes(batchRetainBytes))
	if err := f.write(b, l.Space); err != nil {
		return err
	}
	if err := s.fault.guard(func() error { return s.p.Apply(b, pebbledb.NoSync) }); err != nil {
		return err
	}
	l.folded = last
	s.unfolded.Add(-int64(f.blobBytes))
	return b.Close()
}

// folder is the goroutine that folds when the log has grown.
type folder struct {
	kick  chan struct{}
	stop  chan struct{}
	ended chan struct{}
}

func newFolder() folder {
	return folder{kick: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{})}
}

// wake makes the folder fold all, once more if it is at it.
func (f *folder) wake() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

func (f *folder) ending() bool {
	select {
	case <-f.stop:
		return true
	default:
		return false
	}
}

// end stops the folder and waits for it.
func (f *folder) end() {
	close(f.stop)
	<-f.ended
}

func (s *db) runFolder() {
	defer close(s.folder.ended)
	for {
		select {
		case <-s.folder.stop:
			return
		case <-s.folder.kick:
			if err := s.foldAll(); err != nil {
				s.fault.log.Error("folding the delta log failed", "error", err)
			}
		}
	}
}

package pebble

import (
	"context"
	"encoding/binary"
	"fmt"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

const (
	// commitBytesMax limits a commit's deltas; the engine's batches end at 4 GiB.
	commitBytesMax = 1 << 30
	// batchRetainBytes is the memory that a batch keeps for the next.
	batchRetainBytes = 8 << 20
)

// Commit implements [store.Store]. Regions may commit at the same time and then
// share syncs. Once begun, a commit goes on when ctx is done.
func (s *db) Commit(ctx context.Context, c *store.Commit) error {
	return s.call("commit", func() error { return s.commit(ctx, c) })
}

func (s *db) commit(ctx context.Context, c *store.Commit) error {
	r := s.region(c.Region)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.Check(r.epoch.Load()); err != nil {
		return err
	}
	if n := c.Size(); n > commitBytesMax {
		return fmt.Errorf("epoch %d of region %d has %d bytes of deltas, the limit is %d: close epochs sooner", c.Epoch, c.Region, n, commitBytesMax)
	}
	seq, err := s.write(func(b *pebbledb.Batch, seq uint64) error { return fill(b, c, seq) })
	if err != nil {
		return err
	}
	s.logged(c, seq)
	r.epoch.Store(c.Epoch) // whoever reads it finds the rows
	s.foldIfLong()
	return nil
}

// fill adds the deltas and the epoch to b.
func fill(b *pebbledb.Batch, c *store.Commit, seq uint64) error {
	for n, d := range c.Deltas {
		if d.Len() == 0 {
			continue
		}
		if err := b.Set(entryKey(d.Space, seq, uint32(n)), d.Blob(), nil); err != nil {
			return err
		}
	}
	return b.Set(epochKey(c.Region), binary.BigEndian.AppendUint64(nil, c.Epoch), nil)
}

// write puts what fill adds to a batch into the write-ahead log, under the next
// sequence number, and returns when it is synced. The sync of a write is also that
// of all writes with lower numbers. An error means that nothing is known any more,
// but for one of fill.
func (s *db) write(fill func(b *pebbledb.Batch, seq uint64) error) (seq uint64, err error) {
	b := s.p.NewBatch(pebbledb.WithMaxRetainedSizeBytes(batchRetainBytes))
	if seq, err = s.enqueue(b, fill); err != nil {
		return 0, err
	}
	if err := b.SyncWait(); err != nil {
		return 0, s.fault.set(err)
	}
	if err := s.fault.get(); err != nil { // which the engine may not know of
		return 0, err
	}
	raise(&s.witness.synced, seq)
	return seq, b.Close()
}

func (s *db) enqueue(b *pebbledb.Batch, fill func(b *pebbledb.Batch, seq uint64) error) (seq uint64, err error) {
	s.order.Lock()
	defer s.order.Unlock()
	s.order.seq++
	if err := fill(b, s.order.seq); err != nil {
		return 0, err
	}
	if err := b.Set([]byte(keySeq), binary.BigEndian.AppendUint64(nil, s.order.seq), nil); err != nil {
		return 0, err
	}
	return s.order.seq, s.fault.guard(func() error { return s.p.ApplyNoSyncWait(b, pebbledb.Sync) })
}

// logged makes the entries of a synced commit known to folding.
func (s *db) logged(c *store.Commit, seq uint64) {
	for _, d := range c.Deltas {
		if d.Len() > 0 {
			raise(&s.log(d.Space).synced, seq)
		}
	}
	s.unfolded.Add(int64(c.Size()))
}

// foldIfLong folds, or has the folder fold, a log that has grown too long.
func (s *db) foldIfLong() {
	switch n := s.unfolded.Load(); {
	case n > foldFactorMax*s.dir.foldBytes:
		// The folder cannot keep up: the committer works, too. The commit is done
		// whatever becomes of that; what fails here fails the next fold as well.
		_ = s.foldAll()
	case n > s.dir.foldBytes:
		s.folder.wake()
	}
}

// log returns the space's log, which is made if it is new.
func (s *db) log(space store.Space) *spaceLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.mu.logs[space]
	if l == nil {
		l = &spaceLog{Space: space}
		s.mu.logs[space] = l
	}
	return l
}

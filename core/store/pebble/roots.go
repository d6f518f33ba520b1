package pebble

import (
	"bytes"
	"encoding/binary"
	"fmt"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/gosluice/sluice/core/store"
)

// roots is what a store reads when it is opened: all keys that begin with 0.
type roots struct {
	id       string // empty if the database was not made to the end
	manifest []byte
	seq      uint64
	epochs   map[store.RegionID]uint64
	logs     map[store.Space]*spaceLog
	unfolded int64 // bytes of blobs in the logs
}

// readRoots also checks every blob of the delta log.
func readRoots(p *pebbledb.DB) (r roots, err error) {
	r.epochs = make(map[store.RegionID]uint64)
	r.logs = make(map[store.Space]*spaceLog)
	it, err := p.NewIter(&pebbledb.IterOptions{UpperBound: []byte{1}})
	if err != nil {
		return r, err
	}
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return r, err
		}
		if err := r.add(it.Key(), value); err != nil {
			return r, err
		}
	}
	return r, it.Error()
}

func (r *roots) add(key, value []byte) error {
	switch {
	case string(key) == keyID:
		r.id = string(value)
	case string(key) == keyManifest:
		r.manifest = append([]byte{}, value...)
	case string(key) == keySeq && len(value) == 8:
		r.seq = binary.BigEndian.Uint64(value)
	case bytes.HasPrefix(key, []byte(epochPrefix)) && len(key) == epochBytes && len(value) == 8:
		region := store.RegionID(binary.BigEndian.Uint32(key[len(epochPrefix):]))
		r.epochs[region] = binary.BigEndian.Uint64(value)
	case bytes.HasPrefix(key, []byte(logPrefix)) && len(key) == entryBytes:
		return r.addEntry(key, value)
	default:
		return fmt.Errorf("%w: the key %q cannot be read", store.ErrDamaged, key)
	}
	return nil
}

func (r *roots) addEntry(key, blob []byte) error {
	space := readSpace(key[len(logPrefix):])
	if _, err := store.ReadDelta(space, blob); err != nil {
		return err
	}
	l := r.logs[space]
	if l == nil {
		l = &spaceLog{Space: space}
		r.logs[space] = l
	}
	raise(&l.synced, seqOf(key))
	r.unfolded += int64(len(blob))
	return nil
}

// check compares the roots with the marker of the directory they were found in.
func (r *roots) check(m marker) error {
	switch {
	case r.seq < m.last:
		return fmt.Errorf("%w: of %d writes the last %d are missing", store.ErrDamaged, m.last, m.last-r.seq)
	case r.id == m.id, r.id == "" && m.wal == 0:
		return nil
	}
	return fmt.Errorf("%w: the database has the id %q, the file %s has %q", store.ErrDamaged, r.id, markerName, m.id)
}

package pebble

import (
	"encoding/binary"

	"github.com/gosluice/sluice/core/store"
)

// The keys of the database. Numbers are big endian, so that their order is that
// of the keys. Kinds of rows begin with 1; 0 is ours.
//
//	kind region4 transform4 group key…        a row, see cell.go
//	0 'd' kind region4 transform4 seq8 n4     the n-th delta of commit seq: its blob
//	0 'e' region4                             the region's epoch, 8 bytes
//	0 'i'                                     the id of the marker
//	0 'm'                                     the manifest
//	0 's'                                     the last sequence number, 8 bytes
const (
	keyID       = "\x00i"
	keyManifest = "\x00m"
	keySeq      = "\x00s"
	epochPrefix = "\x00e"
	logPrefix   = "\x00d"

	spaceBytes = 1 + 4 + 4
	rowBytes   = spaceBytes + 1              // of a row's key before the row's own
	seqAt      = len(logPrefix) + spaceBytes // in an entry's key
	entryBytes = seqAt + 8 + 4
	epochBytes = len(epochPrefix) + 4
)

func appendSpace(b []byte, s store.Space) []byte {
	b = append(b, byte(s.Kind))
	b = binary.BigEndian.AppendUint32(b, uint32(s.Region))
	return binary.BigEndian.AppendUint32(b, uint32(s.Transform))
}

func readSpace(b []byte) store.Space {
	return store.Space{
		Kind:      store.Kind(b[0]),
		Region:    store.RegionID(binary.BigEndian.Uint32(b[1:])),
		Transform: store.TransformID(binary.BigEndian.Uint32(b[5:])),
	}
}

// rowPrefix is what the keys of a group's rows begin with.
func rowPrefix(s store.Space, g store.Group) []byte {
	return append(appendSpace(make([]byte, 0, rowBytes), s), byte(g))
}

// entryKey is the key of the n-th delta of commit seq. Entries of s from seq on
// are those from entryKey(s, seq, 0) on.
func entryKey(s store.Space, seq uint64, n uint32) []byte {
	b := appendSpace(append(make([]byte, 0, entryBytes), logPrefix...), s)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, seq), n)
}

func seqOf(entryKey []byte) uint64 { return binary.BigEndian.Uint64(entryKey[seqAt:]) }

func epochKey(r store.RegionID) []byte {
	return binary.BigEndian.AppendUint32([]byte(epochPrefix), uint32(r))
}

// after returns the least key that is greater than all that begin with prefix,
// nil if there is none.
func after(prefix []byte) []byte {
	b := append([]byte{}, prefix...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i]++; b[i] != 0 {
			return b[:i+1]
		}
	}
	return nil
}

// bounds are the keys of a row range within one group: below is nil if there is
// no key behind it.
func bounds(prefix, from, below []byte) (lower, upper []byte) {
	lower = append(append([]byte{}, prefix...), from...)
	if len(below) == 0 {
		return lower, after(prefix)
	}
	return lower, append(append([]byte{}, prefix...), below...)
}

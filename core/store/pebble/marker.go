package pebble

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
)

// The marker file makes a directory ours. It is text:
//
//	sluice state directory
//	format 1
//	id 0f3c…
//	wal 12
//	last 4711
//	sum 8d1f04aa
//
// The first two lines and the last, a CRC-32C of all before it, are the same in
// every format. The marker is replaced by rename, never written in place.
const (
	markerName    = "SLUICE"
	markerTemp    = "SLUICE.tmp"
	markerTitle   = "sluice state directory\n"
	markerBytes   = 4 << 10 // more than any marker has
	formatVersion = 1
)

// marker is what the file says.
type marker struct {
	id string
	// wal is a write-ahead log that existed when the marker was written: logs
	// older than it may be gone, it or a newer one may not. 0 while the database
	// is being made and nothing was committed yet.
	wal uint64
	// last is a sequence number that had been synced by then: the write that had
	// it, or a later one, is in the database.
	last uint64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (m marker) encode() []byte {
	b := fmt.Appendf(nil, "%sformat %d\nid %s\nwal %d\nlast %d\n", markerTitle, formatVersion, m.id, m.wal, m.last)
	return fmt.Appendf(b, "sum %08x\n", crc32.Checksum(b, castagnoli))
}

// parseMarker wraps ErrDamaged or ErrVersion.
func parseMarker(b []byte) (marker, error) {
	body, sum, _ := bytes.Cut(b, []byte("sum "))
	if want := fmt.Appendf(nil, "%08x\n", crc32.Checksum(body, castagnoli)); !bytes.Equal(sum, want) {
		return marker{}, fmt.Errorf("%w: the file %s is cut off or changed", store.ErrDamaged, markerName)
	}
	var m marker
	var format int
	n, err := fmt.Sscanf(string(body), markerTitle+"format %d\n", &format)
	if n == 1 && format > formatVersion {
		return marker{}, fmt.Errorf("%w: format %d, this program knows %d", store.ErrVersion, format, formatVersion)
	}
	if err == nil {
		_, err = fmt.Sscanf(string(body), markerTitle+"format 1\nid %s\nwal %d\nlast %d\n", &m.id, &m.wal, &m.last)
	}
	if err != nil {
		return marker{}, fmt.Errorf("%w: the file %s cannot be read: %v", store.ErrDamaged, markerName, err)
	}
	return m, nil
}

func readMarker(fs vfs.FS, path string) (marker, error) {
	f, err := fs.Open(fs.PathJoin(path, markerName))
	if err != nil {
		return marker{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, markerBytes))
	if err != nil {
		return marker{}, err
	}
	return parseMarker(b)
}

// writeMarker replaces the marker; when it returns nil, the new one survives a
// power cut, and else the old one does.
func writeMarker(fs vfs.FS, path string, m marker) error {
	temp := fs.PathJoin(path, markerTemp)
	f, err := fs.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(m.encode())
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = fs.Rename(temp, fs.PathJoin(path, markerName))
	}
	if err == nil {
		err = syncDir(fs, path)
	}
	return err
}

func syncDir(fs vfs.FS, path string) error {
	d, err := fs.OpenDir(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

package files

import (
	"context"
	"crypto/sha256"
	"hash"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// stage writes the temporary file and removes it again unless all went well,
// a panic of the batch's iterator included.
func (w *Writer[T]) stage(ctx context.Context, d disk, b sinks.Batch[T]) (_ sinks.Staged, err error) {
	t, err := w.folder.newTemp(d)
	if err != nil {
		return sinks.Staged{}, err
	}
	done := false
	defer func() {
		if !done {
			t.abandon()
		}
	}()
	records, failed, err := writeRecords(ctx, t, w.format, b)
	if err != nil {
		return sinks.Staged{}, err
	}
	if records == 0 && len(failed) > 0 {
		return sinks.Staged{Token: token{destination: b.Destination, window: b.Window}.encode(), Failed: failed}, nil
	}
	if err := t.finish(); err != nil {
		return sinks.Staged{}, err
	}
	done = true
	tok := token{temp: t.name, destination: b.Destination, window: b.Window, records: records, bytes: t.bytes}
	t.sum.Sum(tok.sum[:0])
	return sinks.Staged{Token: tok.encode(), Failed: failed}, nil
}

// recordsPerCheck is how often writeRecords looks at its context.
const recordsPerCheck = 256

// writeRecords returns how many records are in t and which failed for good.
func writeRecords[T any](ctx context.Context, t *temp, f Format[T], b sinks.Batch[T]) (int64, []sinks.FailedRecord, error) {
	var records int64
	var failed []sinks.FailedRecord
	seen := 0
	for r, err := range b.All {
		if err != nil {
			return 0, nil, err
		}
		if seen++; seen%recordsPerCheck == 1 && ctx.Err() != nil {
			return 0, nil, ctx.Err()
		}
		buf, err := f.appendTo(t.buf, r.Value)
		if err != nil {
			failed = append(failed, sinks.FailedRecord{ID: r.ID, Err: fault.Errorf(fault.Permanent, "files: encode record %v: %w", r.ID, err)})
			continue
		}
		records++
		if err := t.add(buf); err != nil {
			return 0, nil, err
		}
	}
	return records, failed, nil
}

// temp is a temporary file that is being written.
type temp struct {
	folder *folder
	disk   disk
	name   string // in tempDir
	file   file
	buf    []byte // encoded and not yet written
	bytes  int64  // written
	sum    hash.Hash
}

// flushBytes is how much is gathered before it is written.
const flushBytes = 64 << 10

func (f *folder) newTemp(d disk) (*temp, error) {
	if err := f.makeDir(d, tempDir); err != nil {
		return nil, err
	}
	t := &temp{folder: f, disk: d, name: newTempName(f.owner), buf: make([]byte, 0, flushBytes+flushBytes/4), sum: sha256.New()}
	file, err := d.create(t.path())
	if err != nil {
		d.remove(t.path()) // nobody else has this name
		return nil, f.fault("create", t.path(), err)
	}
	t.file = file
	return t, nil
}

func (t *temp) path() string { return tempDir + "/" + t.name }

// add takes buf, which is t.buf with records appended.
func (t *temp) add(buf []byte) error {
	t.buf = buf
	if len(t.buf) < flushBytes {
		return nil
	}
	return t.flush()
}

func (t *temp) flush() error {
	t.sum.Write(t.buf) // never fails
	if _, err := t.file.Write(t.buf); err != nil {
		return t.folder.fault("write", t.path(), err)
	}
	t.bytes += int64(len(t.buf))
	t.buf = t.buf[:0]
	return nil
}

// finish makes content and name durable.
func (t *temp) finish() error {
	if err := t.flush(); err != nil {
		return err
	}
	if !t.folder.noSync {
		if err := t.file.Sync(); err != nil {
			return t.folder.fault("sync", t.path(), err)
		}
	}
	if err := t.file.Close(); err != nil {
		return t.folder.fault("close", t.path(), err)
	}
	return t.folder.sync(t.disk, tempDir)
}

// abandon removes the file. Its own errors are dropped: the error that led here
// is told, and Recover of the next run removes what is left.
func (t *temp) abandon() {
	t.file.Close()
	t.disk.remove(t.path())
}

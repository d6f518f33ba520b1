// Package pebble answers the question "where does a pipeline in production keep
// its state?": in a directory of its own on this machine's disk, through the
// Pebble storage engine. Its main noun is [Dir].
//
// The life of a change: Commit writes the blobs of a commit's deltas, as they
// are, with the region's epoch in one batch to the write-ahead log and waits for
// the sync. That is the delta log: one entry per delta, so that what a record
// costs on the way to the acks is a copy. Later the entries of a space are folded:
// their records are sorted by row, what overtakes itself is dropped, and the rest
// becomes rows; rows and the deletion of the entries are one batch. A space is
// folded when somebody scans it, and all spaces when the log has grown; entries
// that wait at Close are found again by the next Open.
//
// Invariants, beside those of package store:
//  1. Rows change by folding only, and only entries whose sync has returned are
//     folded. So a scan never shows what a power cut could still take back.
//  2. The entries of a space are folded in the order of their sequence numbers,
//     which is the order of their commits in the write-ahead log; all entries of
//     one commit in one batch.
//  3. A directory without our marker is made ours only if it is empty; in a
//     directory that is refused nothing is written, renamed or removed.
//  4. After a failed write, or damage found while running, nothing is known about
//     the disk any more: every further call fails with that first error, and only
//     another Open, which reads what is there, gets out of it.
//  5. The marker names a write-ahead log and a write; at Open these or newer ones
//     are there. So after Close every missing byte is noticed; after a crash, all
//     but damage in the last 32 KiB of the log, which looks like what a crash does.
//
// Format of a directory, version 1: the file SLUICE (see marker.go) and a Pebble
// database whose keys are listed in keys.go.
//
// It does not know what rows mean, never folds merge operands, and does not
// replicate: a commit is as safe as this disk.
//
// Goroutines:
//
//	name     started by  stopped by  what only it may touch
//	folder   Open        Close       nothing; it folds under each space's lock
//	Pebble's own (flush, compaction, log writer, cleaner) run between Open and Close.
package pebble

import (
	"log/slog"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gosluice/sluice/core/store"
)

// Option changes how a directory is opened.
type Option func(*options)

type options struct {
	mustExist bool
	fs        vfs.FS
	logger    *slog.Logger
	foldBytes int64 // unfolded bytes that start the folder
}

// MustExist refuses a directory that is not a state directory yet, instead of
// making one: for a pipeline that is known to have state, so that a mistyped path
// or a disk that was not mounted does not start it from nothing. The error wraps
// [io/fs.ErrNotExist].
func MustExist() Option { return func(o *options) { o.mustExist = true } }

// WithFS puts the directory on fs; it is for tests that inject faults. The
// default is the operating system's.
func WithFS(fs vfs.FS) Option { return func(o *options) { o.fs = fs } }

// WithLogger sets where errors in the background are logged, and Pebble's own
// messages on level debug. The default is slog.Default.
func WithLogger(l *slog.Logger) Option { return func(o *options) { o.logger = l } }

// Dir returns an opener for the state directory path, which is made, with its
// parents, if it is missing. Nothing happens before Open. Its errors name the
// path and what to do, and wrap
//
//   - [store.ErrLocked]: a process has the directory open, this one included;
//   - [store.ErrForeign]: it holds other things, or is no directory;
//   - [store.ErrVersion]: a newer version of this module wrote it;
//   - [store.ErrDamaged]: a file is missing, cut off or changed;
//   - the operating system's error where that failed.
func Dir(path string, opts ...Option) store.Opener {
	d := &dir{path: path, options: options{foldBytes: foldBytesDefault}}
	for _, opt := range opts {
		opt(&d.options)
	}
	return d
}

type dir struct {
	path string
	options
}

// String names the place for messages.
func (d *dir) String() string { return "pebble:" + d.path }

// files returns the file system, and the directory's one name on it: two paths to
// a directory of the operating system must meet the same lock.
func (d *dir) files() (vfs.FS, string, error) {
	if d.fs != nil {
		return d.fs, d.path, nil
	}
	path, err := filepath.Abs(d.path)
	if err != nil {
		return nil, "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return vfs.Default, path, nil
}

func (d *dir) log() *slog.Logger {
	if d.logger == nil {
		return slog.Default()
	}
	return d.logger
}

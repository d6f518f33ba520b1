// Package store is the contract for what must survive a crash: the state, the
// held rows, the source marks and the pending effects of a pipeline. Its main
// noun is [Commit]: everything one epoch of one region changes, written in one
// atomic, synced step.
//
// The life of a change: a worker appends records to a [Delta] while its epoch
// closes; the coordinator gathers the deltas of all workers into a Commit; the
// store makes it durable; after a crash the next run reads the rows back with
// [Store.Scan].
//
// Invariants every store keeps (package storetest checks them):
//  1. Atomic: after a crash either all of a commit is there or nothing.
//  2. Synced: when Commit returns nil, it survives a power cut.
//  3. In order: a commit of epoch e is refused unless e-1 is the region's last
//     ([ErrEpoch]); so a repeated commit is noticed, never applied twice.
//  4. Scans see whole commits only and return rows in ascending order of
//     (group, key). A row never changes after it was returned.
//  5. Merge operands are kept in order and never folded by the store: only the
//     worker that owns the row knows its CombineFn.
//  6. One process per directory.
package store

import (
	"context"
	"errors"
)

// Groups is the number of key groups that keys are hashed into.
const Groups = 256

// Group is one of the 256 ranges of hashed keys. Deltas are sectioned by group,
// so that a range of groups can be restored alone.
type Group uint8

// RegionID names a region of the pipeline, TransformID a transform. Both are
// allotted once per name and kept in the store's manifest.
type (
	RegionID    uint32
	TransformID uint32
)

// Kind separates the kinds of rows of one transform.
type Kind uint8

// The kinds of rows.
const (
	// State rows are cells and timers of keyed state.
	State Kind = iota + 1
	// Held rows are elements kept for a later epoch: a gate's, a batch's.
	Held
	// Effect rows are pending effects: their token and result.
	Effect
	// Mark rows are what a source's channel has committed, and how far the inputs of
	// other stages had come.
	Mark
	// Quarantined rows are elements set aside after their attempts ran out.
	Quarantined
)

// Space is where a delta's rows live.
type Space struct {
	Region    RegionID
	Kind      Kind
	Transform TransformID
}

// Row is one key with its value. Key and Value belong to the callee only during
// the call.
type Row struct {
	Group Group
	Key   []byte
	// Value is the last value put; nil if only merges came.
	Value []byte
	// Merges are the operands that came after Value, oldest first.
	Merges [][]byte
}

// Range selects the rows of a space with First <= Group <= Last and
// From <= Key < Below in each group. Empty From: from the start; empty Below: no limit.
type Range struct {
	Space
	First, Last Group
	From, Below []byte
}

// All selects every row of the space.
func (s Space) All() Range { return Range{Space: s, Last: Groups - 1} }

// Commit is all that one epoch of one region changes.
type Commit struct {
	Region RegionID
	// Epoch is one more than the region's last committed epoch; the first is 1.
	Epoch uint64
	// Deltas of all workers. Deltas of one commit do not overlap in rows.
	Deltas []*Delta
}

// Store keeps the committed rows of one pipeline. Safe for concurrent use.
type Store interface {
	// ID is the random identity the directory got when it was made.
	ID() string
	// Commit makes c durable. After an error the caller asks Epoch whether it was
	// applied. It may block for as long as the disk does.
	Commit(ctx context.Context, c *Commit) error
	// Epoch returns the region's last committed epoch, 0 before the first.
	Epoch(region RegionID) (uint64, error)
	// Scan calls fn for the rows of r in ascending order until fn returns false.
	// It sees one committed state throughout and may block on reads.
	Scan(r Range, fn func(Row) bool) error
	// Manifest returns what SetManifest wrote last, nil before.
	Manifest() ([]byte, error)
	// SetManifest replaces the manifest, synced.
	SetManifest(m []byte) error
	// Close releases the directory. Calls after it fail.
	Close() error
}

// Opener opens a store; the engine closes it.
type Opener interface {
	Open() (Store, error)
	// String names the place for messages: "pebble:/var/lib/orders".
	String() string
}

// Errors that stores return, wrapped with the place.
var (
	// ErrEpoch: a commit out of order.
	ErrEpoch = errors.New("epoch out of order")
	// ErrLocked: another process (or this one) has the directory open.
	ErrLocked = errors.New("state directory is in use by another process")
	// ErrForeign: the directory holds something that is not this store's.
	ErrForeign = errors.New("directory is not a state directory")
	// ErrDamaged: the store cannot be read whole.
	ErrDamaged = errors.New("state directory is damaged")
	// ErrVersion: the directory was written by a newer format.
	ErrVersion = errors.New("state directory has an unknown format version")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
)

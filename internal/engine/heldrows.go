package engine

import (
	"encoding/binary"
	"errors"

	"github.com/gosluice/sluice/core/store"
)

// HeldRows are the rows that one worker keeps for later epochs: queues of values,
// each under a prefix that no other queue's prefix begins with. A row's key is the
// prefix, the epoch that wrote it and its number in that epoch, so that a queue is
// read back in the order it was written.
//
// A queue that one worker opened lies in one group, its home, for ever: that of the
// worker at first, which after a change of parallelism need not be its owner's. So
// all of it moves together. known are the groups that hold rows.
type HeldRows struct {
	t     *Task
	own   store.Group
	known [store.Groups]bool // constant after Load: Scan reads it on other goroutines
	space store.Space
	delta *store.Delta
	epoch uint64
	n     uint32
	key   []byte
}

// Cursor is a place in a queue; the zero value is its start.
type Cursor struct {
	group store.Group
	key   []byte
}

// NewHeldRows are the rows of t's head.
func NewHeldRows(t *Task) *HeldRows {
	first, _ := t.Groups()
	space := t.Space(store.Held)
	r := &HeldRows{t: t, own: first, space: space, delta: store.NewDelta(space)}
	r.known[first] = true
	return r
}

// tail is how long a key is after its prefix: epoch and number.
const tail = 8 + 4

// Load calls fn with home, prefix and value of every committed row.
func (r *HeldRows) Load(fn func(home store.Group, prefix, value []byte) error) error {
	return r.t.Load(store.Held, func(row store.Row) error {
		r.known[row.Group] = true
		return fn(row.Group, row.Key[:len(row.Key)-tail], row.Value)
	})
}

// Own is the home of queues that this worker opens.
func (r *HeldRows) Own() store.Group { return r.own }

// Put appends value to a queue; home is Own or was told by Load. It becomes durable
// with the epoch.
func (r *HeldRows) Put(home store.Group, prefix []byte, epoch uint64, value []byte) {
	if epoch != r.epoch {
		r.epoch, r.n = epoch, 0
	}
	r.key = append(r.key[:0], prefix...)
	r.key = binary.BigEndian.AppendUint64(r.key, epoch)
	r.key = binary.BigEndian.AppendUint32(r.key, r.n)
	r.n++
	r.delta.Put(home, r.key, value)
}

// Scan reads up to limit committed rows of a queue after from, home by home, and
// returns where it stopped. It may be called from any goroutine while the head goes
// on.
func (r *HeldRows) Scan(prefix []byte, from Cursor, limit int, fn func(value []byte) error) (Cursor, error) {
	_, last := r.t.Groups()
	for g := max(from.group, r.own); limit > 0; g++ {
		if r.known[g] {
			part := store.Range{Space: r.space, First: g, Last: g, From: prefix, Below: KeyAfter(prefix)}
			if from.key != nil && g == from.group {
				part.From = append(append([]byte(nil), from.key...), 0)
			}
			err := r.t.load(part, func(row store.Row) error {
				from = Cursor{g, append([]byte(nil), row.Key...)}
				if err := fn(row.Value); err != nil {
					return err
				}
				if limit--; limit == 0 {
					return errEnough
				}
				return nil
			})
			if err != nil && err != errEnough {
				return from, err
			}
		}
		if g == last {
			break
		}
	}
	return from, nil
}

// errEnough ends a scan at its limit.
var errEnough = errors.New("enough")

// DeleteAll removes a queue with the epoch.
func (r *HeldRows) DeleteAll(prefix []byte) {
	below := KeyAfter(prefix)
	r.eachGroup(func(g store.Group) { r.delta.DeleteRange(g, prefix, below) })
}

// DeleteThrough removes the rows of a queue up to and including c with the epoch.
func (r *HeldRows) DeleteThrough(prefix []byte, c Cursor) {
	r.eachGroup(func(g store.Group) {
		switch {
		case g < c.group:
			r.delta.DeleteRange(g, prefix, KeyAfter(prefix))
		case g == c.group:
			r.delta.DeleteRange(g, prefix, append(append([]byte(nil), c.key...), 0))
		}
	})
}

func (r *HeldRows) eachGroup(f func(store.Group)) {
	for g, known := range r.known {
		if known {
			f(store.Group(g))
		}
	}
}

// Take returns the epoch's changes.
func (r *HeldRows) Take() []*store.Delta {
	if r.delta.Len() == 0 {
		return nil
	}
	d := r.delta
	r.delta = store.NewDelta(r.space)
	return []*store.Delta{d}
}

// KeyAfter is the smallest key that does not begin with prefix; nil: there is none.
func KeyAfter(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

package sinks

import (
	"encoding/binary"
	"time"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
)

// gathering is a batch on its way: open, being staged, or waiting to be published.
type gathering struct {
	destination string
	window      window.Window
	// prefix is that of its held rows: window, the epoch and number under which it
	// was opened, destination.
	prefix []byte
	home   store.Group
	phase  phase
	// low is the earliest record, high the latest.
	low, high event.Time
	since     time.Time // the first record, wall clock
	records   int
	bytes     int
	// stored counts rows of committed epochs; committing and fresh are encoded
	// records still in memory.
	stored            int
	committing, fresh [][]byte
	attempt           int
	retryAt           time.Time
}

type phase uint8

const (
	open     phase = iota
	due            // to be staged
	staging_       // the call is on its way
	pending        // staged: an effect of this or an earlier epoch
)

func newPrefix(w window.Window, epoch uint64, n uint32, destination string) []byte {
	p := window.AppendWindow(nil, w)
	p = binary.BigEndian.AppendUint64(p, epoch)
	p = binary.BigEndian.AppendUint32(p, n)
	p = binary.BigEndian.AppendUint16(p, uint16(len(destination)))
	return append(p, destination...)
}

// parsePrefix is the inverse of newPrefix, as far as a batch needs it.
func parsePrefix(p []byte) (*gathering, error) {
	w, rest, err := window.ReadWindow(p)
	if err != nil {
		return nil, err
	}
	const fixed = 8 + 4 + 2
	if len(rest) < fixed {
		return nil, coder.ErrMalformed
	}
	return &gathering{
		destination: string(rest[fixed:]), window: w, prefix: append([]byte(nil), p...),
		low: event.Max, high: event.Min,
	}, nil
}

// note counts a record.
func (b *gathering) note(t event.Time, size int) {
	b.records++
	b.bytes += size
	b.low, b.high = min(b.low, t), max(b.high, t)
}

// resultTime is the timestamp of the batch's results.
func (b *gathering) resultTime() event.Time {
	if b.window == window.GlobalWindow {
		return b.high
	}
	return b.window.Max()
}

// errGone ends a read that comes too late: the batch has been given up meanwhile, and
// was done by somebody else.
var errGone = fault.Errorf(fault.Closed, "the batch is gone")

// contents yields the records that b has now: those stored, then those in memory.
// It stays valid, and the same, while b gathers nothing more.
func contents[T any](b *gathering, rows *engine.HeldRows, c coder.Coder[element.Element[T]]) Batch[T] {
	stored, memory := b.stored, append(append([][]byte(nil), b.committing...), b.fresh...)
	prefix := b.prefix
	return Batch[T]{
		Destination: b.destination, Window: b.window, Len: stored + len(memory),
		All: func(yield func(Record[T], error) bool) {
			n, stopped := uint32(0), false
			emit := func(value []byte) error {
				e, err := c.Read(value)
				if err == nil && !yield(Record[T]{ID: RecordID{Ordinal: n}, Value: e.Value, Time: e.Time}, nil) {
					stopped = true
				}
				n++
				if stopped {
					return errStopped
				}
				return err
			}
			var err error
			if stored > 0 {
				_, err = rows.Scan(prefix, engine.Cursor{}, stored, emit)
				if err == nil && int(n) < stored {
					err = errGone
				}
			}
			for i := 0; err == nil && i < len(memory); i++ {
				err = emit(memory[i])
			}
			if err != nil && !stopped {
				yield(Record[T]{}, err)
			}
		},
	}
}

package core

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// quarantine keeps the elements of one transform and worker that were given up,
// as rows that are committed with the epoch.
//
// Row key: epoch, worker, number within the epoch (all big endian). Row value: the
// encoded element, length-prefixed, then the reason as JSON.
type quarantine[A any] struct {
	t     *engine.Task
	name  string
	coder coder.Coder[element.Element[A]]
	err   error
	delta *store.Delta
	space store.Space
	n     uint32
	// low is the earliest element set aside: a stage that is waited for holds its
	// watermark there (X16).
	low event.Time
}

type quarantineReason struct {
	Reason   string
	Attempts int
}

func newQuarantine[A any](t *engine.Task, n *plan.Node) *quarantine[A] {
	q := &quarantine[A]{t: t, name: n.Name, low: event.Max, space: t.SpaceOf(store.Quarantined, n.Transform)}
	q.delta = store.NewDelta(q.space)
	values, err := coder.For[A]()
	if err != nil {
		q.err = fmt.Errorf("%s cannot be quarantined: %w", n.Name, err)
	} else {
		q.coder = coder.Element(values)
	}
	t.OnDelta(q.take)
	t.OnOpen(q.load)
	t.OnHold(func() event.Time { return q.low })
	return q
}

func (q *quarantine[A]) add(e *element.Element[A], f Failed[A]) error {
	if q.err != nil {
		return q.err
	}
	value, err := q.coder.Append(nil, *e)
	if err != nil {
		return err
	}
	reason, err := json.Marshal(quarantineReason{f.Reason, f.Attempts})
	if err != nil {
		return err
	}
	key := binary.BigEndian.AppendUint64(nil, q.t.Epoch())
	key = binary.BigEndian.AppendUint16(key, uint16(q.t.Index))
	key = binary.BigEndian.AppendUint32(key, q.n)
	q.n++
	q.delta.Put(0, key, append(coder.AppendSized(nil, value), reason...))
	q.t.CountQuarantined(1)
	q.hold(e.Time)
	return nil
}

// hold keeps a signal that is derived from the stage behind t.
func (q *quarantine[A]) hold(t event.Time) {
	if t < q.low && q.t.Stage.Signalled {
		q.low = t
		q.t.HoldQuarantined(q.name, t)
	}
}

func (q *quarantine[A]) take(uint64) []*store.Delta {
	if q.delta.Len() == 0 {
		return nil
	}
	d := q.delta
	q.delta, q.n = store.NewDelta(q.space), 0
	return []*store.Delta{d}
}

// load finds the earliest element that was set aside before.
func (q *quarantine[A]) load() error {
	if q.err != nil || q.t.Index != 0 {
		return nil
	}
	return q.t.LoadAll(q.space, func(r store.Row) error {
		value, _, err := coder.ReadSized(r.Value)
		if err != nil {
			return err
		}
		e, err := q.coder.Read(value)
		if err != nil {
			return err
		}
		q.hold(e.Time)
		return nil
	})
}

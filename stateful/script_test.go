package stateful_test

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// ms and sec are instants as the cases write them.
func ms(n int64) event.Time  { return event.Millis(n) }
func sec(n int64) event.Time { return event.Millis(1000 * n) }

// step of a script: an element with its time, or how far the watermark goes.
type step[T any] struct {
	value     T
	at        event.Time
	watermark bool
}

func wm[T any](at event.Time) step[T]        { return step[T]{at: at, watermark: true} }
func el[T any](v T, at event.Time) step[T]   { return step[T]{value: v, at: at} }
func kv[K, V any](k K, v V) core.KV[K, V]    { return core.KV[K, V]{Key: k, Value: v} }
func all[T any](steps ...step[T]) *script[T] { return &script[T]{steps: steps, acked: map[int]bool{}} }

// script is a source that hands over its steps one by one, and ends; it keeps what
// was acknowledged over crashes.
type script[T any] struct {
	steps []step[T]
	// paced scripts hand over the released steps only.
	paced    bool
	released int
	wake     func()
	mu       sync.Mutex
	acked    map[int]bool
}

func (s *script[T]) Capabilities() source.Capabilities {
	return source.Capabilities{Positions: true, Confirmed: true, Readers: 1}
}

func (s *script[T]) Open(_ context.Context, o source.Options) (source.Reader, error) {
	s.wake = o.Wake
	return &scriptReader[T]{s: s}, nil
}

type scriptReader[T any] struct {
	s       *script[T]
	next    int
	started bool
}

func (r *scriptReader[T]) Poll(dst []source.Message) (p source.Polled, err error) {
	if !r.started {
		r.started = true
		p.Started = []source.Start{{Name: "script"}}
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for r.next < len(r.s.steps) && r.s.acked[r.next] {
		r.next++
	}
	if r.s.paced && r.next >= r.s.released {
		return p, nil
	}
	if r.next == len(r.s.steps) {
		p.Finished = true
		return p, nil
	}
	dst[0] = source.Message{Data: binary.AppendUvarint(nil, uint64(r.next)), Position: source.Position(r.next + 1)}
	r.next++
	p.N = 1
	return p, nil
}

func (r *scriptReader[T]) Settle(_ context.Context, list []source.Settlement) []source.Failure {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, x := range list {
		r.s.acked[int(x.Position)-1] = true
	}
	return nil
}

func (r *scriptReader[T]) Extend(context.Context, []source.Settlement) []source.Failure { return nil }
func (r *scriptReader[T]) Close(context.Context) error                                  { return nil }

// read makes the script a collection: the watermark of the source is the script's,
// whatever the times of the elements.
func (s *script[T]) read(p *core.Pipeline, windows window.Fn, lateness time.Duration) core.PCollection[T] {
	reached := make([]event.Time, len(s.steps))
	low := event.Min
	for i, x := range s.steps {
		if x.watermark {
			low = max(low, x.at)
		}
		reached[i] = low
	}
	number := func(m core.Message) (int, error) {
		n, _ := binary.Uvarint(m.Data)
		return int(n), nil
	}
	numbers, _ := core.Read(p, "script", s, number, core.ReadOptions[int]{
		EventTime: func(i int) time.Time { return reached[i].Time() }, Bounded: true,
	})
	g, in := numbers.Untyped()
	n := g.Add(&plan.Node{Name: "stamp", Kind: "Stamp", In: []plan.Input{{From: in, Route: engine.Forward}}})
	n.Fuse = func(_ *engine.Task, outs []any) (any, error) {
		next := outs[0].(core.Receiver[T])
		return core.Receiver[int](func(e *element.Element[int]) {
			if x := s.steps[e.Value]; !x.watermark {
				next(&element.Element[T]{Value: x.value, Time: x.at, Window: e.Window, Pane: e.Pane, Ref: e.Ref})
			}
		}), nil
	}
	stamped := core.NewOutput[T](g, n, numbers.Strategy(), true)
	return core.WindowInto(stamped, "windows", windows, core.WindowOptions{AllowedLateness: lateness})
}

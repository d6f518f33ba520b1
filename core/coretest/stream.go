package coretest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// Stream is an input of a case: what it holds, and how far its watermark is, is up
// to the script.
type Stream[T any] struct {
	core.PCollection[T]
	c *Case
	s *script
}

// NewStream adds an input called name. T must survive encoding/json. It is
// unbounded for the graph unless bounded.
func NewStream[T any](c *Case, name string, bounded bool) *Stream[T] {
	s := &script{name: name, watermark: event.Min}
	c.streams = append(c.streams, s)
	decode := func(m core.Message) (v T, err error) {
		err = json.Unmarshal(m.Data, &v)
		return v, err
	}
	elements, _ := core.Read(c.pipeline, name, s, decode, core.ReadOptions[T]{Bounded: bounded})
	return &Stream[T]{PCollection: elements, c: c, s: s}
}

// Add hands over elements, in one chunk.
func (s *Stream[T]) Add(elements ...Timed[T]) {
	messages := make([]source.Message, len(elements))
	for i, e := range elements {
		data, err := json.Marshal(e.Value)
		if err != nil {
			panic(fmt.Sprintf("coretest: %s: %v", s.s.name, err))
		}
		if e.Time >= event.Max {
			panic(fmt.Sprintf("coretest: %s: element %v is at MAX (L-09)", s.s.name, e.Value))
		}
		messages[i] = source.Message{Data: data, Time: e.Time, Attempt: 1}
	}
	s.c.act(fmt.Sprintf("%s: add %v", s.s.name, elements), func() { s.s.add(messages) })
}

// Watermark advances the stream's watermark. It must not go back, nor reach MAX: use
// [Stream.End].
func (s *Stream[T]) Watermark(t event.Time) {
	if t < s.s.scripted || t >= event.Max {
		panic(fmt.Sprintf("coretest: %s: watermark %v after %v (L-09): it goes forward, and ends with End", s.s.name, t, s.s.scripted))
	}
	s.s.scripted = t
	s.c.act(fmt.Sprintf("%s: watermark %v", s.s.name, t), func() { s.s.advance(t) })
}

// WatermarkAt is Watermark at ms milliseconds.
func (s *Stream[T]) WatermarkAt(ms int64) { s.Watermark(event.Millis(ms)) }

// End finishes the stream: its watermark is at MAX.
func (s *Stream[T]) End() { s.c.act(s.s.name+": end", s.s.end) }

// script is the source behind a stream. It keeps what is not settled, so that a
// reader that is opened again has it.
type script struct {
	name string
	// scripted is how far the script has come while it is written.
	scripted event.Time
	mu       sync.Mutex
	// The rest is guarded by mu.
	queue     []source.Message
	last      source.Position
	watermark event.Time
	ended     bool
	wake      func()
}

func (s *script) add(messages []source.Message) {
	s.mu.Lock()
	for _, m := range messages {
		s.last++
		m.Position = s.last
		s.queue = append(s.queue, m)
	}
	s.mu.Unlock()
	s.wakeUp()
}

func (s *script) advance(t event.Time) {
	s.mu.Lock()
	s.watermark = t
	s.mu.Unlock()
	s.wakeUp()
}

func (s *script) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.wakeUp()
}

func (s *script) wakeUp() {
	s.mu.Lock()
	wake := s.wake
	s.mu.Unlock()
	if wake != nil {
		wake()
	}
}

func (s *script) Capabilities() source.Capabilities {
	return source.Capabilities{Reject: true, Terminate: true, Positions: true, Confirmed: true, Readers: 1}
}

func (s *script) Open(_ context.Context, o source.Options) (source.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake != nil {
		return nil, fault.Errorf(fault.Permanent, "coretest: %s is read twice", s.name)
	}
	s.wake = o.Wake
	return &scriptReader{s: s}, nil
}

type scriptReader struct {
	s       *script
	started bool
}

func (r *scriptReader) Poll(dst []source.Message) (source.Polled, error) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	p := source.Polled{HasWatermark: true}
	if !r.started {
		r.started = true
		p.Started = []source.Start{{Name: s.name}}
	}
	p.N = copy(dst, s.queue)
	s.queue = s.queue[p.N:]
	p.Watermark = event.Min
	if len(s.queue) == 0 {
		p.Watermark = s.watermark
		p.Finished = s.ended
	}
	return p, nil
}

func (r *scriptReader) Settle(context.Context, []source.Settlement) []source.Failure { return nil }
func (r *scriptReader) Extend(context.Context, []source.Settlement) []source.Failure { return nil }
func (r *scriptReader) Close(context.Context) error                                  { return nil }

package engine

import (
	"github.com/cespare/xxhash/v2"

	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/store"
)

// batchElementsMax is how many elements a batch carries at most.
const batchElementsMax = 512

// flusher is the untyped half of a sender.
type flusher interface {
	flush()
	full() bool
}

// Sender moves elements of one worker to the workers of another stage.
type Sender[T any] struct {
	queues []*queue
	open   []*Elements[T]
	// key encodes the key of a keyed edge; nil: everything goes to queue 0.
	key     func(dst []byte, v *T) ([]byte, error)
	scratch []byte
	fail    func(error)
}

// Send copies e into the batch of its receiver.
func (s *Sender[T]) Send(e *element.Element[T]) {
	if s.key == nil {
		s.add(0, s.batch(0), e)
		return
	}
	key, err := s.key(s.scratch[:0], &e.Value)
	if err != nil {
		s.fail(err)
		return
	}
	s.scratch = key
	group := GroupOf(key)
	to := workerOf(group, len(s.queues))
	b := s.batch(to)
	b.keys = append(b.keys, key...)
	b.places = append(b.places, keyPlace{uint32(len(b.keys)), group})
	s.add(to, b, e)
}

// batch is the one that is being filled for that queue.
func (s *Sender[T]) batch(to int) *Elements[T] {
	if b := s.open[to]; b != nil {
		return b
	}
	return s.newBatch(to)
}

func (s *Sender[T]) newBatch(to int) (b *Elements[T]) {
	if old := s.queues[to].take(); old != nil {
		b = old.(*Elements[T])
	} else {
		b = &Elements[T]{Items: make([]element.Element[T], 0, 64)}
	}
	s.open[to] = b
	return b
}

func (s *Sender[T]) add(to int, b *Elements[T], e *element.Element[T]) {
	b.Items = append(b.Items, *e)
	if len(b.Items) >= batchElementsMax {
		s.flushTo(to)
	}
}

func (s *Sender[T]) flushTo(to int) {
	if b := s.open[to]; b != nil && len(b.Items) > 0 {
		s.open[to] = nil
		s.queues[to].push(item{kind: itemData, batch: b})
	}
}

func (s *Sender[T]) flush() {
	for to := range s.open {
		s.flushTo(to)
	}
}

func (s *Sender[T]) full() bool {
	for _, q := range s.queues {
		if q.full() {
			return true
		}
	}
	return false
}

// GroupOf is the key group of an encoded key: fixed for ever, since rows on disk
// are filed under it.
func GroupOf(key []byte) store.Group { return store.Group(xxhash.Sum64(key) >> 56) }

// workerOf is the worker that owns group when a stage has n workers: a contiguous
// range each.
func workerOf(g store.Group, n int) int { return int(g) * n / store.Groups }

// groupsOf is the range of groups that worker w of n owns.
func groupsOf(w, n int) (first, last store.Group) {
	lo := (w*store.Groups + n - 1) / n
	hi := ((w+1)*store.Groups+n-1)/n - 1
	return store.Group(lo), store.Group(hi)
}

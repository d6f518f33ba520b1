package engine

import (
	"sync"
	"sync/atomic"

	"github.com/gosluice/sluice/core/event"
)

// Batch is what travels in a queue: an *[Elements] of some type.
type Batch interface {
	Len() int
	reset()
}

type itemKind uint8

const (
	itemData itemKind = iota
	itemWatermark
	itemBarrier
)

type item struct {
	kind      itemKind
	batch     Batch
	watermark event.Time
	epoch     uint64
}

// queueLimit is how many batches a queue holds before its sender must wait.
const queueLimit = 4

// queue carries batches, watermarks and barriers from one sender to one
// receiver. The limit is soft: a sender looks before a step, and what that step
// makes is taken. Batches come back for reuse, so a steady flow allocates nothing.
type queue struct {
	// data counts batches waiting; read without the lock.
	data atomic.Int32
	some atomic.Int32
	wake func() // of the receiver
	room func() // of the sender
	mu   struct {
		sync.Mutex
		items []item
		head  int
		free  []Batch
	}
}

func (q *queue) full() bool { return q.data.Load() >= queueLimit }

func (q *queue) push(it item) {
	q.mu.Lock()
	items := q.mu.items
	if n := len(items); it.kind == itemWatermark && n > q.mu.head && items[n-1].kind == itemWatermark {
		items[n-1].watermark = it.watermark
		q.mu.Unlock()
		return
	}
	q.mu.items = append(items, it)
	if it.kind == itemData {
		q.data.Add(1)
	}
	q.some.Add(1)
	q.mu.Unlock()
	q.wake()
}

func (q *queue) pop() (item, bool) {
	if q.some.Load() == 0 {
		return item{}, false
	}
	q.mu.Lock()
	it := q.mu.items[q.mu.head]
	q.mu.items[q.mu.head] = item{}
	q.mu.head++
	if q.mu.head == len(q.mu.items) {
		q.mu.items, q.mu.head = q.mu.items[:0], 0
	}
	q.some.Add(-1)
	wasFull := false
	if it.kind == itemData {
		wasFull = q.data.Add(-1) == queueLimit-1
	}
	q.mu.Unlock()
	if wasFull {
		q.room()
	}
	return it, true
}

// recycle gives a batch back to the sender.
func (q *queue) recycle(b Batch) {
	b.reset()
	q.mu.Lock()
	if len(q.mu.free) < 2*queueLimit {
		q.mu.free = append(q.mu.free, b)
	}
	q.mu.Unlock()
}

// take returns a batch for reuse, nil if there is none.
func (q *queue) take() Batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.mu.free)
	if n == 0 {
		return nil
	}
	b := q.mu.free[n-1]
	q.mu.free = q.mu.free[:n-1]
	return b
}

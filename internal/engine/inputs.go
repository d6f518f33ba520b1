package engine

import "github.com/gosluice/sluice/core/event"

// input is one queue into a task: one sender of one input of its head.
type input struct {
	in        int
	signal    bool // watermarks and barriers only
	queue     *queue
	watermark event.Time
	// blocked: its barrier has arrived, it is not popped until all have.
	blocked bool
}

// inputs aligns barriers and takes the minimum of watermarks over senders.
type inputs struct {
	all []*input
	// loose is the mutation BarrierNotAligned.
	loose bool
	// marks[i] is the watermark of input i of the head: the minimum over its
	// senders; signals[i] says that it carries nothing else.
	marks   []event.Time
	signals []bool
	next    int
}

// newInputs starts every watermark where the last commit left it, MIN at first; a
// head without inputs has none.
func newInputs(all []*input, count int, marks []event.Time) inputs {
	in := inputs{all: all, marks: make([]event.Time, count), signals: make([]bool, count)}
	for i := range in.marks {
		in.marks[i] = event.Min
	}
	copy(in.marks, marks)
	for _, i := range all {
		i.watermark = event.Min
		in.signals[i.in] = i.signal
	}
	return in
}

// pop takes the next item of an input that is not blocked, in turn.
func (in *inputs) pop() (item, *input, bool) {
	n := len(in.all)
	for k := range n {
		i := in.all[(in.next+k)%n]
		if i.blocked {
			continue
		}
		if it, ok := i.queue.pop(); ok {
			in.next = (in.next + k + 1) % n
			return it, i, true
		}
	}
	return item{}, nil, false
}

// advance notes a sender's watermark and returns the head input's, and whether
// it moved. A watermark never goes back (H3).
func (in *inputs) advance(i *input, wm event.Time) (event.Time, bool) {
	i.watermark = max(i.watermark, wm)
	low := event.Max
	for _, o := range in.all {
		if o.in == i.in {
			low = min(low, o.watermark)
		}
	}
	if low <= in.marks[i.in] {
		return low, false
	}
	in.marks[i.in] = low
	return low, true
}

// block notes that i's barrier came and says whether all have.
func (in *inputs) block(i *input) bool {
	i.blocked = true
	if in.loose {
		return true
	}
	for _, o := range in.all {
		if !o.blocked {
			return false
		}
	}
	return true
}

func (in *inputs) unblock() {
	for _, i := range in.all {
		i.blocked = false
	}
}

// low is the task's input watermark: the minimum over its inputs, MAX if there
// are none (H4). Signals do not bound it (H5): what they hold back is held by the
// head.
func (in *inputs) low() event.Time {
	low := event.Max
	for i, m := range in.marks {
		if !in.signals[i] {
			low = min(low, m)
		}
	}
	return low
}

// finished says that every input is, signals included.
func (in *inputs) finished() bool {
	for _, m := range in.marks {
		if m != event.Max {
			return false
		}
	}
	return true
}

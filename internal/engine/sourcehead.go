package engine

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store"
)

// pollMessages is how many messages one step takes: small enough that the barrier
// is looked for often.
const pollMessages = 256

// Emit decodes a message and sends what it holds on. It returns the event time
// that the watermark policy observes, ok false where there is none (undecodable).
type Emit func(m *source.Message, ref element.Ref) (t event.Time, ok bool)

// sourceHead feeds a stage from a reader: unsettled deliveries of an abandoned
// epoch first, then what the broker has.
type sourceHead struct {
	BaseHead
	t        *Task
	rd       *reader
	emit     Emit
	disorder time.Duration
	replay   []acks.Entry[kept]
	seen     []progress
	// chunk is how many messages a step takes: fewer than pollMessages where a message
	// makes so many elements that the queues behind would grow past their limit.
	chunk int
	// watermark is the minimum over channels, next when to poll again unasked.
	watermark event.Time
	next      time.Time
	dirty     bool
	fresh     []*source.Message
}

// progress is how far this head has read one channel.
type progress struct {
	watermark event.Time
}

// NewSourceHead makes the head of a source stage. disorder is how far event times
// may lie behind the largest seen.
func NewSourceHead(t *Task, disorder time.Duration, emit Emit) Head {
	h := &sourceHead{
		t: t, rd: t.region.readerOf(t), emit: emit, disorder: disorder,
		replay: make([]acks.Entry[kept], pollMessages), chunk: pollMessages, watermark: event.Min,
	}
	t.source = h
	return h
}

// Open starts from what was committed: watermarks of channels known already.
func (h *sourceHead) Open() error {
	h.rd.task.Store(h.t)
	for _, c := range h.rd.channels {
		h.seen = append(h.seen, progress{watermark: c.watermark()})
	}
	h.lift()
	return nil
}

// poll moves one chunk into the bundle.
func (h *sourceHead) poll(now time.Time) (more bool, err error) {
	h.next = time.Time{}
	s := h.rd.ledger.Stats()
	if s.Replaying > 0 {
		if n := h.rd.ledger.Replay(h.replay); n > 0 {
			h.feedAgain(h.replay[:n])
			return true, nil
		}
	}
	if h.rd.stop.Load() {
		return false, nil
	}
	if h.rd.drain.Load() || h.rd.finished {
		h.finish()
		return false, nil
	}
	if !h.rd.ready.Load() {
		return false, nil
	}
	if h.overQuota(&s) {
		return false, nil
	}
	room := h.rd.pages.room(&s)
	p, err := h.rd.conn.Poll(room[:min(len(room), h.chunk)])
	if err != nil {
		return false, h.pollFailed(err, now)
	}
	if len(p.Started) > 0 {
		if err := h.started(p.Started); err != nil {
			return false, err
		}
		h.lift() // what was committed is announced before any element
		h.t.sendWatermark()
	}
	h.rd.finished = h.rd.finished || p.Finished
	h.rd.told = h.rd.told || p.HasWatermark
	for _, c := range p.Resolved {
		h.rd.ledger.Resolve(acks.Channel(c))
	}
	if p.N > 0 {
		h.t.Touch()
		h.feed(h.rd.pages.took(p.N), now)
		h.adapt(p.N)
	}
	if p.HasWatermark {
		h.tell(p.Watermark)
	}
	if p.N > 0 || p.HasWatermark || len(p.Resolved) > 0 {
		h.lift()
	}
	return p.N > 0 || p.Finished, nil
}

// adapt looks at what a step with so many messages left in the queues.
func (h *sourceHead) adapt(n int) {
	switch queued := h.t.queuedMost(); {
	case queued > queueLimit:
		h.chunk = max(1, h.chunk/2)
	case queued < queueLimit && n == h.chunk:
		h.chunk = min(2*h.chunk, pollMessages)
	}
}

// finish ends the watermark. It is not persisted: marks keep the last real one.
func (h *sourceHead) finish() {
	if h.watermark != event.Max {
		h.watermark = event.Max
		h.rd.ended.Store(true)
		h.t.setInputWatermark(event.Max)
		h.t.AskClose(true)
	}
}

// pollFailed lets a reader that recovers by itself try again a little later.
func (h *sourceHead) pollFailed(err error, now time.Time) error {
	switch fault.Of(err) {
	case fault.Transient, fault.Ambiguous, fault.Closed:
		h.t.region.degradedFrom("poll "+h.rd.name(), err)
		h.next = now.Add(retryFirst)
		return nil
	}
	return fault.As(fault.Permanent, fmt.Errorf("%s: %w", h.rd.name(), err))
}

func (h *sourceHead) started(list []source.Start) error {
	for _, s := range list {
		mark, wm, err := h.rd.loadMark(s.Name)
		if err != nil {
			return fmt.Errorf("%s: mark of channel %q: %w", h.rd.name(), s.Name, err)
		}
		if int(s.Channel) != len(h.rd.channels) {
			return fault.Errorf(fault.Bug, "%s: channel %q starts as number %d after %d others", h.rd.name(), s.Name, s.Channel, len(h.rd.channels))
		}
		start := acks.Start{Through: acks.Position(s.Through), Outstanding: s.Outstanding, Mark: mark}
		if err := h.rd.ledger.StartChannel(acks.Channel(s.Channel), start); err != nil {
			return fmt.Errorf("%s: channel %q: %w", h.rd.name(), s.Name, err)
		}
		h.rd.channels = append(h.rd.channels, newChannel(s.Name, h.t.region.directory.add(h.rd, s.Channel, s.Name), wm))
		h.seen = append(h.seen, progress{watermark: wm})
	}
	return nil
}

// feed puts new messages into the bundle. All of them are in the ledger before the
// first is processed: what fails in the middle loses none.
func (h *sourceHead) feed(messages []source.Message, now time.Time) {
	var polled, received time.Time // as polled, and by the clock of now
	fresh := h.fresh[:0]
	for i := range messages {
		m := &messages[i]
		if i == 0 || m.Received != polled {
			if polled, received = m.Received, now; !polled.IsZero() {
				received = now.Add(polled.Sub(now))
			}
		}
		h.rd.pages.note(len(m.Data), received)
		_, arrival := h.rd.ledger.TakeNew(acks.Channel(m.Channel), acks.Position(m.Position), kept{m, m.Handle}, len(m.Data), received, h.t.epoch)
		switch arrival {
		case acks.New:
			fresh = append(fresh, m)
		case acks.Committed:
			h.t.region.wake() // it is to be settled again
			fallthrough
		default:
			h.rd.counts.Duplicates.Add(1)
		}
	}
	h.rd.counts.Read.Add(int64(len(messages)))
	h.takeAll(fresh)
}

// feedAgain puts deliveries of an abandoned epoch into the bundle, all of them before
// the first is processed.
func (h *sourceHead) feedAgain(entries []acks.Entry[kept]) {
	h.t.Touch()
	again := h.fresh[:0]
	for i := range entries {
		if h.rd.ledger.Take(entries[i].Ref, h.t.epoch) {
			again = append(again, entries[i].Payload.message)
		}
	}
	clear(entries)
	h.rd.counts.Replayed.Add(int64(len(again)))
	h.takeAll(again)
	h.lift()
}

func (h *sourceHead) takeAll(list []*source.Message) {
	for _, m := range list {
		h.take(m)
	}
	clear(list)
	h.fresh = list[:0]
}

// take puts what a delivery of this bundle holds into the stage.
func (h *sourceHead) take(m *source.Message) {
	h.dirty = true
	if t, ok := h.emit(m, h.rd.channels[m.Channel].base|element.Ref(m.Position)); ok && !h.rd.told {
		p := &h.seen[m.Channel]
		p.watermark = max(p.watermark, t.Add(-h.disorder))
	}
}

// tell takes the reader's own watermark.
func (h *sourceHead) tell(wm event.Time) {
	for i := range h.seen {
		h.seen[i].watermark = max(h.seen[i].watermark, wm)
	}
}

// lift takes the minimum over channels. A channel whose earlier deliveries have
// not all come back stays at what was committed (section 9 of the architecture:
// redelivery cannot make data late).
func (h *sourceHead) lift() {
	low := event.Max
	for i, c := range h.rd.channels {
		wm := h.seen[i].watermark
		if _, resolved := h.rd.ledger.Prefix(acks.Channel(i)); !resolved {
			wm = c.watermark()
		}
		low = min(low, wm)
	}
	if len(h.rd.channels) > 0 && low > h.watermark {
		h.watermark = low
		h.t.setInputWatermark(low)
	}
}

// overQuota keeps what is unsettled within what the broker grants and memory
// allows; half of the quota asks for a close, if there is something to commit.
func (h *sourceHead) overQuota(s *acks.Stats) bool {
	quota := h.rd.stage.Source.Caps.Quota
	over := quota > 0 && s.Unsettled >= quota || s.Bytes >= unsettledBytesMax
	if h.dirty && (over || quota > 0 && s.Unsettled >= quota/2) {
		h.t.AskClose(true)
	}
	return over
}

// unsettledBytesMax bounds the payloads of unsettled deliveries of one reader.
const unsettledBytesMax = 256 << 20

// Data: a source has no input.
func (h *sourceHead) Data(int, Batch) error { return nil }

// Snapshot writes the marks of the channels as they are once this epoch is durable.
func (h *sourceHead) Snapshot(epoch uint64) []*store.Delta {
	if !h.dirty {
		return nil
	}
	h.dirty = false
	channels, marks := h.rd.channels, h.watermarks()
	h.t.AtCommit(func() {
		for i, c := range channels {
			c.committed.Store(int64(marks[i]))
		}
	})
	if h.t.region.store == nil {
		return nil
	}
	d := store.NewDelta(h.t.Space(store.Mark))
	for i, c := range channels {
		value, err := encodeMark(h.rd.ledger.Mark(acks.Channel(i), epoch), marks[i])
		if err != nil {
			h.t.Fail(fmt.Errorf("%s: mark of channel %q: %w", h.rd.name(), c.name, err))
		}
		d.Put(0, c.key, value)
	}
	return []*store.Delta{d}
}

// watermarks are those of the channels now, as far as they may be persisted.
func (h *sourceHead) watermarks() []event.Time {
	marks := make([]event.Time, len(h.rd.channels))
	for i, c := range h.rd.channels {
		marks[i] = c.watermark()
		if _, resolved := h.rd.ledger.Prefix(acks.Channel(i)); resolved {
			marks[i] = max(marks[i], h.seen[i].watermark)
		}
	}
	return marks
}

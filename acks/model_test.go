package acks

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The model: a broker that redelivers what it likes, a store that survives crashes,
// and between them a ledger under random orders. What must hold is checked at each
// step (F5, F16, F17, G5, G7, G9, G11, G13, G30):
//   - nothing is settled before it is durable, and with no other verdict than the
//     durable one;
//   - no message is processed twice, over any number of crashes;
//   - no mark takes anything back, and each says exactly what is durable;
//   - at the end, every message was processed and settled: none is forgotten.
func TestLedgerModelIndividual(t *testing.T) {
	for range 10 {
		rapid.Check(t, func(t *rapid.T) { newModel(t, Individual, false).run() })
	}
}

func TestLedgerModelContiguous(t *testing.T) {
	for range 10 {
		rapid.Check(t, func(t *rapid.T) { newModel(t, Contiguous, rapid.Bool().Draw(t, "offsets")).run() })
	}
}

// modelMessage is one message as the broker and the store see it.
type modelMessage struct {
	pos       Position
	delivered bool // at least once
	settled   bool // acked or terminated, at the broker
	processed int  // how often its processing became durable
	final     bool // processed or terminated, durably
	rejected  bool // its last durable verdict
	// For the run that lives: it came again since the start.
	back bool
}

type model struct {
	t       *rapid.T
	mode    Mode
	offsets bool // the broker restarts reading behind what was settled
	l       *Ledger[int]
	keeper  *LeaseKeeper[int]
	now     time.Time
	msgs    []*modelMessage
	next    int // first message not delivered by the run that lives
	mark    []byte
	epoch   uint64
	// committed is the newest epoch that is.
	committed uint64
	serial    int
	// bundles: what each epoch that is not committed has taken.
	bundles  map[uint64]map[Position]Action
	fresh    []Ref
	blocked  map[Position]bool
	settling [][]Settlement[int]
	told     Position // contiguous: what the broker was told last
}

func newModel(t *rapid.T, mode Mode, offsets bool) *model {
	m := &model{t: t, mode: mode, offsets: offsets, now: time.Unix(1e9, 0), epoch: 1}
	var pos Position
	for range rapid.IntRange(1, 40).Draw(t, "messages") {
		pos += Position(rapid.SampledFrom([]int{1, 1, 1, 2, 7}).Draw(t, "gap"))
		m.msgs = append(m.msgs, &modelMessage{pos: pos})
	}
	m.start()
	return m
}

func (m *model) run() {
	m.t.Repeat(map[string]func(*rapid.T){
		"deliver":   func(t *rapid.T) { m.deliver(t) },
		"deliver2":  func(t *rapid.T) { m.deliver(t) },
		"redeliver": func(t *rapid.T) { m.redeliver(t) },
		"take":      func(t *rapid.T) { m.take(t) },
		"judge":     func(t *rapid.T) { m.judge(t) },
		"close":     func(*rapid.T) { m.epoch++ },
		"commit":    func(t *rapid.T) { m.commit(rapid.Uint64Range(max(1, m.epoch-1), m.epoch).Draw(t, "epoch")) },
		"abort":     func(*rapid.T) { m.abort() },
		"replay":    func(t *rapid.T) { m.replay(rapid.IntRange(1, 5).Draw(t, "n")) },
		"due":       func(t *rapid.T) { m.due(rapid.IntRange(0, 4).Draw(t, "n")) },
		"settle":    func(t *rapid.T) { m.settle(t) },
		"unblock":   func(t *rapid.T) { m.unblock(t) },
		"crash":     func(t *rapid.T) { m.crash(rapid.Bool().Draw(t, "after the store's commit")) },
		"leases":    func(*rapid.T) { m.leases() },
		"":          func(*rapid.T) { m.check() },
	})
	m.drain()
}

func (m *model) find(pos Position) *modelMessage {
	i, ok := slices.BinarySearchFunc(m.msgs, pos, func(a *modelMessage, p Position) int { return int(a.pos) - int(p) })
	if !ok {
		m.t.Fatalf("no message at %d", pos)
	}
	return m.msgs[i]
}

// start begins a run: from nothing, or from the mark in the store.
func (m *model) start() {
	m.l = NewLedger[int](m.mode)
	m.keeper = NewLeaseKeeper(m.l, Lease{Duration: time.Minute}, nil)
	var s Start
	if m.mark != nil {
		mark, err := ParseMark(m.mark)
		if err != nil {
			m.t.Fatal(err)
		}
		s.Mark = mark
	}
	m.bundles, m.blocked = map[uint64]map[Position]Action{}, map[Position]bool{}
	m.fresh, m.settling = nil, nil
	m.told = 0
	m.next = 0
	for i, msg := range m.msgs {
		msg.back = false
		if msg.settled {
			m.told = msg.pos
		}
		switch {
		case !msg.delivered, m.offsets && !msg.settled:
			continue
		case !msg.settled:
			s.Outstanding++
		}
		m.next, s.Through = i+1, msg.pos
	}
	if m.offsets {
		s.Through = 0
	}
	if err := m.l.StartChannel(0, s); err != nil {
		m.t.Fatal(err)
	}
}

// hand gives one delivery to the ledger.
func (m *model) hand(t *rapid.T, msg *modelMessage) {
	m.serial++
	msg.delivered, msg.back = true, true
	m.now = m.now.Add(time.Millisecond)
	var ref Ref
	var arrival Arrival
	held := m.holds(msg.pos)
	taken := rapid.Bool().Draw(t, "at once")
	var epoch uint64
	if taken {
		epoch = m.drawEpoch(t)
		ref, arrival = m.l.TakeNew(0, msg.pos, m.serial, 10, m.now, epoch)
	} else {
		ref, arrival = m.l.Receive(0, msg.pos, m.serial, 10, m.now)
	}
	if ref != MakeRef(0, msg.pos) {
		t.Fatalf("%d became %v", msg.pos, ref)
	}
	switch {
	case arrival == New && (msg.final || held),
		arrival == Committed && !msg.final && !msg.rejected,
		arrival == InFlight && (msg.final || !held),
		arrival == Refused:
		t.Fatalf("%+v (held %v) is %d", *msg, held, arrival)
	}
	if arrival == New {
		if taken {
			m.put(msg.pos, epoch)
		} else {
			m.fresh = append(m.fresh, ref)
		}
	}
}

// holds says whether the run has pos in hand and undecided.
func (m *model) holds(pos Position) bool {
	for _, b := range m.bundles {
		if _, ok := b[pos]; ok {
			return true
		}
	}
	s := m.l.find(MakeRef(0, pos))
	return s == fresh || s == waiting || s == blocked
}

// find is the state of a delivery, for tests; states if it is not held.
func (l *Ledger[P]) find(ref Ref) state {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, d := l.mu.book.find(ref); d != nil {
		return d.state
	}
	return states
}

// drawEpoch is the one that fills, or the one before if it is not committed.
func (m *model) drawEpoch(t *rapid.T) uint64 {
	return rapid.Uint64Range(max(m.committed+1, m.epoch-1), m.epoch).Draw(t, "into")
}

func (m *model) put(pos Position, epoch uint64) {
	if m.bundles[epoch] == nil {
		m.bundles[epoch] = map[Position]Action{}
	}
	m.bundles[epoch][pos] = Acked
}

func (m *model) deliver(t *rapid.T) {
	if m.next == len(m.msgs) {
		t.Skip("all delivered")
	}
	m.next++
	m.hand(t, m.msgs[m.next-1])
}

func (m *model) redeliver(t *rapid.T) {
	var open []*modelMessage
	for _, msg := range m.msgs[:m.next] {
		if msg.delivered && !msg.settled {
			open = append(open, msg)
		}
	}
	if len(open) == 0 {
		t.Skip("nothing outstanding")
	}
	m.hand(t, rapid.SampledFrom(open).Draw(t, "message"))
}

func (m *model) take(t *rapid.T) {
	if len(m.fresh) == 0 {
		t.Skip("nothing fresh")
	}
	i := rapid.IntRange(0, len(m.fresh)-1).Draw(t, "which")
	ref := m.fresh[i]
	m.fresh = slices.Delete(m.fresh, i, i+1)
	epoch := m.drawEpoch(t)
	if !m.l.Take(ref, epoch) {
		t.Fatalf("%v is not there to take", ref)
	}
	m.put(ref.Position(), epoch)
}

func (m *model) judge(t *rapid.T) {
	b := m.bundles[m.epoch]
	if len(b) == 0 {
		t.Skip("empty bundle")
	}
	pos := rapid.SampledFrom(sortedKeys(b)).Draw(t, "which")
	v := rapid.SampledFrom([]Verdict{Ack(), Block("b"), Reject(time.Second, "r"), Terminate("t")}).Draw(t, "verdict")
	err := m.l.Verdict(MakeRef(0, pos), v)
	if refused := m.mode == Contiguous && (v.Action == Rejected || v.Action == Terminated); refused != (err != nil) {
		t.Fatalf("verdict %v: %v", v, err)
	} else if !refused {
		b[pos] = v.Action
	}
}

func sortedKeys[V any](of map[Position]V) (keys []Position) {
	for k := range of {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// persist is the store's commit of the epochs up to epoch.
func (m *model) persist(epoch uint64) {
	mark := m.l.Mark(0, epoch)
	if m.mark != nil {
		prev, _ := ParseMark(m.mark)
		if err := mark.Follows(prev); err != nil {
			m.t.Fatalf("%+v after %+v: %v", mark, prev, err)
		}
	}
	for e, b := range m.bundles {
		if e > epoch {
			continue
		}
		for pos, action := range b {
			msg := m.find(pos)
			msg.rejected = action == Rejected
			msg.final = action == Acked || action == Terminated
			if action == Acked {
				msg.processed++
			}
		}
	}
	for _, msg := range m.msgs {
		if mark.Has(msg.pos) != msg.final {
			m.t.Fatalf("mark %+v says %v of %+v", mark, mark.Has(msg.pos), *msg)
		}
		if msg.processed > 1 {
			m.t.Fatalf("%+v was processed twice", *msg)
		}
	}
	var err error
	if m.mark, err = mark.AppendBinary(nil); err != nil {
		m.t.Fatal(err)
	}
	m.sameEitherWay(epoch, mark)
}

// sameEitherWay compares the quick way to a mark with the long one.
func (m *model) sameEitherWay(epoch uint64, mark Mark) {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	long, err := m.l.mu.book.channels[0].mark(epoch, nil, nil).public().AppendBinary(nil)
	if err != nil || !bytes.Equal(long, m.mark) {
		m.t.Fatalf("%+v the quick way, %x the long way (%v)", mark, long, err)
	}
}

func (m *model) commit(epoch uint64) {
	m.persist(epoch)
	m.l.Commit(epoch)
	for e, b := range m.bundles {
		if e > epoch {
			continue
		}
		for pos, action := range b {
			if action == Blocked {
				m.blocked[pos] = true
			}
		}
		delete(m.bundles, e)
	}
	m.committed = max(m.committed, epoch)
	m.epoch = max(m.epoch, epoch+1)
}

func (m *model) abort() {
	m.l.Abort()
	m.committed = m.epoch
	m.epoch++
	m.bundles = map[uint64]map[Position]Action{}
	m.fresh = nil
}

func (m *model) replay(n int) {
	dst := make([]Entry[int], n)
	var last Position
	for _, e := range dst[:m.l.Replay(dst)] {
		if e.Ref.Position() <= last {
			m.t.Fatalf("replay of %v after %d", e.Ref, last)
		}
		last = e.Ref.Position()
		if !m.l.Take(e.Ref, m.epoch) {
			m.t.Fatalf("%v is not there to take", e.Ref)
		}
		m.put(last, m.epoch)
	}
}

func (m *model) unblock(t *rapid.T) {
	if len(m.blocked) == 0 {
		t.Skip("nothing blocked")
	}
	pos := rapid.SampledFrom(sortedKeys(m.blocked)).Draw(t, "which")
	delete(m.blocked, pos)
	if rapid.Bool().Draw(t, "replay it") {
		if !m.l.Unblock(MakeRef(0, pos)) {
			t.Fatalf("%d was not blocked", pos)
		}
		return
	}
	if !m.l.Take(MakeRef(0, pos), m.epoch) {
		t.Fatalf("%d is not there to take", pos)
	}
	m.put(pos, m.epoch)
}

func (m *model) due(limit int) {
	batch := m.l.Due(nil, limit)
	for _, s := range batch {
		msg := m.find(s.Ref.Position())
		switch {
		case s.Verdict.Action == Rejected && !msg.rejected, s.Verdict.Action != Rejected && !msg.final, s.Verdict.Action == Blocked:
			m.t.Fatalf("%+v is due with %v", *msg, s.Verdict)
		case m.mode == Contiguous && msg.pos <= m.told:
			m.t.Fatalf("%d is due after %d", msg.pos, m.told)
		}
		for _, before := range m.msgs {
			if m.mode == Contiguous && before.pos <= msg.pos && !before.final {
				m.t.Fatalf("due at %d speaks for %+v", msg.pos, *before)
			}
		}
	}
	if len(batch) > 0 {
		m.settling = append(m.settling, batch)
	}
}

// settle ends one settle call: each delivery is confirmed, or failed before or
// after the broker did it, or lost.
func (m *model) settle(t *rapid.T) {
	if len(m.settling) == 0 {
		t.Skip("nothing settling")
	}
	i := rapid.IntRange(0, len(m.settling)-1).Draw(t, "which")
	batch := m.settling[i]
	m.settling = slices.Delete(m.settling, i, i+1)
	var failed []Failure
	for _, s := range batch {
		switch rapid.SampledFrom([]string{"done", "done", "failed before", "failed after", "lost"}).Draw(t, "outcome") {
		case "done":
			m.tell(s, true)
		case "failed after":
			m.tell(s, false)
			failed = append(failed, Failure{Ref: s.Ref})
		case "failed before":
			failed = append(failed, Failure{Ref: s.Ref})
		case "lost":
			failed = append(failed, Failure{Ref: s.Ref, Lost: true})
		}
	}
	m.l.Settled(batch, failed...)
}

// tell is the broker doing what it is told.
func (m *model) tell(s Settlement[int], confirmed bool) {
	pos := s.Ref.Position()
	switch {
	case m.mode == Contiguous:
		for _, msg := range m.msgs {
			msg.settled = msg.settled || msg.pos <= pos
		}
		if confirmed {
			m.told = max(m.told, pos)
		}
	case s.Verdict.Action != Rejected:
		m.find(pos).settled = true
	}
}

func (m *model) crash(persisted bool) {
	if persisted {
		m.persist(m.epoch)
	}
	m.committed = m.epoch
	m.epoch++
	m.start()
}

// check is what holds between any two steps.
func (m *model) check() {
	s := m.l.Stats()
	if sum := s.Unread + s.Replaying + s.Reading + s.Blocked + s.Durable + s.Due + s.Settling; sum != s.Unsettled || s.Bytes != int64(10*sum) {
		m.t.Fatalf("counts do not add up: %+v", s)
	}
	if n := len(m.l.Unsettled(nil)); n != s.Unsettled {
		m.t.Fatalf("%d unsettled, %d counted", n, s.Unsettled)
	}
	pos, resolved := m.l.Prefix(0)
	for _, msg := range m.msgs[:m.next] {
		if resolved && msg.pos <= pos && !msg.final && !msg.rejected && !m.reads(msg.pos) {
			m.t.Fatalf("prefix %d passes %+v", pos, *msg)
		}
	}
}

func (m *model) reads(pos Position) bool {
	for _, b := range m.bundles {
		if _, ok := b[pos]; ok {
			return true
		}
	}
	return false
}

// leases: every delivery that is held, and no other, has one that runs out (G28).
func (m *model) leases() {
	m.now = m.now.Add(time.Hour)
	var held, asked []Ref
	for _, e := range m.l.Unsettled(nil) {
		held = append(held, e.Ref)
	}
	for _, e := range m.keeper.Due(nil, 0, m.now) {
		asked = append(asked, e.Ref)
	}
	slices.Sort(held)
	slices.Sort(asked)
	if !slices.Equal(held, asked) {
		m.t.Fatalf("leases of %v, held are %v", asked, held)
	}
}

// drain ends all faults: everything must get settled.
func (m *model) drain() {
	for round := 0; ; round++ {
		if round > 10 {
			m.t.Fatalf("does not end: %+v", m.l.Stats())
		}
		for _, b := range m.settling {
			m.l.Settled(b)
			for _, s := range b {
				m.tell(s, true)
			}
		}
		m.settling = nil
		for pos := range m.blocked {
			m.l.Unblock(MakeRef(0, pos))
		}
		m.blocked = map[Position]bool{}
		m.abort()
		m.replay(len(m.msgs))
		left := 0
		for i, msg := range m.msgs {
			if msg.settled {
				continue
			}
			left++
			m.next = max(m.next, i+1)
			m.serial++
			msg.delivered = true
			if _, arrival := m.l.TakeNew(0, msg.pos, m.serial, 10, m.now, m.epoch); arrival == New {
				m.put(msg.pos, m.epoch)
			}
		}
		if left == 0 {
			break
		}
		m.commit(m.epoch)
		m.due(0)
	}
	for _, msg := range m.msgs {
		if !msg.final || msg.processed > 1 {
			m.t.Fatalf("%+v at the end", *msg)
		}
	}
}

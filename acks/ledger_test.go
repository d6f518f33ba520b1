package acks

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

// bench is a ledger with one started channel, for tests that read like a log.
type bench struct {
	*Ledger[string]
	t *testing.T
}

func newBench(t *testing.T, mode Mode, s Start) bench {
	t.Helper()
	l := NewLedger[string](mode)
	if err := l.StartChannel(0, s); err != nil {
		t.Fatal(err)
	}
	return bench{l, t}
}

// take receives positions into the bundle of epoch; each must be New.
func (b bench) take(epoch uint64, positions ...Position) {
	b.t.Helper()
	for _, p := range positions {
		if _, a := b.TakeNew(0, p, fmt.Sprint("m", p), 1, noon, epoch); a != New {
			b.t.Fatalf("%d is %v, not New", p, a)
		}
	}
}

func (b bench) copy(p Position, want Arrival) {
	b.t.Helper()
	if _, a := b.Receive(0, p, fmt.Sprint("copy of m", p), 1, noon); a != want {
		b.t.Fatalf("copy of %d is %v, not %v", p, a, want)
	}
}

func (b bench) judge(p Position, v Verdict) {
	b.t.Helper()
	if err := b.Verdict(MakeRef(0, p), v); err != nil {
		b.t.Fatal(err)
	}
}

// due takes all that is due and checks it.
func (b bench) due(want ...string) []Settlement[string] {
	b.t.Helper()
	batch := b.Due(nil, 0)
	var got []string
	for _, s := range batch {
		got = append(got, fmt.Sprintf("%s %s", s.Payload, s.Verdict.Action))
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("due: %q, not %q", got, want)
	}
	return batch
}

func (b bench) mark(epoch uint64, want string) {
	b.t.Helper()
	if got := fmt.Sprint(b.Mark(0, epoch)); got != want {
		b.t.Fatalf("mark at %d: %s, not %s", epoch, got, want)
	}
}

// F2, G11, G13: what is read is settled only once its epoch is durable.
func TestNothingIsDueBeforeItsCommit(t *testing.T) {
	b := newBench(t, Individual, Start{})
	b.take(1, 1, 2)
	b.take(2, 3)
	b.due()
	b.mark(1, "{2 [] []}")
	b.Commit(1)
	b.Settled(b.due("m1 acked", "m2 acked"))
	b.due()
	b.Commit(2)
	b.Settled(b.due("m3 acked"))
	if s := b.Stats(); s.Unsettled != 0 || s.Settled != 3 || s.Bytes != 0 || !s.Oldest.IsZero() {
		t.Fatalf("%+v", s)
	}
}

// F4, F16: an abort undoes verdicts, replays in position order and asks nobody.
func TestAbortReplaysInPositionOrder(t *testing.T) {
	b := newBench(t, Individual, Start{})
	b.take(1, 1)
	b.take(2, 2, 3)
	b.Receive(0, 4, "m4", 1, noon)
	b.judge(2, Reject(time.Minute, "no"))
	b.Commit(1)
	b.Abort()
	b.copy(3, InFlight) // the newer payload is replayed
	dst := make([]Entry[string], 2)
	if n := b.Replay(dst); n != 2 || dst[0].Payload != "m2" || dst[1].Payload != "copy of m3" {
		t.Fatal(n, dst)
	}
	b.Take(dst[0].Ref, 3)
	b.Abort() // what was handed out and not taken is replayed too
	dst = make([]Entry[string], 9)
	if n := b.ReplayChannel(0, dst); n != 3 || dst[0].Payload != "m2" || dst[2].Payload != "m4" {
		t.Fatal(n, dst)
	}
	for _, e := range dst[:3] {
		b.Take(e.Ref, 4)
	}
	b.Commit(4)
	b.due("m1 acked", "m2 acked", "copy of m3 acked", "m4 acked")
}

// G1: a rejected or blocked position of a contiguous channel stops the floor.
func TestContiguousStopsBeforeABlockedPosition(t *testing.T) {
	b := newBench(t, Contiguous, Start{})
	b.take(1, 1, 2, 3)
	if err := b.Verdict(MakeRef(0, 2), Reject(0, "no")); !errors.Is(err, ErrContiguous) {
		t.Fatal(err)
	}
	b.judge(2, Block("permanent"))
	b.mark(1, "{3 [2] []}")
	b.Commit(1)
	b.Settled(b.due("m1 acked"))
	b.take(2, 4)
	b.Commit(2)
	b.due()
	if got := b.Blocked(nil); len(got) != 1 || got[0].Payload != "m2" || b.Stats().Blocked != 1 {
		t.Fatal(got)
	}
	if pos, resolved := b.Prefix(0); pos != 1 || !resolved {
		t.Fatal(pos, resolved)
	}
	// Its dead letter is durable with epoch 3: it counts as settled.
	if !b.Take(MakeRef(0, 2), 3) {
		t.Fatal("cannot take what is blocked")
	}
	b.mark(3, "{4 [] []}")
	b.Commit(3)
	b.Settled(b.due("m4 acked"))
	if s := b.Stats(); s.Unsettled != 0 || s.Settled != 4 {
		t.Fatalf("%+v", s)
	}
}

func TestUnblockReplays(t *testing.T) {
	b := newBench(t, Individual, Start{})
	b.take(1, 1, 2)
	b.judge(1, Block("later"))
	b.Commit(1)
	b.due("m2 acked")
	b.Abort() // leaves it blocked
	if b.Unblock(MakeRef(0, 2)) || !b.Unblock(MakeRef(0, 1)) {
		t.Fatal("unblocks the wrong one")
	}
	dst := make([]Entry[string], 2)
	if n := b.Replay(dst); n != 1 || dst[0].Payload != "m1" {
		t.Fatal(n, dst)
	}
}

// G11: while one settlement is open, the next waits, so that an old floor never
// overtakes a newer; newer floors speak for older ones.
func TestContiguousSettlesTheNewestFloor(t *testing.T) {
	b := newBench(t, Contiguous, Start{})
	b.take(1, 1, 2)
	b.Commit(1)
	b.take(2, 3)
	b.Commit(2)
	first := b.due("m3 acked")
	b.take(3, 4)
	b.Commit(3)
	b.due()
	b.Settled(first, Failure{Ref: first[0].Ref})
	second := b.due("m4 acked")
	b.Settled(second)
	b.copy(2, Committed) // the broker is beyond it: nothing is settled backwards
	b.due()
	if s := b.Stats(); s.Unsettled != 0 || s.Settled != 4 {
		t.Fatalf("%+v", s)
	}
}

// G4: what comes late for a channel that was given up does nothing.
func TestLateSettleOfAClosedChannel(t *testing.T) {
	b := newBench(t, Contiguous, Start{})
	b.take(1, 1, 2)
	b.Commit(1)
	b.take(2, 3)
	batch := b.due("m2 acked")
	b.take(2, 4)
	if got := b.CloseChannel(0); !slices.Equal(got, []string{"m1", "m2", "m3", "m4"}) {
		t.Fatal(got)
	}
	b.Settled(batch)
	b.SettleFailed(batch[0].Ref, false)
	b.Commit(2)
	b.Abort()
	b.due()
	if b.Take(MakeRef(0, 3), 3) || b.Replay(make([]Entry[string], 9)) != 0 {
		t.Fatal("takes or replays what was given up")
	}
	if err := b.Verdict(MakeRef(0, 3), Ack()); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if _, a := b.Receive(0, 9, "m9", 1, noon); a != Refused || b.CloseChannel(0) != nil {
		t.Fatal(a)
	}
	if s := b.Stats(); s.Unsettled != 0 || s.Settled != 0 || s.Refused != 1 {
		t.Fatalf("%+v", s)
	}
	if err := b.StartChannel(0, Start{}); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	b.mark(9, "{2 [] []}") // what was committed stays known
}

// G30: the outcome of every ack is known and counted.
func TestFailedSettlements(t *testing.T) {
	b := newBench(t, Individual, Start{})
	b.take(1, 1, 2, 3, 4)
	b.judge(4, Reject(time.Minute, "no"))
	b.Commit(1)
	batch := b.due("m1 acked", "m2 acked", "m3 acked", "m4 rejected")
	b.Settled(batch, Failure{Ref: batch[1].Ref}, Failure{Ref: batch[2].Ref, Lost: true}, Failure{Ref: batch[3].Ref, Lost: true})
	if s := b.Stats(); s.Settled != 1 || s.Lost != 2 || s.Due != 1 || s.Unsettled != 1 {
		t.Fatalf("%+v", s)
	}
	b.Settled(b.due("m2 acked"))
	b.copy(3, Committed) // lost, but what it caused is durable
	b.Settled(b.due("copy of m3 acked"))
	b.copy(4, New)
	if s := b.Stats(); s.Received != 6 || s.Duplicates != 1 || s.Settled != 3 {
		t.Fatalf("%+v", s)
	}
}

// A copy that comes while its original is being settled is settled for itself.
func TestCopyWhileSettling(t *testing.T) {
	b := newBench(t, Individual, Start{})
	b.take(1, 1, 2)
	b.judge(2, Reject(0, "again"))
	b.Commit(1)
	old := b.due("m1 acked", "m2 rejected")
	b.copy(1, Committed)
	b.copy(2, New) // the broker has heard
	batch := b.due("copy of m1 acked")
	b.Settled(old) // says nothing about the copies
	if s := b.Stats(); s.Settling != 1 || s.Unread != 1 || s.Settled != 0 {
		t.Fatalf("%+v", s)
	}
	b.Take(MakeRef(0, 2), 2)
	b.Commit(2)
	batch = append(batch, b.due("copy of m2 acked")...)
	b.Settled(old)
	if s := b.Stats(); s.Settling != 2 {
		t.Fatalf("%+v", s)
	}
	b.Settled(batch)
	if s := b.Stats(); s.Unsettled != 0 || s.Settled != 2 {
		t.Fatalf("%+v", s)
	}
}

// A rejected position is a hole of the mark until it has come again and is done.
func TestRejectedPositionsAreHoles(t *testing.T) {
	b := newBench(t, Individual, Start{})
	b.take(1, 10, 20, 30)
	b.judge(20, Reject(time.Second, "busy"))
	b.judge(30, Reject(time.Second, "busy"))
	b.mark(1, "{10 [] []}")
	b.Commit(1)
	b.Settled(b.Due(nil, 0))
	b.take(2, 40)
	b.mark(2, "{40 [20 30] []}")
	b.Commit(2)
	if pos, _ := b.Prefix(0); pos != 40 {
		t.Fatal(pos)
	}
	b.copy(20, New)
	if pos, _ := b.Prefix(0); pos != 19 {
		t.Fatal(pos)
	}
	b.Take(MakeRef(0, 20), 3)
	b.mark(2, "{40 [20 30] []}")
	b.mark(3, "{40 [30] []}")
	b.Commit(3)
	b.Forget(0, 30) // the broker gave it up
	b.mark(3, "{40 [] []}")
	b.copy(30, Committed)
}

// A terminated position counts as committed.
func TestTerminate(t *testing.T) {
	b := newBench(t, Individual, Start{})
	b.take(1, 1)
	b.judge(1, Terminate("poison"))
	b.mark(1, "{1 [] []}")
	b.Commit(1)
	if s := b.due("m1 terminated"); s[0].Verdict.Reason != "poison" {
		t.Fatal(s)
	}
	if err := b.Verdict(MakeRef(0, 1), Ack()); !errors.Is(err, ErrNotTaken) {
		t.Fatal(err)
	}
}

// G5, F17: after a crash between commit and ack the copies are known and settled
// again; after one before the commit they are New.
func TestRestartFromAMark(t *testing.T) {
	b := newBench(t, Individual, Start{Mark: Mark{Floor: 12, Holes: []Position{11}}, Through: 14, Outstanding: 5})
	if pos, resolved := b.Prefix(0); pos != 12 || resolved {
		t.Fatal(pos, resolved)
	}
	b.copy(12, Committed)
	b.take(1, 14, 15, 18) // 15 and 18 come for the first time
	b.mark(1, "{12 [11] [{14 18}]}")
	b.Commit(1)
	b.Settled(b.due("copy of m12 acked", "m14 acked", "m15 acked", "m18 acked"))
	b.copy(14, Committed) // the same one twice is one
	b.take(2, 11, 20)
	b.copy(10, Committed)
	b.mark(2, "{12 [] [{14 20}]}")
	if _, resolved := b.Prefix(0); resolved {
		t.Fatal("13 may still come")
	}
	b.copy(13, New)
	if pos, resolved := b.Prefix(0); pos != 12 || !resolved {
		t.Fatal(pos, resolved)
	}
	b.mark(2, "{20 [13] []}")
	b.Take(MakeRef(0, 13), 3)
	b.Commit(3)
	b.mark(3, "{20 [] []}")
	if pos, resolved := b.Prefix(0); pos != 20 || !resolved {
		t.Fatal(pos, resolved)
	}
}

// With all that is outstanding committed, nothing that comes can be late.
func TestPrefixIsResolvedByTheMark(t *testing.T) {
	b := newBench(t, Individual, Start{Mark: Mark{Floor: 12, Holes: []Position{11}}, Through: 12, Outstanding: 3})
	b.copy(11, New)
	if pos, resolved := b.Prefix(0); pos != 10 || !resolved {
		t.Fatal(pos, resolved)
	}
}

// The broker's evidence resolves a channel as well.
func TestResolve(t *testing.T) {
	b := newBench(t, Individual, Start{Mark: Mark{Floor: 5}, Through: 9, Outstanding: 2})
	b.take(1, 9, 10)
	b.Commit(1)
	b.mark(1, "{5 [] [{9 10}]}")
	b.Resolve(0)
	b.mark(1, "{10 [] []}")
	if pos, resolved := b.Prefix(0); pos != 10 || !resolved {
		t.Fatal(pos, resolved)
	}
}

// F16: whatever the order in which two epochs take, each commits what is its own.
func TestTakesOutOfOrder(t *testing.T) {
	b := newBench(t, Individual, Start{})
	for p := Position(1); p <= 4; p++ {
		b.Receive(0, p, fmt.Sprint("m", p), 1, noon)
	}
	for _, take := range []struct {
		pos   Position
		epoch uint64
	}{{4, 1}, {2, 2}, {3, 2}, {1, 1}} {
		b.Take(MakeRef(0, take.pos), take.epoch)
	}
	b.mark(1, "{4 [2 3] []}")
	b.Commit(1)
	b.due("m1 acked", "m4 acked")
	b.mark(2, "{4 [] []}")
	b.Commit(2)
	b.due("m2 acked", "m3 acked")
}

// What the broker says it will not bring again is not waited for.
func TestForgetAndResolveOnAContiguousChannel(t *testing.T) {
	b := newBench(t, Contiguous, Start{Through: 3, Outstanding: 3})
	b.take(1, 1, 2)
	b.Commit(1)
	b.due()
	b.Forget(0, 3)
	b.Settled(b.due("m2 acked"))
	if _, resolved := b.Prefix(0); !resolved {
		t.Fatal("waits for what was forgotten")
	}
	b = newBench(t, Contiguous, Start{Through: 4, Outstanding: 4})
	b.take(1, 1, 2)
	b.Commit(1)
	b.Resolve(0)
	b.due("m2 acked")
	b = newBench(t, Contiguous, Start{Mark: Mark{Floor: 4, Holes: []Position{2}}})
	b.copy(3, Committed)
	b.due()
	b.Forget(0, 2)
	b.due("copy of m3 acked")
}

// A contiguous broker with outstanding deliveries in any order: nothing is settled
// before all have come, else they never would.
func TestContiguousWaitsForWhatIsOutstanding(t *testing.T) {
	b := newBench(t, Contiguous, Start{Mark: Mark{Floor: 2}, Through: 4, Outstanding: 4})
	b.copy(2, Committed)
	b.take(1, 4)
	b.Commit(1)
	b.copy(1, Committed)
	b.due()
	b.take(2, 3)
	b.due("copy of m2 acked")
	b.Commit(2)
	b.mark(2, "{4 [] []}")
}

func TestStartRefusesNonsense(t *testing.T) {
	l := NewLedger[int](Individual)
	for _, s := range []Start{{Outstanding: -1}, {Outstanding: 1}, {Through: MaxPosition + 1}, {Mark: Mark{Holes: []Position{1}}}} {
		if l.StartChannel(3, s) == nil {
			t.Errorf("%+v", s)
		}
	}
	if err := l.StartChannel(3, Start{}); err != nil {
		t.Fatal(err)
	}
	if err := l.StartChannel(3, Start{}); !errors.Is(err, ErrStarted) {
		t.Fatal(err)
	}
	for _, pos := range []Position{1, MaxPosition + 1} {
		if _, a := l.Receive(2+Channel(pos>>48), pos, 0, 0, noon); a != Refused {
			t.Fatal(a)
		}
	}
}

// Without positions of the broker's the ledger numbers.
func TestNumberedDeliveries(t *testing.T) {
	b := newBench(t, Individual, Start{Mark: Mark{Floor: 7}})
	for want := Position(8); want < 11; want++ {
		ref, a := b.TakeNew(0, 0, "x", 1, noon, 1)
		if a != New || ref != MakeRef(0, want) {
			t.Fatal(ref, a)
		}
	}
	b.mark(1, "{10 [] []}")
}

// Two channels do not wait for one another; what is due keeps the order of commits.
func TestChannelsAreIndependent(t *testing.T) {
	b := newBench(t, Individual, Start{})
	if err := b.StartChannel(7, Start{}); err != nil {
		t.Fatal(err)
	}
	b.take(1, 1)
	b.TakeNew(7, 1, "other", 1, noon, 2)
	b.Commit(1)
	b.due("m1 acked")
	b.Abort()
	dst := make([]Entry[string], 2)
	if n := b.ReplayChannel(0, dst); n != 0 {
		t.Fatal(n)
	}
	if n := b.Replay(dst); n != 1 || dst[0].Ref != MakeRef(7, 1) {
		t.Fatal(n, dst)
	}
}

// Safe for concurrent use: a reader, a committer and a settler at once.
func TestConcurrentUse(t *testing.T) {
	const n = 5000
	l := NewLedger[int](Individual)
	if err := l.StartChannel(0, Start{}); err != nil {
		t.Fatal(err)
	}
	k := NewLeaseKeeper(l, Lease{Duration: time.Second}, nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		for p := Position(1); p <= n; p++ {
			l.TakeNew(0, p, 0, 1, noon, uint64(p/100))
		}
	})
	wg.Go(func() {
		for l.Stats().Settled < n {
			epoch := uint64(l.Stats().Received / 100)
			l.Mark(0, epoch)
			l.Commit(epoch)
			l.Settled(l.Due(nil, 64))
			l.Prefix(0)
		}
	})
	wg.Go(func() {
		for l.Stats().Settled < n {
			k.Due(nil, 10, noon.Add(time.Second))
			k.Next()
		}
	})
	wg.Wait()
}

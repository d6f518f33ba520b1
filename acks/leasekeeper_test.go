package acks

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// leaseBroker knows when each lease ends for real.
type leaseBroker struct {
	ends  map[Ref]time.Time
	calls int
	late  int
	// last is when each lease was last extended, sooner the shortest time between.
	last   map[Ref]time.Time
	sooner time.Duration
}

func newLeaseBroker() *leaseBroker {
	return &leaseBroker{ends: map[Ref]time.Time{}, last: map[Ref]time.Time{}, sooner: time.Hour}
}

func (b *leaseBroker) extend(list []Extension[int], now time.Time) {
	if len(list) > 0 {
		b.calls++
	}
	for _, e := range list {
		if now.After(b.ends[e.Ref]) {
			b.late++
		}
		if last, ok := b.last[e.Ref]; ok {
			b.sooner = min(b.sooner, now.Sub(last))
		}
		b.last[e.Ref] = now
		b.ends[e.Ref] = now.Add(e.For)
	}
}

// pump asks the keeper whenever it wants to be asked, until end.
func (b *leaseBroker) pump(k *LeaseKeeper[int], limit int, now, end time.Time) {
	for {
		for list := k.Due(nil, limit, now); len(list) > 0; list = k.Due(nil, limit, now) {
			b.extend(list, now)
		}
		next := k.Next()
		if next.IsZero() || next.After(end) {
			return
		}
		now = next
	}
}

// G17, G28: leases run from receipt, the time in a queue included, and are extended
// until the verdict of the committed bundle is confirmed: 100 prefetched messages,
// one at a time, two seconds each, ten seconds of deadline.
func TestLeasesRunFromReceiptToConfirmation(t *testing.T) {
	l := NewLedger[int](Individual)
	_ = l.StartChannel(0, Start{})
	k := NewLeaseKeeper(l, Lease{Duration: 10 * time.Second}, nil)
	b, now := newLeaseBroker(), noon
	for p := Position(1); p <= 100; p++ {
		ref, _ := l.Receive(0, p, 0, 1, now)
		b.ends[ref] = now.Add(10 * time.Second)
	}
	for p := Position(1); p <= 100; p++ {
		l.Take(MakeRef(0, p), 1)
		b.pump(k, 0, now, now.Add(2*time.Second))
		now = now.Add(2 * time.Second)
	}
	l.Commit(1)
	batch := l.Due(nil, 0)
	b.pump(k, 0, now, now.Add(90*time.Second)) // the broker takes its time
	if b.late > 0 || k.Stats().Late > 0 || len(b.last) != 100 {
		t.Fatalf("%d late of %d", b.late, len(b.last))
	}
	if now = now.Add(90 * time.Second); b.ends[MakeRef(0, 1)].Before(now) {
		t.Fatal("not extended while it is settled")
	}
	l.Settled(batch)
	if next := k.Next(); !next.IsZero() || len(k.Due(nil, 0, now.Add(time.Hour))) > 0 {
		t.Fatal("extends what is settled", next)
	}
}

// G19: ten thousand leases make few calls, none late, whether they came at once or
// one after another, and no lease is extended much more often than it must.
func TestExtensionsAreBatched(t *testing.T) {
	const n, lease, run = 10_000, 10 * time.Second, time.Minute
	for name, apart := range map[string]time.Duration{"at once": 0, "one by one": time.Millisecond} {
		l := NewLedger[int](Individual)
		_ = l.StartChannel(0, Start{})
		random := rand.New(rand.NewPCG(1, 2))
		k := NewLeaseKeeper(l, Lease{Duration: lease}, random.Float64)
		b, now := newLeaseBroker(), noon
		for p := Position(1); p <= n; p++ {
			ref, _ := l.Receive(0, p, 0, 1, now)
			b.ends[ref] = now.Add(lease)
			now = now.Add(apart)
			b.pump(k, 2500, now, now)
		}
		b.pump(k, 2500, now, now.Add(run))
		if b.late > 0 || k.Stats().Late > 0 {
			t.Errorf("%s: %d late", name, b.late)
		}
		if perSecond := float64(b.calls) / run.Seconds(); perSecond > 3 {
			t.Errorf("%s: %.1f calls a second", name, perSecond)
		}
		if b.sooner < lease/4 {
			t.Errorf("%s: extended again after %v", name, b.sooner)
		}
	}
}

// G19: with other jitter the calls of two processes come at other times.
func TestExtensionsAreJittered(t *testing.T) {
	var asked []int
	for _, jitter := range []float64{0, 0.99} {
		l := NewLedger[int](Individual)
		_ = l.StartChannel(0, Start{})
		k := NewLeaseKeeper(l, Lease{Duration: 60 * time.Second}, func() float64 { return jitter })
		for p := Position(1); p <= 60; p++ {
			l.Receive(0, p, 0, 1, noon.Add(time.Duration(p)*time.Second))
		}
		asked = append(asked, len(k.Due(nil, 0, k.Next())))
	}
	if asked[0] != 11 || asked[1] != 20 {
		t.Fatal(asked)
	}
}

// G22: no extension asks for more than the user's maximum, so that after a crash
// the message comes again within it.
func TestMaxExtension(t *testing.T) {
	l := NewLedger[int](Individual)
	_ = l.StartChannel(0, Start{})
	k := NewLeaseKeeper(l, Lease{Duration: 10 * time.Minute, MaxExtension: 15 * time.Second}, nil)
	b := newLeaseBroker()
	ref, _ := l.Receive(0, 1, 0, 1, noon)
	b.ends[ref] = noon.Add(10 * time.Minute)
	l.Receive(0, 2, 0, 1, noon.Add(9*time.Minute))
	b.ends[MakeRef(0, 2)] = noon.Add(19 * time.Minute)
	end := noon.Add(30 * time.Minute)
	b.pump(k, 0, noon, end)
	for ref, at := range b.ends {
		if at.Before(end) || at.After(end.Add(15*time.Second)) {
			t.Errorf("%v is leased until %v", ref, at)
		}
	}
	if b.late > 0 {
		t.Error("late")
	}
	if (Lease{Duration: time.Second, MaxExtension: time.Minute}).Extension() != time.Second {
		t.Error("an extension is longer than the lease")
	}
}

// G18: a lease that is lost is visible and not extended; its work goes on, and what
// it caused is known when it comes again.
func TestLostLease(t *testing.T) {
	l := NewLedger[int](Individual)
	_ = l.StartChannel(0, Start{})
	k := NewLeaseKeeper(l, Lease{Duration: 9 * time.Second}, nil)
	for p := Position(1); p <= 3; p++ {
		l.TakeNew(0, p, int(p), 1, noon, 1)
	}
	k.Lost(MakeRef(0, 1)) // before it was ever extended
	list := k.Due(nil, 0, noon.Add(6*time.Second))
	if len(list) != 2 {
		t.Fatal(list)
	}
	k.Lost(list[0].Ref)
	k.Lost(list[0].Ref)
	if list = k.Due(nil, 0, k.Next()); len(list) != 1 || list[0].Payload != 3 {
		t.Fatal(list)
	}
	if s := k.Stats(); s.Lost != 2 || s.Extended != 3 {
		t.Fatalf("%+v", s)
	}
	l.Commit(1)
	if _, a := l.Receive(0, 2, 20, 1, noon.Add(20*time.Second)); a != Committed {
		t.Fatal(a)
	}
	// The new delivery has a lease of its own.
	list = k.Due(nil, 0, noon.Add(27*time.Second))
	if !slices.ContainsFunc(list, func(e Extension[int]) bool { return e.Payload == 20 }) {
		t.Fatal(list)
	}
	if batch := l.Due(nil, 0); len(batch) != 3 { // a lost one is tried all the same
		t.Fatal(batch)
	}
}

// An extension that fails is tried again while the lease lasts, then it is lost.
func TestFailedExtension(t *testing.T) {
	l := NewLedger[int](Individual)
	_ = l.StartChannel(0, Start{})
	k := NewLeaseKeeper(l, Lease{Duration: 30 * time.Second}, nil)
	ref, _ := l.Receive(0, 1, 0, 1, noon)
	l.Receive(0, 2, 0, 1, noon)
	k.Failed(ref) // not asked for: nothing
	now, tries := noon, 0
	for k.Stats().Lost == 0 {
		next := k.Next()
		if !next.After(now) || next.After(noon.Add(2*time.Minute)) || tries > 50 {
			t.Fatalf("next %v after %v, %d tries", next.Sub(noon), now.Sub(noon), tries)
		}
		now = next
		for _, e := range k.Due(nil, 0, now) {
			if e.Ref == ref {
				k.Failed(ref)
				tries++
			}
		}
	}
	if left := now.Sub(noon); left < 30*time.Second || left > 31*time.Second || tries < 5 {
		t.Fatalf("lost after %v, %d tries", left, tries)
	}
	if s := k.Stats(); s.Failed != uint64(tries) || s.Late != 1 {
		t.Fatalf("%+v", s)
	}
	if k.Next().IsZero() {
		t.Fatal("forgot the other")
	}
}

// An extension that failed once and then worked counts from when it worked; what is
// settled is not extended; a copy brings a lease of its own, and the plan for the
// old one is void.
func TestLeasesAreExtendedOnce(t *testing.T) {
	l := NewLedger[int](Individual)
	_ = l.StartChannel(0, Start{})
	k := NewLeaseKeeper(l, Lease{Duration: 30 * time.Second}, nil)
	ask := func(after int, want ...int) {
		t.Helper()
		now := noon.Add(time.Duration(after) * time.Second)
		if next := k.Next(); !next.Equal(now) {
			t.Fatalf("next is after %v, not %ds", next.Sub(noon), after)
		}
		var got []int
		for _, e := range k.Due(nil, 0, now) {
			got = append(got, e.Payload)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("after %ds: %v, not %v", after, got, want)
		}
	}
	l.TakeNew(0, 1, 1, 1, noon, 1)
	l.TakeNew(0, 2, 2, 1, noon, 2)
	l.Commit(1)
	l.Settled(l.Due(nil, 0))
	ask(20, 2)
	k.Failed(MakeRef(0, 2))
	at := 20*time.Second + 10*time.Second/4
	if next := k.Next(); next.Sub(noon) != at || len(k.Due(nil, 0, noon.Add(at))) != 1 {
		t.Fatal(next.Sub(noon))
	}
	if list := k.Due(nil, 10, noon.Add(at+20*time.Second)); len(list) != 1 {
		t.Fatal(list)
	}
	l.Receive(0, 3, 3, 1, noon.Add(45*time.Second))
	l.Receive(0, 2, 20, 1, noon.Add(50*time.Second))
	ask(65, 3, 20) // 20's turn is after 70 seconds, it goes along
	ask(85, 3, 20)
	l.Commit(2)
	l.Settled(l.Due(nil, 0))
	ask(105, 3)
}

func TestLeasesThatNeverEnd(t *testing.T) {
	l := NewLedger[int](Individual)
	_ = l.StartChannel(0, Start{})
	k := NewLeaseKeeper(l, Lease{}, nil)
	l.Receive(0, 1, 0, 1, noon)
	if next := k.Next(); !next.IsZero() || len(k.Due(nil, 0, noon.Add(time.Hour))) > 0 {
		t.Fatal(next)
	}
}

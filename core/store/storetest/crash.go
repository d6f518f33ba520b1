package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gosluice/sluice/core/store"
)

// crashDeltas are the changes of epoch e in two spaces, made of every operation.
func crashDeltas(e uint64) []*store.Delta {
	other := store.NewDelta(store.Space{Region: 2, Kind: store.Held, Transform: 9})
	state := store.NewDelta(cells)
	for i := range uint64(20) {
		g := store.Group((e*31 + i*7) % 256)
		key := fmt.Appendf(nil, "key-%d", (e+i)%11)
		switch (e + i) % 7 {
		case 0:
			state.Delete(g, key)
		case 1, 2:
			state.Merge(g, key, fmt.Append(nil, e))
		default:
			state.Put(g, key, fmt.Append(nil, e, i))
		}
		other.Put(g, fmt.Appendf(nil, "%06d", e), key)
	}
	if e%5 == 0 {
		other.DeleteRange(store.Group(e%256), nil, fmt.Appendf(nil, "%06d", e-3))
		state.DeleteRange(store.Group(e%256), b("key-3"), nil)
	}
	return []*store.Delta{state, other}
}

// testAtomic is invariant 1: the store crashes while it commits, and what is
// left are the first epochs, whole, at least those whose Commit had returned.
func testAtomic(t *testing.T, h Harness) {
	if h.Crash == nil {
		t.Skip("the harness cannot crash")
	}
	p := open(t, h)
	m := newModel()
	for round := range 25 {
		acked, started := p.epoch(1), make(chan uint64, 1)
		var returned atomic.Uint64
		enough := make(chan struct{})
		s, until := p.Store, acked+uint64(round%6)
		go func() { // ends with the first commit that fails
			e := acked
			defer func() { started <- e }()
			for {
				if e == until {
					close(enough)
				}
				e++
				if s.Commit(context.Background(), &store.Commit{Region: 1, Epoch: e, Deltas: crashDeltas(e)}) != nil {
					return
				}
				returned.Store(e)
			}
		}()
		<-enough
		acked = max(acked, returned.Load())
		p.crash()
		last, got := <-started, p.epoch(1)
		if got < acked || got > last {
			t.Fatalf("round %d: epoch %d after the crash; %d had returned, %d had begun", round, got, acked, last)
		}
		for e := m.epochs[1] + 1; e <= got; e++ {
			m.commit(&store.Commit{Region: 1, Epoch: e, Deltas: crashDeltas(e)})
		}
		m.expect(p)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// testSynced is invariant 2: the store crashes as soon as a call has returned.
func testSynced(t *testing.T, h Harness) {
	if h.Crash == nil {
		t.Skip("the harness cannot crash")
	}
	p := open(t, h)
	p.crash() // nothing was called: an empty store
	m := newModel()
	m.expect(p)
	id := p.ID()
	for e := uint64(1); e <= 30; e++ {
		c := &store.Commit{Region: 1, Epoch: e, Deltas: crashDeltas(e)}
		expectErr(t, "commit", p.Commit(context.Background(), c), nil)
		m.commit(c)
		if e%3 == 0 {
			m.manifest = fmt.Appendf(nil, "manifest of %d", e)
			expectErr(t, "set manifest", p.SetManifest(m.manifest), nil)
		}
		if e%4 == 0 {
			p.rows(cells.All()) // a read may move what is kept; it must not lose it
		}
		p.crash()
		m.expect(p)
	}
	if p.ID() != id {
		t.Errorf("the id was %q and is %q after crashes", id, p.ID())
	}
}

package acks

import (
	"testing"
	"time"
)

// delivered has the size of what an engine keeps of a message (data, headers, key,
// names, times) and holds pointers as it does.
type delivered [11]any

func BenchmarkLedgerInOrder(b *testing.B) {
	b.Run("payload=8B", func(b *testing.B) { benchInOrder(b, uint64(7), 1, 0) })
	b.Run("payload=176B", func(b *testing.B) { benchInOrder(b, delivered{}, 1, 0) })
	b.Run("payload=176B/unsettled=64k", func(b *testing.B) { benchInOrder(b, delivered{}, 1, 64<<10) })
	b.Run("payload=176B/gaps", func(b *testing.B) { benchInOrder(b, delivered{}, 3, 0) })
}

// benchInOrder passes messages through in epochs of 512: one epoch fills while the
// one before is settled. lag messages stay unsettled behind it.
func benchInOrder[P any](b *testing.B, payload P, step Position, lag int) {
	const size = 512
	l := NewLedger[P](Individual)
	if err := l.StartChannel(0, Start{}); err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	var pos Position
	var batch []Settlement[P]
	epoch := uint64(1)
	b.ReportAllocs()
	for b.Loop() {
		pos += step
		l.TakeNew(0, pos, payload, 100, now, epoch)
		if pos%(size*step) != 0 {
			continue
		}
		l.Mark(0, epoch)
		l.Commit(epoch)
		epoch++
		if n := l.Stats().Due - lag; n > 0 {
			batch = l.Due(batch[:0], n)
			l.Settled(batch)
		}
	}
}

func BenchmarkLedgerReceiveThenTake(b *testing.B) {
	l := NewLedger[delivered](Individual)
	_ = l.StartChannel(0, Start{})
	now := time.Now()
	var pos Position
	var batch []Settlement[delivered]
	b.ReportAllocs()
	for b.Loop() {
		pos++
		ref, _ := l.Receive(0, pos, delivered{}, 100, now)
		l.Take(ref, uint64(pos/512))
		if pos%512 == 511 {
			l.Commit(uint64(pos / 512))
			batch = l.Due(batch[:0], 0)
			l.Settled(batch)
		}
	}
}

func BenchmarkLedgerContiguous(b *testing.B) {
	l := NewLedger[delivered](Contiguous)
	_ = l.StartChannel(0, Start{})
	now := time.Now()
	var pos Position
	var batch []Settlement[delivered]
	b.ReportAllocs()
	for b.Loop() {
		pos++
		l.TakeNew(0, pos, delivered{}, 100, now, uint64(pos/512))
		if pos%512 == 511 {
			l.Mark(0, uint64(pos/512))
			l.Commit(uint64(pos / 512))
			batch = l.Due(batch[:0], 0)
			l.Settled(batch)
		}
	}
}

// A keeper that runs beside the same traffic, with one lease in ten extended.
func BenchmarkLeaseKeeper(b *testing.B) {
	const inFlight = 10_000
	l := NewLedger[delivered](Individual)
	_ = l.StartChannel(0, Start{})
	k := NewLeaseKeeper(l, Lease{Duration: 10 * time.Second}, nil)
	now := time.Now()
	var pos Position
	for range inFlight {
		pos++
		l.TakeNew(0, pos, delivered{}, 100, now, 1)
	}
	var dst []Extension[delivered]
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(5 * time.Second)
		for dst = k.Due(dst[:0], 1000, now); len(dst) > 0; dst = k.Due(dst[:0], 1000, now) {
			continue
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/inFlight, "ns/lease")
}

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gosluice/sluice/core/store"
	"pgregory.net/rapid"
)

var space = store.Space{Region: 1, Kind: store.State, Transform: 2}

// fill appends the records to d through its methods.
func fill(d *store.Delta, records []store.Record) {
	for _, r := range records {
		switch r.Op {
		case store.Put:
			d.Put(r.Group, r.Key, r.Value)
		case store.Delete:
			d.Delete(r.Group, r.Key)
		case store.Merge:
			d.Merge(r.Group, r.Key, r.Value)
		case store.DeleteRange:
			d.DeleteRange(r.Group, r.Key, r.Value)
		}
	}
}

func draw(t *rapid.T, ops ...store.Op) []store.Record {
	short := rapid.SliceOfN(rapid.Byte(), 0, 300)
	one := rapid.Custom(func(t *rapid.T) store.Record {
		r := store.Record{
			Op:    rapid.SampledFrom(ops).Draw(t, "op"),
			Group: store.Group(rapid.IntRange(0, 255).Draw(t, "group")),
			Key:   short.Draw(t, "key"),
		}
		if r.Op != store.Delete {
			r.Value = short.Draw(t, "value")
		}
		return r
	})
	return rapid.SliceOf(one).Draw(t, "records")
}

func sameRecord(a, b store.Record) bool {
	return a.Op == b.Op && a.Group == b.Group && bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
}

func TestDeltaRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t, store.Put, store.Delete, store.Merge, store.DeleteRange)
		d := store.NewDelta(space)
		fill(d, want)
		if d.Len() != len(want) || d.Space != space {
			t.Fatalf("%d records in %v, want %d in %v", d.Len(), d.Space, len(want), space)
		}
		if got := slices.Collect(d.Records()); !slices.EqualFunc(got, want, sameRecord) {
			t.Fatalf("got %v, want %v", got, want)
		}
		again, err := store.ReadDelta(space, slices.Clone(d.Blob()))
		if err != nil || again.Len() != len(want) || again.Size() != d.Size() {
			t.Fatalf("read again: %v", err)
		}
		if got := slices.Collect(again.Records()); !slices.EqualFunc(got, want, sameRecord) {
			t.Fatalf("read again: got %v, want %v", got, want)
		}
	})
}

func TestDeltaCopiesAndKeepsNothingOfItsArguments(t *testing.T) {
	key, value := []byte("key"), []byte("value")
	d := store.NewDelta(space)
	d.Put(7, key, value)
	copy(key, "xxx")
	copy(value, "xxxxx")
	for r := range d.Records() {
		if string(r.Key) != "key" || string(r.Value) != "value" {
			t.Fatalf("the delta shares memory with its caller: %s=%s", r.Key, r.Value)
		}
		_ = append(r.Key, "clobber"...)
	}
	for r := range d.Records() {
		if string(r.Value) != "value" {
			t.Fatal("appending to a key wrote into the blob")
		}
	}
}

func TestDeltaSortedByGroupAndKeyAndStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := draw(t, store.Put, store.Delete, store.Merge)
		d := store.NewDelta(space)
		fill(d, records)
		want := slices.Clone(records)
		slices.SortStableFunc(want, func(a, b store.Record) int {
			return bytes.Compare(append([]byte{byte(a.Group)}, a.Key...), append([]byte{byte(b.Group)}, b.Key...))
		})
		if got := d.Sorted(); !slices.EqualFunc(got, want, sameRecord) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestDeltaResetForgetsAndKeepsMemory(t *testing.T) {
	d := store.NewDelta(space)
	d.Put(1, []byte("a"), make([]byte, 1000))
	d.Reset()
	if d.Len() != 0 || d.Size() != 0 || len(d.Sorted()) != 0 {
		t.Fatal("something is left after Reset")
	}
	n := testing.AllocsPerRun(10, func() {
		d.Put(1, []byte("a"), make([]byte, 500))
		d.Reset()
	})
	if n > 0 {
		t.Errorf("%v allocations after Reset, want none", n)
	}
}

func TestReadDeltaRefusesEveryCut(t *testing.T) {
	d := store.NewDelta(space)
	d.Put(1, []byte("key"), []byte("value"))
	d.DeleteRange(1, []byte("a"), []byte("b"))
	first := 2 + 1 + 3 + 1 + 5
	for n := range d.Size() {
		_, err := store.ReadDelta(space, d.Blob()[:n])
		if whole := n == 0 || n == first; whole != (err == nil) {
			t.Errorf("%d of %d bytes: %v", n, d.Size(), err)
		} else if err != nil && !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%d bytes: %v is not ErrDamaged", n, err)
		}
	}
	for _, op := range []byte{0, 5, 255} {
		bad := append([]byte{op}, d.Blob()[1:]...)
		if _, err := store.ReadDelta(space, bad); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("operation %d: %v", op, err)
		}
	}
}

func FuzzReadDelta(f *testing.F) {
	d := store.NewDelta(space)
	d.Put(1, []byte("key"), []byte("value"))
	d.Merge(2, nil, []byte("operand"))
	f.Add(d.Blob())
	f.Add([]byte{1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, blob []byte) {
		d, err := store.ReadDelta(space, blob)
		if err != nil {
			return
		}
		n := 0
		for range d.Records() {
			n++
		}
		if n != d.Len() {
			t.Fatalf("%d records, Len says %d", n, d.Len())
		}
	})
}

func TestCommitCheck(t *testing.T) {
	for _, c := range []struct {
		epoch, last uint64
		want        error
	}{{1, 0, nil}, {8, 7, nil}, {7, 7, store.ErrEpoch}, {6, 7, store.ErrEpoch}, {9, 7, store.ErrEpoch}, {0, 0, store.ErrEpoch}} {
		err := (&store.Commit{Region: 3, Epoch: c.epoch}).Check(c.last)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("epoch %d after %d: %v, want %v", c.epoch, c.last, err, c.want)
		}
	}
	for name, d := range map[string]*store.Delta{"nil": nil, "no kind": store.NewDelta(store.Space{Region: 1})} {
		c := &store.Commit{Epoch: 1, Deltas: []*store.Delta{d}}
		if c.Check(0) == nil {
			t.Errorf("a commit with a delta that is %s passes", name)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	keys := make([][]byte, 10_000)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "key-%012d", (i*7919)%len(keys))
	}
	value := make([]byte, 32)
	d := store.NewDelta(space)
	fillAll := func() {
		d.Reset()
		for i, k := range keys {
			d.Put(store.Group(i), k, value)
		}
	}
	each := func(name string, fn func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			fillAll()
			for b.Loop() {
				fn()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/record")
		})
	}
	each("Put", fillAll)
	each("Records", func() {
		for range d.Records() {
		}
	})
	each("Sorted", func() { d.Sorted() })
}

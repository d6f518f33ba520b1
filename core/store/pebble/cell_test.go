package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gosluice/sluice/core/store"
)

func cellOf(value []byte, merges ...string) (b []byte) {
	if value != nil {
		b = appendPart(b, value, 0)
	}
	for _, m := range merges {
		b = appendPart(b, []byte(m), mergePart)
	}
	return b
}

// TestMergerKeepsTheOrder: however the engine groups what it merges.
func TestMergerKeepsTheOrder(t *testing.T) {
	var all [][]byte
	for i := range 20 {
		all = append(all, cellOf(nil, fmt.Sprint(i)))
	}
	all[0] = cellOf([]byte("value"), "0")
	want := slices.Concat(all...)
	for split := range all {
		older := merged(t, all[:split+1], true)
		newer := [][]byte{older}
		if split+1 < len(all) {
			newer = append(newer, merged(t, all[split+1:], false))
		}
		if got := merged(t, newer, split%2 == 0); !bytes.Equal(got, want) {
			t.Errorf("split after %d: %q, want %q", split, got, want)
		}
	}
}

// merged merges values, oldest first, from one end or the other.
func merged(t *testing.T, values [][]byte, forward bool) []byte {
	t.Helper()
	values = slices.Clone(values)
	if !forward {
		slices.Reverse(values)
	}
	m, err := merger.Merge(nil, values[0])
	for _, v := range values[1:] {
		v = slices.Clone(v)
		add := m.MergeOlder
		if forward {
			add = m.MergeNewer
		}
		if err == nil {
			err = add(v)
		}
		clear(v) // the engine may
	}
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := m.Finish(true)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPartSize(t *testing.T) {
	for n := range 70_000 {
		if n > 300 && n%61 > 0 {
			continue
		}
		v := make([]byte, n)
		if got, want := partSize(v), len(appendPart(nil, v, mergePart)); got != want {
			t.Fatalf("%d bytes: size %d, want %d", n, got, want)
		}
	}
}

func TestParseCellRefuses(t *testing.T) {
	good := cellOf([]byte("value"), "one", "two")
	var row store.Row
	if err := parseCell(&row, good); err != nil || string(row.Value) != "value" || len(row.Merges) != 2 {
		t.Fatalf("%+v: %v", row, err)
	}
	for n := range good {
		err := parseCell(&row, good[:n])
		if whole := n == 0 || n == 6 || n == 10; whole != (err == nil) {
			t.Errorf("%d bytes: %v", n, err)
		} else if err != nil && !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%d bytes: %v is not ErrDamaged", n, err)
		}
	}
	if err := parseCell(&row, slices.Concat(cellOf(nil, "m"), cellOf([]byte("v")))); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a value after a merge: %v", err)
	}
}

func FuzzParseCell(f *testing.F) {
	f.Add(cellOf([]byte("value"), "one", "two"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		var row store.Row
		if parseCell(&row, b) != nil {
			return
		}
		n := len(row.Value)
		for _, m := range row.Merges {
			n += len(m)
		}
		if n > len(b) {
			t.Errorf("%d bytes of %d", n, len(b))
		}
	})
}

func TestAfter(t *testing.T) {
	for _, c := range []struct{ in, want string }{{"a", "b"}, {"a\xff", "b"}, {"\x01\xff\xff", "\x02"}, {"\xff", ""}, {"", ""}} {
		if got := after([]byte(c.in)); string(got) != c.want || (c.want == "") != (got == nil) {
			t.Errorf("after %q is %q, want %q", c.in, got, c.want)
		}
	}
}

// TestGuard: a panic of the engine is the store's end, not the process's.
func TestGuard(t *testing.T) {
	f := fault{log: (&dir{}).log()}
	if err := f.guard(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	first := f.guard(func() error { panic("boom") })
	if first == nil || !f.wrecked() {
		t.Fatalf("%v, wrecked: %v", first, f.wrecked())
	}
	second := f.guard(func() error { t.Error("called after a fault"); return nil })
	if second != first || f.get() != first || f.set(errors.New("later")) != first {
		t.Errorf("the first error is %v, then %v", first, second)
	}
}

package window_test

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// anyWindow draws any pair of times, windows or not: all must survive.
func anyWindow() *rapid.Generator[window.Window] {
	bound := rapid.Map(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3)), func(v int64) event.Time { return event.Time(v) })
	return rapid.Custom(func(t *rapid.T) window.Window {
		return window.Window{Start: bound.Draw(t, "start"), End: bound.Draw(t, "end")}
	})
}

func TestEncodedWindowComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, before, after := anyWindow().Draw(t, "w"), []byte("before"), []byte("after")
		b := append(window.AppendWindow(before, w), after...)
		if len(b) != len(before)+window.EncodedBytes+len(after) || !bytes.HasPrefix(b, before) {
			t.Fatalf("encoded as %x", b)
		}
		got, rest, err := window.ReadWindow(b[len(before):])
		if err != nil || got != w || !bytes.Equal(rest, after) {
			t.Fatalf("read %v, rest %q, %v, want %v", got, rest, err, w)
		}
	})
}

func TestEncodedWindowsSortLikeWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyWindow().Draw(t, "a"), anyWindow().Draw(t, "b")
		got := bytes.Compare(window.AppendWindow(nil, a), window.AppendWindow(nil, b))
		if want := a.Compare(b); got != want {
			t.Fatalf("bytes compare %d, windows %d", got, want)
		}
	})
}

func TestCompareWindows(t *testing.T) {
	sorted := []window.Window{
		{Start: math.MinInt64, End: 0}, window.GlobalWindow, span(-10, 0), span(0, 5), span(0, 10), span(5, 6),
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := a.Compare(b), min(1, max(-1, i-j)); got != want {
				t.Errorf("%v against %v: %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestEncodedWindowIsForEver pins the bytes: rows on disk hold them.
func TestEncodedWindowIsForEver(t *testing.T) {
	w := window.Window{Start: -1, End: 2}
	want := []byte{0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 2}
	if got := window.AppendWindow(nil, w); !bytes.Equal(got, want) {
		t.Errorf("encoded as %x, want %x", got, want)
	}
}

func FuzzReadWindow(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(window.AppendWindow(nil, window.GlobalWindow))
	f.Add(window.AppendWindow(nil, window.GlobalWindow)[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		w, rest, err := window.ReadWindow(b)
		if (err != nil) != (len(b) < window.EncodedBytes) {
			t.Fatalf("%d bytes: error %v", len(b), err)
		}
		if err == nil && !bytes.Equal(append(window.AppendWindow(nil, w), rest...), b) {
			t.Fatalf("%x reads as %v and is written differently", b, w)
		}
	})
}

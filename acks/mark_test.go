package acks

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawMark makes any valid mark.
func drawMark(t *rapid.T) Mark {
	m := Mark{Floor: Position(rapid.Uint64Range(0, 60).Draw(t, "floor"))}
	for p := Position(1); p <= m.Floor; p++ {
		if rapid.IntRange(0, 5).Draw(t, "hole") == 0 {
			m.Holes = append(m.Holes, p)
		}
	}
	last := m.Floor
	for range rapid.IntRange(0, 4).Draw(t, "spans") {
		first := last + 2 + Position(rapid.Uint64Range(0, 5).Draw(t, "apart"))
		last = first + Position(rapid.Uint64Range(0, 5).Draw(t, "length"))
		m.Ahead = append(m.Ahead, Span{first, last})
	}
	return m
}

func TestMarkSurvivesItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMark(t)
		data, err := m.AppendBinary([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseMark(data[len("before"):])
		if err != nil || !reflect.DeepEqual(m, back) {
			t.Fatalf("%+v came back as %+v, %v", m, back, err)
		}
		if _, err := ParseMark(data[len("before") : len(data)-1]); !errors.Is(err, ErrMark) {
			t.Fatalf("cut short: %v", err)
		}
	})
}

func TestMarkOfACommonChannelIsSmall(t *testing.T) {
	data, err := Mark{Floor: 1 << 30, Holes: []Position{1<<30 - 7}}.AppendBinary(nil)
	if err != nil || len(data) > 13 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
}

// G9: no bytes, or bytes of something else, are no position.
func TestParseMarkRefusesAnythingElse(t *testing.T) {
	for _, data := range [][]byte{
		nil, {}, {0}, {markFormat}, {markFormat, 5}, {markFormat, 5, 0, 0, 0}, {2, 5, 0, 0},
		{markFormat, 5, 1, 6, 0},    // a hole above the floor
		{markFormat, 5, 2, 3, 0, 0}, // twice the same hole
		{markFormat, 5, 0, 1, 1, 0}, // a span that touches the floor
		{markFormat, 5, 255, 255, 255, 255, 15, 1},
		{markFormat, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0},
	} {
		if m, err := ParseMark(data); !errors.Is(err, ErrMark) {
			t.Errorf("%v: %+v, %v", data, m, err)
		}
	}
}

func FuzzParseMark(f *testing.F) {
	for _, m := range []Mark{{}, {Floor: 9, Holes: []Position{2, 3}}, {Floor: 1, Ahead: []Span{{5, 5}, {9, 400}}}} {
		data, err := m.AppendBinary(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMark(data)
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatalf("%v parses as %+v: %v", data, m, err)
		}
		again, err := m.AppendBinary(nil)
		if back, err2 := ParseMark(again); err != nil || err2 != nil || !reflect.DeepEqual(back, m) {
			t.Fatalf("%+v, then %+v, %v, %v", m, back, err, err2)
		}
	})
}

// G9: a mark never takes back what an earlier one committed.
func TestMarkFollows(t *testing.T) {
	prev := Mark{Floor: 10, Holes: []Position{4}, Ahead: []Span{{20, 29}}}
	for _, c := range []struct {
		name string
		next Mark
		ok   bool
	}{
		{"the same", prev, true},
		{"the hole is committed", Mark{Floor: 10, Ahead: []Span{{20, 29}}}, true},
		{"the floor reaches the span", Mark{Floor: 40, Holes: []Position{4, 12, 31}}, true},
		{"a larger span", Mark{Floor: 12, Holes: []Position{11}, Ahead: []Span{{15, 29}, {40, 40}}}, true},
		{"nothing", Mark{}, false},
		{"a lower floor", Mark{Floor: 9, Ahead: []Span{{20, 29}}}, false},
		{"a new hole", Mark{Floor: 10, Holes: []Position{4, 5}, Ahead: []Span{{20, 29}}}, false},
		{"a hole in the span", Mark{Floor: 40, Holes: []Position{4, 25}}, false},
		{"a shorter span", Mark{Floor: 10, Holes: []Position{4}, Ahead: []Span{{20, 28}}}, false},
		{"no span", Mark{Floor: 15}, false},
	} {
		if err := c.next.Follows(prev); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrRegress) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMarkFollowsAgreesWithHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prev, next := drawMark(t), drawMark(t)
		if rapid.Bool().Draw(t, "grown") { // so that next follows now and then
			next = Mark{Floor: prev.top(), Holes: slices.Clone(prev.Holes)}
		}
		want := true
		for p := Position(1); p <= 200; p++ {
			want = want && (!prev.Has(p) || next.Has(p))
		}
		// Positions without messages count: a lower floor always regresses.
		want = want && next.Floor >= prev.Floor
		if got := next.Follows(prev) == nil; got != want {
			t.Fatalf("%+v follows %+v: %v", next, prev, got)
		}
	})
}

func TestRef(t *testing.T) {
	r := MakeRef(65535, MaxPosition)
	if r.Channel() != 65535 || r.Position() != MaxPosition || r.String() != "65535/281474976710655" {
		t.Fatal(r)
	}
	if Ref(0).String() != "none" {
		t.Fatal(Ref(0).String())
	}
}

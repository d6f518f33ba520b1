package storetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gosluice/sluice/core/store"
)

// testRows checks what records do to rows, and which rows a range selects. Each
// case has a space of its own.
func testRows(t *testing.T, h Harness) {
	t.Run("OneCommit", func(t *testing.T) {
		testCases(t, h, func(p *place, s store.Space, steps []step) {
			d := store.NewDelta(s)
			for _, fn := range steps {
				fn(d)
			}
			p.commit(1, d)
		})
	})
	t.Run("ManyCommits", func(t *testing.T) {
		testCases(t, h, func(p *place, s store.Space, steps []step) {
			for _, fn := range steps {
				d := store.NewDelta(s)
				fn(d)
				p.commit(1, d)
			}
		})
	})
	t.Run("ScannedBetween", func(t *testing.T) {
		testCases(t, h, func(p *place, s store.Space, steps []step) {
			for _, fn := range steps {
				d := store.NewDelta(s)
				fn(d)
				p.commit(1, d)
				p.rows(s.All())
			}
		})
	})
	t.Run("Ranges", func(t *testing.T) { testRanges(t, h) })
	t.Run("Spaces", func(t *testing.T) { testSpaces(t, h) })
	t.Run("DeltaReused", func(t *testing.T) { testDeltaReused(t, h) })
	t.Run("AnyBytes", func(t *testing.T) { testAnyBytes(t, h) })
	t.Run("Large", func(t *testing.T) { testLarge(t, h) })
}

// testCases makes each case's changes with do, and looks at the rows before and
// after the store was opened again.
func testCases(t *testing.T, h Harness, do func(*place, store.Space, []step)) {
	p := open(t, h)
	for i, c := range rowCases {
		do(p, caseSpace(i), c.steps)
	}
	for range 2 {
		for i, c := range rowCases {
			t.Run(c.name, func(t *testing.T) {
				p.failer = t
				p.expect(caseSpace(i).All(), c.want...)
			})
		}
		p.failer = t
		p.reopen()
	}
}

func caseSpace(i int) store.Space {
	return store.Space{Region: 1, Kind: store.State, Transform: store.TransformID(i)}
}

type step = func(d *store.Delta)

func put(g store.Group, key, value string) step {
	return func(d *store.Delta) { d.Put(g, b(key), b(value)) }
}
func merge(g store.Group, key, value string) step {
	return func(d *store.Delta) { d.Merge(g, b(key), b(value)) }
}
func del(g store.Group, key string) step { return func(d *store.Delta) { d.Delete(g, b(key)) } }
func delRange(g store.Group, from, below string) step {
	return func(d *store.Delta) { d.DeleteRange(g, b(from), b(below)) }
}

var rowCases = []struct {
	name  string
	steps []step
	want  []string
}{
	{"nothing", nil, nil},
	{"put", []step{put(3, "a", "1")}, []string{"3 a=1"}},
	{"put replaces", []step{put(3, "a", "1"), put(3, "a", "2")}, []string{"3 a=2"}},
	{"put of nothing is a value", []step{put(3, "a", "")}, []string{"3 a="}},
	{"empty key", []step{put(3, "", "1"), put(3, "a", "2"), merge(0, "", "m")}, []string{"0 +m", "3 =1", "3 a=2"}},
	{"delete", []step{put(3, "a", "1"), put(3, "b", "2"), del(3, "a")}, []string{"3 b=2"}},
	{"delete of nothing", []step{del(3, "a"), put(3, "b", "1")}, []string{"3 b=1"}},
	{"put after delete", []step{put(3, "a", "1"), del(3, "a"), put(3, "a", "2")}, []string{"3 a=2"}},
	{"merge alone has no value", []step{merge(3, "a", "1")}, []string{"3 a+1"}},
	{"merge of nothing counts", []step{merge(3, "a", ""), merge(3, "a", "")}, []string{"3 a++"}},
	{"merges after put", []step{put(3, "a", "0"), merge(3, "a", "1"), merge(3, "a", "2")}, []string{"3 a=0+1+2"}},
	{"put forgets merges", []step{merge(3, "a", "1"), put(3, "a", "2"), merge(3, "a", "3")}, []string{"3 a=2+3"}},
	{"delete forgets merges", []step{put(3, "a", "1"), merge(3, "a", "2"), del(3, "a"), merge(3, "a", "3")}, []string{"3 a+3"}},
	{"delete last", []step{merge(3, "a", "2"), del(3, "a")}, nil},
	{"order of groups and keys", []step{put(200, "a", "1"), put(3, "b", "2"), put(3, "a", "3"), put(0, "z", "4"), put(3, "aa", "5"), put(255, "", "6")},
		[]string{"0 z=4", "3 a=3", "3 aa=5", "3 b=2", "200 a=1", "255 =6"}},
	{"delete range is half open", []step{put(3, "a", "1"), put(3, "b", "2"), put(3, "c", "3"), delRange(3, "a", "c")}, []string{"3 c=3"}},
	{"delete range of one group", []step{put(2, "b", "1"), put(3, "b", "2"), put(4, "b", "3"), delRange(3, "a", "c")}, []string{"2 b=1", "4 b=3"}},
	{"delete range without limit", []step{put(2, "z", "0"), put(3, "a", "1"), put(3, "b", "2"), put(3, "\xff\xff\xff\xff", "3"), put(4, "a", "4"), delRange(3, "b", "")},
		[]string{"2 z=0", "3 a=1", "4 a=4"}},
	{"delete range of the last group", []step{put(254, "a", "1"), put(255, "a", "2"), put(255, "\xff", "3"), delRange(255, "", "")}, []string{"254 a=1"}},
	{"delete range with its ends reversed", []step{put(3, "b", "1"), delRange(3, "c", "a"), delRange(3, "b", "b")}, []string{"3 b=1"}},
	{"delete range forgets merges", []step{put(3, "b", "1"), merge(3, "b", "2"), delRange(3, "b", "b\x00"), merge(3, "b", "3")}, []string{"3 b+3"}},
	{"put after delete range", []step{put(3, "b", "1"), put(3, "bb", "2"), delRange(3, "a", "z"), put(3, "b", "3")}, []string{"3 b=3"}},
	{"delete range after delete range", []step{put(3, "b", "1"), delRange(3, "a", "c"), put(3, "b", "2"), put(3, "d", "3"), delRange(3, "b", "c"), put(3, "bb", "4")},
		[]string{"3 bb=4", "3 d=3"}},
}

func testRanges(t *testing.T, h Harness) {
	p := open(t, h)
	p.commit(1, delta(func(d *store.Delta) {
		for g := range 256 {
			for _, k := range []string{"", "a", "b", "b\x00", "c"} {
				d.Put(store.Group(g), b(k), nil)
			}
		}
	}))
	full := p.rows(cells.All())
	bounds := [][]byte{nil, {}, b("a"), b("aa"), b("b"), b("b\x00"), b("d")}
	for _, g := range [][2]store.Group{{0, 255}, {0, 0}, {7, 7}, {255, 255}, {0, 3}, {100, 103}, {250, 255}, {9, 8}} {
		for _, from := range bounds {
			for _, below := range bounds {
				r := store.Range{Space: cells, First: g[0], Last: g[1], From: from, Below: below}
				var want []string
				for _, w := range full {
					if inRange(r, w.Group, w.Key) {
						want = append(want, show(w))
					}
				}
				p.expect(r, want...)
			}
		}
	}
	for n := range 12 {
		seen := 0
		if err := p.Scan(cells.All(), func(store.Row) bool { seen++; return seen <= n }); err != nil || seen != n+1 {
			t.Errorf("a scan stopped at its row %d saw %d: %v", n+1, seen, err)
		}
	}
}

// inRange is what Range's comment says.
func inRange(r store.Range, g store.Group, key []byte) bool {
	return r.First <= g && g <= r.Last && bytes.Compare(r.From, key) <= 0 &&
		(len(r.Below) == 0 || bytes.Compare(key, r.Below) < 0)
}

// testSpaces: rows of neighbouring spaces do not mix.
func testSpaces(t *testing.T, h Harness) {
	p := open(t, h)
	var spaces []store.Space
	for _, region := range []store.RegionID{0, 1, 2, 255, 256, 1<<32 - 1} {
		for _, kind := range []store.Kind{store.State, store.Held, store.Effect, store.Mark, store.Quarantined} {
			for _, transform := range []store.TransformID{0, 1, 255, 256, 1<<32 - 1} {
				spaces = append(spaces, store.Space{Region: region, Kind: kind, Transform: transform})
			}
		}
	}
	for i, s := range spaces {
		d := store.NewDelta(s)
		d.Put(0, nil, fmt.Append(nil, i))
		d.Put(255, b("\xff\xff"), fmt.Append(nil, i))
		p.commit(s.Region, d)
	}
	for i, s := range spaces {
		p.expect(s.All(), fmt.Sprintf("0 =%d", i), fmt.Sprintf("255 \xff\xff=%d", i))
	}
	for i := 0; i < len(spaces); i += 2 {
		d := store.NewDelta(spaces[i])
		d.DeleteRange(0, nil, nil)
		d.DeleteRange(255, nil, nil)
		p.commit(spaces[i].Region, d)
	}
	p.reopen()
	for i, s := range spaces {
		if i%2 == 0 {
			p.expect(s.All())
		} else {
			p.expect(s.All(), fmt.Sprintf("0 =%d", i), fmt.Sprintf("255 \xff\xff=%d", i))
		}
	}
}

// testDeltaReused: a store keeps nothing of a delta after Commit.
func testDeltaReused(t *testing.T, h Harness) {
	p := open(t, h)
	d := store.NewDelta(cells)
	d.Put(1, b("key"), b("value"))
	d.Merge(1, b("key"), b("first"))
	p.commit(1, d)
	d.Reset()
	d.Put(1, b("KEY"), b("VALUE"))
	d.Merge(1, b("KEY"), b("FIRST"))
	p.expect(cells.All(), "1 key=value+first")
}

func testAnyBytes(t *testing.T, h Harness) {
	p := open(t, h)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	d := store.NewDelta(cells)
	want := make([]string, 0, len(all)+1)
	for _, c := range all {
		d.Put(9, []byte{c}, []byte{c, 0})
		want = append(want, show(store.Row{Group: 9, Key: []byte{c}, Value: []byte{c, 0}}))
	}
	d.Put(10, bytes.Repeat(all, 3), all)
	d.Merge(10, bytes.Repeat(all, 3), all)
	p.commit(1, d)
	p.expect(cells.All(), append(want, show(store.Row{Group: 10, Key: bytes.Repeat(all, 3), Value: all, Merges: [][]byte{all}}))...)
}

// testLarge: values, keys and commits larger than any buffer.
func testLarge(t *testing.T, h Harness) {
	if h.Short {
		t.Skip("short")
	}
	p := open(t, h)
	big := bytes.Repeat(b("0123456789abcdef"), 9<<20/16)
	d := store.NewDelta(cells)
	d.Put(1, big[:100_000], big)
	d.Merge(1, big[:100_000], big[:5<<20])
	d.Put(2, b("small"), b("1"))
	p.commit(1, d)
	for g := range 10 {
		p.commit(1, delta(func(d *store.Delta) {
			for i := range 10_000 {
				d.Put(store.Group(g), fmt.Appendf(nil, "%08d", i), big[:100])
			}
		}))
	}
	for range 2 {
		rows := p.rows(store.Range{Space: cells, First: 1, Last: 1, From: big[:100_000]})
		if len(rows) == 0 || !bytes.Equal(rows[len(rows)-1].Value, big) || !bytes.Equal(rows[len(rows)-1].Merges[0], big[:5<<20]) {
			t.Error("a large row did not come back whole")
		}
		if n := len(p.rows(cells.All())); n != 10*10_000+2 {
			t.Errorf("%d rows, want %d", n, 10*10_000+2)
		}
		p.reopen()
	}
}

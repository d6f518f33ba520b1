package acks

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A walk meets every delivery of both deques once, in position order, wherever it
// starts and whatever slots are empty.
func TestOrderedWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &channel[int]{}
		var held []Position
		var gone []*delivery[int]
		for p := Position(1); p <= 20; p++ {
			where := rapid.SampledFrom([]string{"main", "side", "removed", "again", "nowhere"}).Draw(t, "where")
			d := &delivery[int]{ref: MakeRef(0, p)}
			switch where {
			case "main", "removed", "again":
				c.main.push(d)
			case "side":
				c.side.insert(d)
			}
			if where == "removed" || where == "again" {
				gone = append(gone, d)
			}
			if where == "again" { // in main once, in side now
				c.side.insert(&delivery[int]{ref: d.ref})
			}
			if where != "removed" && where != "nowhere" {
				held = append(held, p)
			}
		}
		for _, d := range gone {
			c.main.remove(d)
		}
		start := Position(rapid.Uint64Range(0, 21).Draw(t, "start"))
		var got []Position
		for it := c.from(start); ; {
			d := it.next()
			if d == nil {
				break
			}
			got = append(got, d.pos())
		}
		if want := slices.DeleteFunc(held, func(p Position) bool { return p < start }); !slices.Equal(got, want) {
			t.Fatalf("%v, not %v", got, want)
		}
	})
}

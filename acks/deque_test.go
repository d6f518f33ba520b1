package acks

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A deque against a map, under pushes, inserts and removals in any order.
func TestDequeModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q deque[int]
		model := map[Position]*delivery[int]{}
		var last Position
		add := func(pos Position, put func(*delivery[int])) {
			d := &delivery[int]{ref: MakeRef(0, pos)}
			model[pos] = d
			put(d)
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					last += Position(rapid.IntRange(1, 3).Draw(t, "gap"))
					add(last, q.push)
				}
			},
			"insert": func(t *rapid.T) {
				pos := Position(rapid.Uint64Range(1, uint64(last)+1).Draw(t, "pos"))
				if model[pos] == nil {
					add(pos, q.insert)
					last = max(last, pos)
				}
			},
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				keys := sortedKeys(model)
				i := rapid.IntRange(0, len(keys)-1).Draw(t, "first")
				for _, pos := range keys[i:min(len(keys), i+rapid.IntRange(1, 40).Draw(t, "n"))] {
					if !q.remove(model[pos]) || q.remove(model[pos]) {
						t.Fatalf("%d is not removed once", pos)
					}
					delete(model, pos)
				}
			},
			"": func(t *rapid.T) {
				var held []Position
				for i := range q.n {
					if s := q.at(i); s.d != nil {
						held = append(held, s.pos)
					}
				}
				if !slices.Equal(held, sortedKeys(model)) {
					t.Fatalf("holds %v, not %v", held, sortedKeys(model))
				}
				if q.n-q.empty != len(held) || q.empty > 32 && q.empty > q.n/2 {
					t.Fatalf("%d slots, %d empty, %d held", q.n, q.empty, len(held))
				}
				for pos := Position(1); pos <= last+1; pos += 1 + last/50 {
					if q.find(pos) != model[pos] {
						t.Fatalf("finds %v at %d", q.find(pos), pos)
					}
				}
			},
		})
	})
}

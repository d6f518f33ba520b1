package main

import "testing"

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		row  row
		want string
	}{
		{row{how: asRatio, value: 9}, ""},
		{row{how: asRatio, value: 1.05, goal: goal{atMost, 1.05}}, "pass"},
		{row{how: asRatio, value: 1.10, spread: 0.05, goal: goal{atMost, 1.05}}, "within spread"},
		{row{how: asRatio, value: 1.11, spread: 0.05, goal: goal{atMost, 1.05}}, "MISSED"},
		{row{how: asRatio, value: 4.3, spread: 0.1, goal: goal{atMost, 4}}, "within spread"},
		{row{how: asRatio, value: 1.39, goal: goal{atLeast, 1.4}}, "MISSED"},
		{row{how: asRatio, value: 1.41, goal: goal{atLeast, 1.4}}, "pass"},
		{row{how: asRatio, value: 0.5, goal: goal{hoped, 0.8}}, "below the hope"},
		{row{how: asDifference, value: 41, spread: 2, goal: goal{atMost, 40}}, "within spread"},
		{row{how: asDifference, value: 43, spread: 2, goal: goal{atMost, 40}}, "MISSED"},
	} {
		if got := c.row.verdict(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.row, got, c.want)
		}
	}
}

func TestAlternateBeginsEachRoundWithAnother(t *testing.T) {
	var order string
	v := func(name string) variant {
		return variant{name, func() (sample, error) {
			order += name
			return sample{"n": float64(len(order))}, nil
		}}
	}
	c, err := alternate("f", 2, nil, v("a"), v("b"), v("c"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "abc" + "bca" + "cab"; order != want {
		t.Errorf("ran in order %s, want %s", order, want)
	}
	if got := c.of("a", "n"); len(got) != 2 || got[0] != 6 || got[1] != 8 {
		t.Errorf("samples of a are %v: the warming round must not count", got)
	}
}

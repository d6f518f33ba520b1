package main

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{1, 1, 1, 1000}, 1},
	} {
		if got := median(c.in); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

func TestMedianKeepsItsInput(t *testing.T) {
	in := []float64{3, 1, 2}
	median(in)
	if in[0] != 3 || in[1] != 1 || in[2] != 2 {
		t.Errorf("median sorted its input: %v", in)
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{10, 20, 30, 40, 50}
	for q, want := range map[float64]float64{0: 10, 0.25: 20, 0.5: 30, 0.9: 46, 1: 50} {
		if got := quantile(v, q); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
}

func TestPairsOfUnequalLength(t *testing.T) {
	got := pairs([]float64{6, 8, 1}, []float64{2, 4}, ratio)
	if len(got) != 2 || got[0] != 3 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name        string
		pairs       []float64
		none, wants float64
	}{
		{"equal", []float64{1, 1, 1}, 1, 0},
		{"shifted as a whole", []float64{1.2, 1.2, 1.2}, 1, 0.2},
		{"scattered around one", []float64{0.8, 0.9, 1, 1.1, 1.2}, 1, 0.1},
		{"one outlier", []float64{1, 1, 1, 1, 9}, 1, 0},
		{"differences", []float64{-2, 0, 2}, 0, 1},
	} {
		if got := spread(c.pairs, c.none); math.Abs(got-c.wants) > 1e-9 {
			t.Errorf("%s: spread %v, want %v", c.name, got, c.wants)
		}
	}
}

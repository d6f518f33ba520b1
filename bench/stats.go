package main

import (
	"math"
	"slices"
)

// median of v; the mean of the two in the middle where there are two. NaN of
// nothing.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile q (0 to 1) of v, linear between the values.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	at := q * float64(len(v)-1)
	below := int(at)
	if below == len(v)-1 {
		return v[below]
	}
	return v[below] + (at-float64(below))*(v[below+1]-v[below])
}

// pairs applies f to the values of each round.
func pairs(a, b []float64, f func(a, b float64) float64) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = f(a[i], b[i])
	}
	return out
}

func ratio(a, b float64) float64      { return a / b }
func difference(a, b float64) float64 { return a - b }

// spread is how far the pairs of two equal things lie from none (1 for a ratio, 0
// for a difference): the distance of their median, or half of the range that holds
// the middle half of them, whichever is more.
func spread(pairs []float64, none float64) float64 {
	return max(math.Abs(median(pairs)-none), (quantile(pairs, 0.75)-quantile(pairs, 0.25))/2)
}

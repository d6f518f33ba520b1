package main

import (
	"fmt"
	"runtime"
)

// sample is what one run of a variant measured: metric by metric.
type sample map[string]float64

// variant is one of the programs that a figure compares.
type variant struct {
	name string
	run  func() (sample, error)
}

// runner runs a variant in a round.
type runner func(v variant, round int) (sample, error)

// contest holds the samples of all rounds.
type contest struct {
	figure   string
	variants []variant
	samples  map[string][]sample
}

// alternate runs the variants in turn, each round beginning with another. One round
// before is not counted: it warms caches and starts what starts once. around is
// given each run, to make a profile of it; nil for none.
func alternate(figure string, rounds int, around runner, variants ...variant) (*contest, error) {
	c := &contest{figure: figure, variants: variants, samples: map[string][]sample{}}
	if around == nil {
		around = func(v variant, _ int) (sample, error) { return v.run() }
	}
	for round := -1; round < rounds; round++ {
		for i := range variants {
			v := variants[(i+round+1)%len(variants)]
			runtime.GC()
			s, err := around(v, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", figure, v.name, err)
			}
			if round >= 0 {
				c.samples[v.name] = append(c.samples[v.name], s)
			}
		}
	}
	return c, nil
}

// of is a metric of a variant, round by round.
func (c *contest) of(variant, metric string) []float64 {
	all := c.samples[variant]
	out := make([]float64, len(all))
	for i, s := range all {
		out[i] = s[metric]
	}
	return out
}

func (c *contest) median(variant, metric string) float64 { return median(c.of(variant, metric)) }

// compare is the comparison of two variants by one metric; again is the baseline's
// second run of each round.
func (c *contest) compare(metric, sluice, baseline, again string, how comparison) row {
	a, b := c.of(sluice, metric), c.of(baseline, metric)
	aa := pairs(c.of(again, metric), b, how.f)
	return row{
		name: sluice, metric: metric, how: how,
		baseline: median(b), sluice: median(a),
		value: median(pairs(a, b, how.f)), spread: spread(aa, how.none),
	}
}

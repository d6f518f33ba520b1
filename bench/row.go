package main

import "fmt"

// comparison is how two numbers are compared.
type comparison struct {
	f    func(a, b float64) float64
	none float64 // of equal things
	sign string
}

var (
	asRatio      = comparison{ratio, 1, "×"}
	asDifference = comparison{difference, 0, "+"}
)

// row is one line of a figure's table.
type row struct {
	name, metric     string
	how              comparison
	baseline, sluice float64
	value, spread    float64
	goal             goal
}

// goal bounds a row's value; the zero goal bounds nothing.
type goal struct {
	kind  goalKind
	bound float64
}

type goalKind uint8

const (
	reported goalKind = iota
	atMost
	atLeast
	hoped // at least, and reported only
)

func (r row) want(k goalKind, bound float64) row {
	r.goal = goal{k, bound}
	return r
}

func (r row) named(name string) row {
	r.name = name
	return r
}

// verdict is pass, within spread (missed by less than the baseline differs from
// itself) or MISSED.
func (r row) verdict() string {
	margin := r.spread
	if r.how.none != 0 {
		margin *= r.goal.bound
	}
	short := 0.0
	switch r.goal.kind {
	case reported:
		return ""
	case atMost:
		short = r.value - r.goal.bound
	case atLeast, hoped:
		short = r.goal.bound - r.value
	}
	switch {
	case short <= 0:
		return "pass"
	case short <= margin:
		return "within spread"
	case r.goal.kind == hoped:
		return "below the hope"
	}
	return "MISSED"
}

func (g goal) String() string {
	switch g.kind {
	case atMost:
		return "≤ " + number(g.bound)
	case atLeast:
		return "≥ " + number(g.bound)
	case hoped:
		return "(≥ " + number(g.bound) + ")"
	}
	return ""
}

// number prints v with three digits or so.
func number(v float64) string {
	switch a := max(v, -v); {
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 100:
		return fmt.Sprintf("%.1f", v)
	case a >= 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// table prints the rows of a figure.
func table(w io.Writer, title string, rows []row) {
	fmt.Fprintf(w, "\n%s\n", title)
	cells := [][]string{{"", "metric", "baseline", "sluice", "compared", "A/A spread", "goal", ""}}
	for _, r := range rows {
		cells = append(cells, []string{
			r.name, r.metric, number(r.baseline), number(r.sluice), compared(r), "±" + number(r.spread), r.goal.String(), r.verdict(),
		})
	}
	width := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, c := range line {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, line := range cells {
		for i, c := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if i < 2 || i == len(line)-1 {
				c += pad
			} else {
				c = pad + c
			}
			line[i] = c
		}
		fmt.Fprintln(w, strings.TrimRight("  "+strings.Join(line, "  "), " "))
	}
}

func compared(r row) string {
	if r.how.none == 0 {
		return fmt.Sprintf("%s%s", map[bool]string{true: "+"}[r.value >= 0], number(r.value))
	}
	return number(r.value) + r.how.sign
}

// lines prints every sample as a line that benchstat reads.
func (c *contest) lines(w io.Writer) {
	for _, v := range c.variants {
		name := strings.ReplaceAll(c.figure+"/"+v.name, " ", "_")
		for _, s := range c.samples[v.name] {
			fmt.Fprintf(w, "Benchmark%s 1", name)
			for _, metric := range slices.Sorted(maps.Keys(s)) {
				fmt.Fprintf(w, " %g %s", s[metric], strings.ReplaceAll(metric, " ", "-"))
			}
			fmt.Fprintln(w)
		}
	}
}

package main

import (
	"os"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store/pebble"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

const (
	countElements = 4_000_000
	// countWindows is how many windows close in a run.
	countWindows = 8
)

// countFigure counts per key and window. The map loop keys its map by window and
// key, as the pipeline must.
func countFigure(s *session) ([]row, error) {
	n, keys := s.size(countElements), benchKeys()
	single := n / 4
	loop := func(n int) func() (sample, error) {
		return func() (sample, error) { return perElement(n, func() error { return mapLoop(n, keys) }) }
	}
	c, err := s.alternate("count",
		variant{"map loop", loop(n)}, variant{"map loop again", loop(n)},
		variant{"pipeline with Pebble", func() (sample, error) { return s.count(n, manyEach, keys) }},
		variant{"one message per element", func() (sample, error) { return s.count(single, 1, keys) }},
	)
	if err != nil {
		return nil, err
	}
	with := func(name, metric string) row { return c.compare(metric, name, "map loop", "map loop again", asRatio) }
	return []row{
		with("pipeline with Pebble", nsPerElement).want(atMost, 5),
		with("one message per element", nsPerElement),
		c.compare(allocsEach, "pipeline with Pebble", "map loop", "map loop again", asDifference),
	}, nil
}

// cell is a key in a window.
type cell struct {
	window event.Time
	key    string
}

//go:noinline
func mapLoop(n int, keys []string) error {
	counts := map[cell]int64{}
	size := event.Time(n / countWindows)
	closed, sum := event.Time(0), int64(0)
	for i := range n {
		at := event.Time(i)
		w := at - at%size
		if w != closed { // what the pipeline's results and deletions are
			for k, v := range counts {
				sum += v
				delete(counts, k)
			}
			closed = w
		}
		counts[cell{w, keys[i%len(keys)]}]++
	}
	blackHole = int(sum)
	return nil
}

// count runs a pipeline whose messages stand for each elements.
func (s *session) count(n, each int, keys []string) (sample, error) {
	dir, err := os.MkdirTemp(s.dir, "count")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	messages := n / each
	p := core.NewPipeline("count")
	var in source.Source = &feed{messages: messages, data: [][]byte{[]byte("x")}, step: event.Time(each)}
	numbers, _ := core.Read(p, "numbers", in, decodeNumber, core.ReadOptions[int]{Bounded: true})
	windowed := core.WindowInto(many(numbers, each, keys), "windows", window.Fixed(time.Duration(n/countWindows)*time.Microsecond))
	discard(stateful.CombinePerKey(windowed, "count", stateful.Count[int]()))
	return perElement(n, func() error { return complete(p, messages, core.WithStore(pebble.Dir(dir))) })
}

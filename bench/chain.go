package main

import (
	"context"
	"strconv"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/internal/engine"
)

const (
	chainElements = 4_000_000
	fullElements  = 1_000_000
)

// chainFunctions are what both sides call.
var chainFunctions = []func(int) int{
	func(v int) int { return v + 1 },
	func(v int) int { return v * 3 },
	func(v int) int { return v ^ 5 },
	func(v int) int { return v - 7 },
}

// blackHole keeps the compiler from leaving loops out.
var blackHole int

// chainFigure compares the fused chain alone, as the engine calls it, and the full
// path from a source, with its ledger, epochs and settlements.
func chainFigure(s *session) ([]row, error) {
	n, full := s.size(chainElements), s.size(fullElements)
	c, err := s.alternate("chain",
		variant{"loop", func() (sample, error) { return perElement(n, func() error { return plainChain(n) }) }},
		variant{"loop again", func() (sample, error) { return perElement(n, func() error { return plainChain(n) }) }},
		variant{"fused chain", func() (sample, error) { return fusedChain(n) }},
		variant{"source to discard, 4 maps", func() (sample, error) { return fullChain(full, 4) }},
		variant{"source to discard, no map", func() (sample, error) { return fullChain(full, 0) }},
	)
	if err != nil {
		return nil, err
	}
	with := func(name string) row { return c.compare(nsPerElement, name, "loop", "loop again", asRatio) }
	maps := c.compare(nsPerElement, "source to discard, 4 maps", "source to discard, no map", "source to discard, no map", asDifference)
	maps.spread = spread(pairs(c.of("loop again", nsPerElement), c.of("loop", nsPerElement), difference), 0)
	return []row{
		with("fused chain").want(atMost, 4),
		c.compare(allocsEach, "fused chain", "loop", "loop again", asDifference).want(atMost, allocsNone),
		with("source to discard, 4 maps"),
		with("source to discard, no map"),
		maps.named("4 maps in the full path"),
	}, nil
}

// allocsNone is what the runtime allocates around a measurement, per element.
const allocsNone = 0.001

//go:noinline
func plainChain(n int) error {
	for i := range n {
		v := i
		for _, f := range chainFunctions {
			v = f(v)
		}
		blackHole = v
	}
	return nil
}

// mapped adds count maps to c.
func mapped(c core.PCollection[int], count int) core.PCollection[int] {
	for i := range count {
		c = core.Map(c, "map "+strconv.Itoa(i), chainFunctions[i%len(chainFunctions)])
	}
	return c
}

func decodeNumber(m core.Message) (int, error) { return int(m.Position), nil }

// fusedChain builds the chain of a pipeline's worker and calls it.
func fusedChain(n int) (sample, error) {
	p := core.NewPipeline("chain")
	numbers, _ := core.Read(p, "numbers", &feed{}, decodeNumber)
	mapped(numbers, len(chainFunctions))
	task := engine.NewTestTask(context.Background(), quiet)
	var next any = core.Receiver[int](func(e *element.Element[int]) { blackHole = e.Value })
	nodes := p.Graph().Nodes
	for i := len(nodes) - 1; i > 0; i-- {
		var err error
		if next, err = nodes[i].Fuse(task, []any{next}); err != nil {
			return nil, err
		}
	}
	return perElement(n, func() error { return drive(next.(core.Receiver[int]), n) })
}

//go:noinline
func drive(chain core.Receiver[int], n int) error {
	var e element.Element[int]
	for i := range n {
		e.Value = i
		chain(&e)
	}
	return nil
}

func fullChain(n, maps int) (sample, error) {
	p := core.NewPipeline("chain")
	numbers, _ := core.Read(p, "numbers", newFeed(n), decodeNumber, core.ReadOptions[int]{Bounded: true})
	discard(mapped(numbers, maps))
	return perElement(n, func() error { return complete(p, n) })
}

func newFeed(n int) source.Source { return &feed{messages: n, data: [][]byte{[]byte("x")}, step: 1} }

package main

import (
	"fmt"

	"github.com/gosluice/sluice/core"
)

const (
	exchangeElements = 4_000_000
	// manyEach is how many elements a message stands for where the cost of an element
	// is measured.
	manyEach = 8
	keyCount = 10_000
)

// benchKeys are the keys that figures use.
func benchKeys() []string {
	keys := make([]string, keyCount)
	for i := range keys {
		keys[i] = fmt.Sprintf("customer-%05d", i*7919%keyCount)
	}
	return keys
}

// exchangeFigure adds a keyed exchange to a chain. Everything that differs counts:
// key encoding, hash, copy, queue, the second stage's workers and barriers.
func exchangeFigure(s *session) ([]row, error) {
	n, keys := s.size(exchangeElements), benchKeys()
	run := func(keyed bool) func() (sample, error) {
		return func() (sample, error) { return exchange(n, keys, keyed) }
	}
	c, err := s.alternate("exchange",
		variant{"unkeyed", run(false)}, variant{"unkeyed again", run(false)}, variant{"keyed", run(true)})
	if err != nil {
		return nil, err
	}
	return []row{
		c.compare(nsPerElement, "keyed", "unkeyed", "unkeyed again", asDifference).want(atMost, 40),
		c.compare(allocsEach, "keyed", "unkeyed", "unkeyed again", asDifference),
	}, nil
}

func exchange(n int, keys []string, keyed bool) (sample, error) {
	p := core.NewPipeline("exchange")
	numbers, _ := core.Read(p, "numbers", newFeed(n/manyEach), decodeNumber, core.ReadOptions[int]{Bounded: true})
	pairs := many(numbers, manyEach, keys)
	if keyed {
		pairs = exchanged(pairs)
	}
	discard(pairs)
	return perElement(n, func() error { return complete(p, n/manyEach) })
}

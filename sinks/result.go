package sinks

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/internal/plan"
)

// WriteResult is what a sink wrote and what it could not write, in the windows of
// its input.
type WriteResult[T, R any] struct {
	Written core.PCollection[R]
	Failed  core.PCollection[core.Failed[T]]
}

// Done is a signal that finishes for a window when every record of it was written
// or has failed for good.
func (r WriteResult[T, R]) Done() core.Signal { return r.Written.Done() }

// Config says how a sink gathers records into batches. The zero value makes one
// batch per window.
type Config[T any] struct {
	// Destination names where a record goes; records of one destination and window
	// share a batch. nil: everything goes to "".
	Destination func(T) string
	// Records and Bytes (encoded) close a batch early; zero: no limit.
	Records int
	Bytes   int
	// Age closes a batch so long after its first record. Zero: no limit, except that
	// a batch in the global window of an unbounded input, which would never close,
	// gets AgeDefault.
	Age time.Duration
	// Attempts bounds in-bundle writes before the epoch is abandoned and done again.
	Attempts int
}

// AgeDefault closes batches that no window closes.
const AgeDefault = time.Second

// Validate returns what is wrong with c, naming the fields.
func (c Config[T]) Validate() []error {
	var problems []error
	for _, f := range []struct {
		name  string
		value int64
	}{{"Records", int64(c.Records)}, {"Bytes", int64(c.Bytes)}, {"Age", int64(c.Age)}, {"Attempts", int64(c.Attempts)}} {
		if f.value < 0 {
			problems = append(problems, fmt.Errorf("field Config.%s is negative", f.name))
		}
	}
	return problems
}

// check adds the problems of c to the graph.
func check[T any](g *plan.Graph, name string, c Config[T]) {
	for _, p := range c.Validate() {
		g.Problem(name, "%v", p)
	}
}

// destination of v.
func (c Config[T]) destination(v T) string {
	if c.Destination == nil {
		return ""
	}
	return c.Destination(v)
}

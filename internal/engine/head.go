package engine

import (
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store"
)

// Head is the operator at the start of a stage, the only one that may keep
// elements, timers or holds. One instance serves one worker and is called by that
// worker's step alone. Embed [BaseHead] for the methods that need nothing.
type Head interface {
	// Open loads what was committed. Called once, before anything else. It may
	// block on reads of the store.
	Open() error
	// Data takes batch b of input in; the head may not keep b or point into it.
	Data(in int, b Batch) error
	// Watermark tells that input in has reached wm. Data that came before is
	// processed.
	Watermark(in int, wm event.Time) error
	// Work goes on with what was left over: firing windows, releasing a gate.
	// more: call again, new input waits.
	Work(now time.Time) (more bool, err error)
	// Hold bounds the output watermark; event.Max where nothing holds it.
	Hold() event.Time
	// Close prepares the end of the bundle. ready false: calls are outstanding,
	// Close is called again after the next one completed.
	Close() (ready bool, err error)
	// Snapshot returns the changes of the epoch that ends here; they must not
	// change afterwards.
	Snapshot(epoch uint64) []*store.Delta
	// Committed tells that epoch is durable.
	Committed(epoch uint64)
	// Idle says that nothing is kept: with all inputs finished, the stage is done.
	Idle() bool
}

// BaseHead is a head that keeps nothing.
type BaseHead struct{}

func (BaseHead) Open() error                     { return nil }
func (BaseHead) Watermark(int, event.Time) error { return nil }
func (BaseHead) Work(time.Time) (bool, error)    { return false, nil }
func (BaseHead) Hold() event.Time                { return event.Max }
func (BaseHead) Close() (bool, error)            { return true, nil }
func (BaseHead) Snapshot(uint64) []*store.Delta  { return nil }
func (BaseHead) Committed(uint64)                {}
func (BaseHead) Idle() bool                      { return true }

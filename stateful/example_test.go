package stateful_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

// Orders are gathered for each customer until half a minute of event time has
// passed without one; what is left when the window ends is sent then.
func ExampleParDo() {
	type orders = core.KV[string, string]
	p := core.NewPipeline("orders")
	keyed := all(
		el(kv("ann", "apples"), sec(1)),
		el(kv("ann", "pears"), sec(2)),
		wm[orders](sec(40)), // nothing for ann since second 2
		el(kv("ann", "plums"), sec(41)),
	).read(p, window.Fixed(time.Minute), 0)

	type line = *core.Out[string]
	parcels := stateful.ParDo(keyed, "gather", func(d *stateful.Decl[string, string, string]) stateful.DoFn[string, string, string] {
		items := stateful.Bag[string](d, "items")
		flush := func(key string, out line) {
			if !items.IsEmpty().Read() {
				out.Emit(fmt.Sprint(key, items.Read()))
				items.Clear()
			}
		}
		quiet := stateful.EventTimer(d, "quiet", func(ctx stateful.TimerContext[string], out line) error {
			flush(ctx.Key(), out)
			return nil
		})
		return stateful.DoFn[string, string, string]{
			Process: func(ctx stateful.Context[string], e *core.Element[orders], _ line) error {
				items.Add(e.Value.Value)
				quiet.Set(min(e.Time.Add(30*time.Second), ctx.Expires()))
				return nil
			},
			OnWindowExpiration: func(ctx stateful.Context[string], out line) error {
				flush(ctx.Key(), out)
				return nil
			},
		}
	})
	core.Map(parcels, "print", func(s string) struct{} { fmt.Println(s); return struct{}{} })

	if _, err := core.Run(context.Background(), p, core.WithStore(memory.New()), core.WithLogger(quiet)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ann[apples pears]
	// ann[plums]
}

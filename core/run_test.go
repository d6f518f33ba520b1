package core_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

// TestRunCounts runs a windowed count end to end on the goroutine driver.
func TestRunCounts(t *testing.T) {
	const n = 100_000
	src := newNumbers(n)
	p := core.NewPipeline("counts")
	in, _ := core.Read(p, "numbers", src, decodeNumber)
	keyed := core.Map(in, "key", func(v int) core.KV[string, int] { return core.KV[string, int]{Key: fmt.Sprint(v % 10), Value: v} })
	seconds := core.WindowInto(keyed, "seconds", window.Fixed(time.Second))
	counted := stateful.CombinePerKey(seconds, "count", stateful.Count[int]())
	var mu sync.Mutex
	got := map[string]int64{}
	core.ParDo(counted, "collect", func(ctx core.Context, e *core.Element[core.KV[string, int64]], _ *core.Out[int]) error {
		mu.Lock()
		defer mu.Unlock()
		got[e.Window.String()+e.Value.Key] += e.Value.Value
		return nil
	})
	report, err := core.Run(t.Context(), p, core.Volatile())
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, v := range got {
		sum += v
	}
	if sum != n || len(got) != 1001 {
		t.Errorf("counted %d in %d results, want %d", sum, len(got), n)
	}
	if src.verdicts(source.Ack) != n || report.Acked != n {
		t.Errorf("acked %d, report %+v", src.verdicts(source.Ack), report)
	}
}

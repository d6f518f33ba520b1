package core_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/stateful"
)

// numbers is a source of the numbers 1..n, one millisecond of event time apart.
type numbers struct {
	n     int
	mu    sync.Mutex
	next  int
	acked map[source.Position]int
}

func newNumbers(n int) *numbers { return &numbers{n: n, next: 1, acked: map[source.Position]int{}} }

func (s *numbers) Capabilities() source.Capabilities {
	return source.Capabilities{Reject: true, Terminate: true, Positions: true, Confirmed: true, Readers: 1}
}

func (s *numbers) Open(_ context.Context, o source.Options) (source.Reader, error) {
	return &numbersReader{s: s}, nil
}

type numbersReader struct {
	s       *numbers
	started bool
}

func (r *numbersReader) Poll(dst []source.Message) (source.Polled, error) {
	var p source.Polled
	if !r.started {
		r.started = true
		p.Started = []source.Start{{Name: "numbers"}}
	}
	s := r.s
	for ; p.N < len(dst) && s.next <= s.n; s.next++ {
		dst[p.N] = source.Message{
			Data: []byte(strconv.Itoa(s.next)), Time: event.Millis(int64(s.next)),
			Position: source.Position(s.next), Attempt: 1, Received: time.Now(),
		}
		p.N++
	}
	p.Finished = s.next > s.n
	return p, nil
}

func (r *numbersReader) Settle(_ context.Context, list []source.Settlement) []source.Failure {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, m := range list {
		r.s.acked[m.Position]++
	}
	return nil
}
func (r *numbersReader) Extend(context.Context, []source.Settlement) []source.Failure { return nil }
func (r *numbersReader) Close(context.Context) error                                  { return nil }

func decodeNumber(m core.Message) (int, error) { return strconv.Atoi(string(m.Data)) }

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
	if len(src.acked) != n || report.Acked != n {
		t.Errorf("acked %d, report %+v", len(src.acked), report)
	}
}

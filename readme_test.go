package sluice_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store/pebble"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/gating"
	"github.com/gosluice/sluice/sinks"
	"github.com/gosluice/sluice/sinks/files"
	"github.com/gosluice/sluice/stateful"
)

type Order struct {
	Region string
	Cents  int64
	At     time.Time
}

// readme is the README's sample, so that it compiles.
func readme(ctx context.Context, js jetstream.JetStream, cfg natsio.Config, decode func(core.Message) (Order, error),
	orderFiles *files.Writer[Order], letterFiles *files.Writer[core.Undecoded], publisher sinks.Publisher,
	message func(int64) (sinks.OutMessage, error)) (core.Report, error) {
	at := func(o Order) time.Time { return o.At }
	region := func(o Order) string { return o.Region }
	cents := func(o Order) int64 { return o.Cents }

	p := core.NewPipeline("orders-after-write")

	// Messages that do not decode are a collection of their own.
	orders, undecoded := core.Read(p, "orders", natsio.NewSource(js, cfg), decode,
		core.ReadOptions[Order]{EventTime: at, OutOfOrder: 3 * time.Second})
	minutes := core.WindowInto(orders, "minutes", window.Fixed(time.Minute))

	// A sink returns what it wrote, what it could not write, and when it is done.
	written := sinks.WriteAfterCommit(minutes, "files", orderFiles,
		sinks.Config[Order]{Destination: region})
	sinks.WriteAfterCommit(undecoded, "dead letters", letterFiles, sinks.Config[core.Undecoded]{})

	// One summary per minute; CombinePerKey makes one per minute and key.
	totals := stateful.CombineGlobally(core.Map(minutes, "cents", cents), "total", stateful.Sum[int64]())

	// Held back, minute by minute, until the minute's files are there.
	ready := gating.WaitOn(totals, "after files", written.Done())
	sinks.Publish(ready, "notify", publisher, message, sinks.Config[int64]{})

	report, err := core.Run(ctx, p, core.WithStore(pebble.Dir("state")))
	return report, err
}

// TestReadmeSample checks that the README shows the code that compiles here.
func TestReadmeSample(t *testing.T) {
	_ = readme
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(page), "```go\n")
	shown, _, closed := strings.Cut(shown, "```\n")
	if !ok || !closed {
		t.Fatal("README.md has no Go sample")
	}
	var indented strings.Builder
	for line := range strings.Lines(shown) {
		if line != "\n" {
			indented.WriteByte('\t')
		}
		indented.WriteString(line)
	}
	if !strings.Contains(string(source), indented.String()) {
		t.Error("the sample in README.md is not the code of readme_test.go: change both")
	}
}

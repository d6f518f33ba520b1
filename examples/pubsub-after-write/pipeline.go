package main

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/gating"
	"github.com/gosluice/sluice/sinks"
	"github.com/gosluice/sluice/sinks/files"
	"github.com/gosluice/sluice/stateful"
)

// build is the whole pipeline:
//
//	orders ─▶ minutes ─▶ files ───┬─▶ a notification per file
//	   │         │          (written) ╌╌╌╌╌╌╌╌╌╮
//	   │         ├─▶ summary per minute ─▶ wait for the files ─▶ a notification per minute
//	   │         └─▶ late orders ─▶ late files ─▶ a notification per file
//	   └─▶ undecoded ─▶ dead letter files
func build(s settings, q *queue, t *target, n *counts) (*core.Pipeline, error) {
	dir := filepath.Join(s.dir, "files")
	byRegion, err := files.NewWriter(files.Config[Order]{Dir: dir, Owner: "orders"})
	if err != nil {
		return nil, err
	}
	lateByRegion, err := files.NewWriter(files.Config[Order]{Dir: dir, Owner: "late"})
	if err != nil {
		return nil, err
	}
	deadLetters, err := files.NewWriter(files.Config[core.Undecoded]{Dir: dir, Owner: "dead"})
	if err != nil {
		return nil, err
	}

	p := core.NewPipeline("pubsub-after-write")
	orders, undecoded := core.Read(p, "orders", natsio.NewSource(q.js, q.source(s)), decode, core.ReadOptions[Order]{
		EventTime:  func(o Order) time.Time { return o.At },
		OutOfOrder: outOfOrder,
		Bounded:    !s.follow,
	})
	minutes, late := core.WindowIntoWithLate(orders, "minutes", window.Fixed(time.Minute))

	written := sinks.WriteAfterCommit(minutes, "files", byRegion, sinks.Config[Order]{
		Destination: func(o Order) string { return o.Region },
	})
	lateWritten := sinks.WriteAfterCommit(late, "late files", lateByRegion, sinks.Config[Order]{
		Destination: func(o Order) string { return "late/" + o.Region }, Age: lateAge,
	})
	dead := sinks.WriteAfterCommit(undecoded, "dead letters", deadLetters, sinks.Config[core.Undecoded]{
		Destination: func(core.Undecoded) string { return "undecoded" }, Age: lateAge,
	})
	n.follow(written.Written, lateWritten.Written, dead.Written)

	notify(core.Map(written.Written, "file message", aboutFile), "notify file", t, n)
	notify(core.Map(lateWritten.Written, "late file message", aboutFile), "notify late file", t, n)

	ready := gating.WaitOn(summaries(minutes, written.Written), "after files", written.Done())
	notify(core.Map(ready, "minute message", aboutMinute), "notify minute", t, n)
	return p, nil
}

// lateAge is how long a file of late or undecodable orders gathers.
const lateAge = 2 * time.Second

// minute is what is told about one window.
type minute struct {
	Window   window.Window
	Files    int64
	Rows     int64
	Smallest int
	Largest  int
}

// summaries makes one minute per window, of the orders and files in it.
func summaries(orders core.PCollection[Order], written core.PCollection[files.File]) core.PCollection[minute] {
	rows := core.Map(orders, "count order", func(o Order) minute { return minute{Rows: 1, Smallest: o.ID, Largest: o.ID} })
	names := core.Map(written, "count file", func(files.File) minute { return minute{Files: 1} })
	sum := stateful.CombineGlobally(core.Flatten("orders and files", rows, names), "summary", stateful.CombineFn[minute, minute, minute]{
		Zero: func() minute { return minute{} },
		Add:  merge, Merge: merge,
		Out: func(m minute) minute { return m },
	})
	return core.ParDo(sum, "name minute", func(_ core.Context, e *core.Element[minute], out *core.Out[minute]) error {
		m := e.Value
		m.Window = e.Window
		out.Emit(m)
		return nil
	})
}

func merge(a *minute, b minute) {
	a.Files += b.Files
	if b.Rows > 0 {
		if a.Rows == 0 || b.Smallest < a.Smallest {
			a.Smallest = b.Smallest
		}
		a.Largest = max(a.Largest, b.Largest)
	}
	a.Rows += b.Rows
}

// message is a notification before it has an id.
type message struct {
	Data       []byte
	Attributes map[string]string
}

func aboutFile(f files.File) message {
	data, _ := json.Marshal(f)
	return message{Data: data, Attributes: map[string]string{"kind": "file", "name": f.Name, "rows": strconv.FormatInt(f.Records, 10)}}
}

func aboutMinute(m minute) message {
	data, _ := json.Marshal(m)
	return message{Data: data, Attributes: map[string]string{
		"kind": "minute", "start": m.Window.Start.String(), "end": m.Window.End.String(),
		"files": strconv.FormatInt(m.Files, 10), "rows": strconv.FormatInt(m.Rows, 10),
		"smallest": strconv.Itoa(m.Smallest), "largest": strconv.Itoa(m.Largest),
	}}
}

// notify publishes one message per element after the commit.
func notify(c core.PCollection[message], name string, t *target, n *counts) {
	sent := sinks.Publish(c, name, t.publisher, func(m message) (sinks.OutMessage, error) {
		return sinks.OutMessage{Data: m.Data, Attributes: m.Attributes}, nil
	}, sinks.Config[message]{})
	n.followSent(name, sent.Written)
}

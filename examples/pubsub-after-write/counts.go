package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/sinks"
	"github.com/gosluice/sluice/sinks/files"
)

// counts are what this run has made durable: each is added to by a finalizer, so
// only after the commit.
type counts struct {
	files, rows, lateFiles, lateRows, dead, sent atomic.Int64
}

// finalizerExpiry is how long a count may take: it cannot fail.
const finalizerExpiry = time.Minute

func (n *counts) follow(written, late, dead core.PCollection[files.File]) {
	counted(written, "count files", func(f files.File) { n.files.Add(1); n.rows.Add(f.Records) })
	counted(late, "count late files", func(f files.File) { n.lateFiles.Add(1); n.lateRows.Add(f.Records) })
	counted(dead, "count dead letters", func(f files.File) { n.dead.Add(f.Records) })
}

func (n *counts) followSent(name string, sent core.PCollection[sinks.Published]) {
	counted(sent, "count "+name, func(sinks.Published) { n.sent.Add(1) })
}

// counted calls add for each element, once it is durable.
func counted[T any](c core.PCollection[T], name string, add func(T)) {
	core.ParDo(c, name, func(ctx core.Context, e *core.Element[T], _ *core.Out[struct{}]) error {
		v := e.Value
		ctx.AfterBundleCommit(finalizerExpiry, func(context.Context) error {
			add(v)
			return nil
		})
		return nil
	})
}

package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gosluice/sluice/core"
)

// quiet is the logger of pipelines under test.
var quiet = slog.New(slog.DiscardHandler)

// complete runs p to its end and checks that it read and settled n messages.
func complete(p *core.Pipeline, n int, options ...core.RunOption) error {
	report, err := core.Run(context.Background(), p, append(options, core.WithLogger(quiet))...)
	if err != nil {
		return err
	}
	if report.Read != int64(n) || report.Unsettled > 0 || report.Aborts > 0 {
		return fmt.Errorf("of %d messages %d were read and %d are not settled after %d aborts", n, report.Read, report.Unsettled, report.Aborts)
	}
	return nil
}

// discard is the end of a pipeline that nothing comes out of.
func discard[T any](c core.PCollection[T]) {
	core.Filter(c, "discard", func(T) bool { return false })
}

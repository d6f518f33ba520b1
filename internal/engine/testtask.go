package engine

import (
	"context"
	"log/slog"
)

// NewTestTask is a task of no region, for benchmarks and tests of transforms.
func NewTestTask(ctx context.Context, log *slog.Logger) *Task {
	return newTask(&Region{ctx: ctx, log: log, spec: &RegionSpec{}}, &Stage{Workers: 1}, 0)
}

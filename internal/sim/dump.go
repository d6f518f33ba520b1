package sim

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// Failure is a run that broke a rule, with all that is needed to look into it.
type Failure struct {
	Seed  uint64
	Err   error
	Trace string
	Dump  string
}

func (f *Failure) Error() string {
	return fmt.Sprintf("seed %d: %v\n\nlast events:\n%s\n%s", f.Seed, f.Err, f.Trace, f.Dump)
}

func (f *Failure) Unwrap() error { return f.Err }

func (w *World) failed(err error) error {
	f := &Failure{Seed: w.cfg.Seed, Err: err, Trace: w.trace.String(), Dump: w.dump()}
	if w.process != nil {
		w.process.bury()
	}
	return f
}

// dump says how every region and task stands.
func (w *World) dump() string {
	if w.process == nil {
		return "no process"
	}
	var b strings.Builder
	p := w.process
	for _, r := range p.regions {
		fmt.Fprintf(&b, "%s (woken %v, next %v)\n", r.region, r.woken, w.until(r.at))
	}
	for _, t := range p.tasks {
		fmt.Fprintf(&b, "%s woken %v, next %v\n", t.task, t.woken, w.until(t.at))
	}
	for _, c := range p.calls {
		fmt.Fprintf(&b, "call %s: ran %v, due %v\n", c.c.Name, c.ran, w.until(c.at))
	}
	fmt.Fprintf(&b, "%d commits, %d halts, %d zombies on their way\n", len(p.commits), len(p.halts), len(w.zombies))
	return b.String()
}

// logger puts what the engine logs into the trace.
type logger struct {
	world *World
	attrs []slog.Attr
}

func (l *logger) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (l *logger) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, "%s=%v ", a.Key, a.Value)
		return true
	})
	l.world.note("log", r.Message, strings.TrimSpace(b.String()))
	return nil
}

func (l *logger) WithAttrs(a []slog.Attr) slog.Handler {
	return &logger{world: l.world, attrs: append(l.attrs[:len(l.attrs):len(l.attrs)], a...)}
}

func (l *logger) WithGroup(string) slog.Handler { return l }

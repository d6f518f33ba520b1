package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/drive"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
)

// RunOption changes how a pipeline is run.
type RunOption func(*runSettings)

type runSettings struct {
	opener      store.Opener
	volatile    bool
	logger      *slog.Logger
	parallelism int
	dropped     []string
	progress    func(Status)
	every       time.Duration
}

// WithStore keeps state, held elements, pending effects and source marks in a
// store. With it an acknowledgement means: durable in that store.
func WithStore(o store.Opener) RunOption { return func(s *runSettings) { s.opener = o } }

// Volatile accepts that state is lost with the process: an acknowledgement then
// means processed in memory. Refused for pipelines with gates or after-commit sinks.
func Volatile() RunOption { return func(s *runSettings) { s.volatile = true } }

// WithLogger replaces slog.Default.
func WithLogger(l *slog.Logger) RunOption { return func(s *runSettings) { s.logger = l } }

// WithParallelism is how many workers keyed stages get; by default GOMAXPROCS. It
// may change between runs.
func WithParallelism(n int) RunOption { return func(s *runSettings) { s.parallelism = n } }

// DropState gives up what transforms kept that are gone or have changed.
func DropState(transforms ...string) RunOption {
	return func(s *runSettings) { s.dropped = append(s.dropped, transforms...) }
}

// WithProgress has f called about every interval with how the run stands, and once
// at its end, on one goroutine.
func WithProgress(every time.Duration, f func(Status)) RunOption {
	return func(s *runSettings) { s.progress, s.every = f, max(every, time.Millisecond) }
}

// Run runs p until its sources end, ctx is done (then it stops as [Running.Stop]
// does) or it fails. The report counts what was done in any case.
func Run(ctx context.Context, p *Pipeline, options ...RunOption) (Report, error) {
	r, err := Start(p, options...)
	if err != nil {
		return Report{}, err
	}
	defer context.AfterFunc(ctx, r.Stop)()
	return r.Wait()
}

// Running is a pipeline that runs. Safe for concurrent use.
type Running struct {
	driver *drive.Driver
	store  store.Store
	done   chan struct{}
	report Report
	err    error
}

// Start starts p. The caller must Wait.
func Start(p *Pipeline, options ...RunOption) (*Running, error) {
	s := runSettings{logger: slog.Default()}
	for _, o := range options {
		o(&s)
	}
	prog, st, err := prepare(p, s)
	if err != nil {
		return nil, err
	}
	log := s.logger.With("pipeline", p.graph.Name)
	announce(log, p.graph, s)
	d, err := drive.Start(prog, drive.Config{Store: st, Log: log})
	if err != nil {
		return nil, errors.Join(err, closeStore(st))
	}
	r := &Running{driver: d, store: st, done: make(chan struct{})}
	go r.finish(s)
	return r, nil
}

// finish waits for the driver, reports progress meanwhile and closes the store.
func (r *Running) finish(s runSettings) {
	defer close(r.done)
	if s.progress != nil {
		tick := time.NewTicker(s.every)
		for running := true; running; {
			select {
			case <-tick.C:
				s.progress(r.Status())
			case <-r.driver.Done():
				running = false
			}
		}
		tick.Stop()
	}
	err := r.driver.Wait()
	r.report = reportOf(r.driver.Regions())
	if s.progress != nil {
		s.progress(r.Status())
	}
	r.err = errors.Join(err, closeStore(r.store))
}

// Wait returns when the run has ended and everything is closed.
func (r *Running) Wait() (Report, error) {
	<-r.done
	return r.report, r.err
}

// Stop commits what has been read, settles it, and ends; state stays for the next
// run. It returns at once; calling it again changes nothing.
func (r *Running) Stop() { r.driver.End(engine.Stop) }

// Drain stops reading, lets everything read come to its end, windows included, and
// ends. It returns at once; calling it again changes nothing.
func (r *Running) Drain() { r.driver.End(engine.Drain) }

// prepare validates p, opens the store and compiles the graph.
func prepare(p *Pipeline, s runSettings) (*engine.Program, store.Store, error) {
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	if err := checkDurability(p.graph, s); err != nil {
		return nil, nil, err
	}
	if s.opener == nil {
		prog, err := Compile(p, nil, "", s.parallelism, s.dropped)
		return prog, nil, err
	}
	st, err := s.opener.Open()
	if err != nil {
		return nil, nil, err
	}
	prog, err := Compile(p, st, s.opener.String(), s.parallelism, s.dropped)
	if err != nil {
		return nil, nil, errors.Join(err, closeStore(st))
	}
	return prog, st, nil
}

// Compile turns p into what drivers run, against the manifest of st (nil: none):
// for the drivers of this module.
func Compile(p *Pipeline, st store.Store, place string, parallelism int, dropped []string) (*engine.Program, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	m, err := loadManifest(st, place, p.graph, dropped)
	if err != nil {
		return nil, err
	}
	m.drop(dropped)
	prog, err := plan.Compile(p.graph, plan.Settings{Parallelism: parallelism, TransformID: m.transform, RegionID: m.region})
	if err != nil {
		return nil, err
	}
	return prog, m.save(st)
}

// checkDurability refuses a pipeline that keeps something and has nowhere to.
func checkDurability(g *plan.Graph, s runSettings) error {
	if s.opener != nil {
		return nil
	}
	var problems []error
	for _, n := range g.Nodes {
		switch {
		case n.Durable == "":
		case n.Durable != "state":
			problems = append(problems, fmt.Errorf("%s: keeps %s and the pipeline has no store: run it with core.WithStore(pebble.Dir(path))", n.Name, n.Durable))
		case !s.volatile:
			problems = append(problems, fmt.Errorf("%s: keeps state and the pipeline has no store: run it with core.WithStore(pebble.Dir(path)), or accept with core.Volatile() that state is lost with the process", n.Name))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &GraphError{Pipeline: g.Name, Problems: problems}
}

func announce(log *slog.Logger, g *plan.Graph, s runSettings) {
	switch {
	case s.opener != nil:
		log.Info("starting: an ack means durable on disk", "state", s.opener.String())
	case s.volatile:
		log.Warn("starting without a store: an ack means processed in memory, state is lost with the process")
	default:
		log.Info("starting without state: an ack means the sinks have confirmed")
	}
}

func closeStore(st store.Store) error {
	if st == nil {
		return nil
	}
	return st.Close()
}

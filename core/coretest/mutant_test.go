package coretest_test

import (
	"context"

	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// mutant is a planted bug. The zero value plants none.
type mutant struct {
	name     string
	shapes   []string
	engine   engine.Mutation
	programs func(*engine.Program)
	stores   func(store.Store) store.Store
	ports    func(engine.Ports) engine.Ports
}

func (m mutant) program(p *engine.Program) *engine.Program {
	if m.programs != nil && p != nil {
		m.programs(p)
	}
	return p
}

func (m mutant) store(s store.Store) store.Store {
	if m.stores == nil {
		return s
	}
	return m.stores(s)
}

func (r *rig) wrapPorts(p engine.Ports) engine.Ports {
	if r.mutant.ports == nil {
		return p
	}
	return r.mutant.ports(p)
}

// earlyPorts reports commits before they are applied.
type earlyPorts struct{ engine.Ports }

func reportEarly(p engine.Ports) engine.Ports { return earlyPorts{p} }

func (p earlyPorts) Commit(c *store.Commit, done func(error)) {
	done(nil)
	p.Ports.Commit(c, func(error) {})
}

// forgetfulPorts drops finalizers that have not run when tasks are halted.
type forgetfulPorts struct {
	engine.Ports
	halts *int
}

func dropFinalizers(p engine.Ports) engine.Ports { return forgetfulPorts{p, new(int)} }

func (p forgetfulPorts) Halt(tasks []*engine.Task, done func()) {
	*p.halts++
	p.Ports.Halt(tasks, done)
}

func (p forgetfulPorts) Call(c engine.Call) {
	if run, made := c.Run, *p.halts; c.Kind == engine.CallFinalizer {
		c.Run = func(ctx context.Context) (any, error) {
			if *p.halts != made {
				return nil, nil
			}
			return run(ctx)
		}
	}
	p.Ports.Call(c)
}

// eachSource puts a wrapper around every source's readers.
func eachSource(wrap func(source.Reader) source.Reader) func(*engine.Program) {
	return func(p *engine.Program) {
		for _, region := range p.Regions {
			for _, st := range region.Stages {
				if st.Source != nil {
					st.Source = &engine.SourceSpec{Source: wrappedSource{st.Source.Source, wrap}, Caps: st.Source.Caps}
				}
			}
		}
	}
}

type wrappedSource struct {
	source.Source
	wrap func(source.Reader) source.Reader
}

func (s wrappedSource) Open(ctx context.Context, o source.Options) (source.Reader, error) {
	r, err := s.Source.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return s.wrap(r), nil
}

type eagerReader struct{ source.Reader }

func ackAtOnce(r source.Reader) source.Reader { return eagerReader{r} }

func (r eagerReader) Poll(dst []source.Message) (source.Polled, error) {
	p, err := r.Reader.Poll(dst)
	for _, m := range dst[:p.N] {
		r.Settle(context.Background(), []source.Settlement{{Channel: m.Channel, Position: m.Position, Handle: m.Handle}})
	}
	return p, err
}

type denyingReader struct{ source.Reader }

func denyOutstanding(r source.Reader) source.Reader { return denyingReader{r} }

func (r denyingReader) Poll(dst []source.Message) (source.Polled, error) {
	p, err := r.Reader.Poll(dst)
	for i := range p.Started {
		p.Started[i].Through, p.Started[i].Outstanding = 0, 0
	}
	return p, err
}

// forgetfulStore drops records.
type forgetfulStore struct {
	store.Store
	drop func(store.Space, store.Record) bool
}

func without(drop func(store.Space, store.Record) bool) func(store.Store) store.Store {
	return func(s store.Store) store.Store { return forgetfulStore{s, drop} }
}

func (s forgetfulStore) Commit(ctx context.Context, c *store.Commit) error {
	less := &store.Commit{Region: c.Region, Epoch: c.Epoch}
	for _, d := range c.Deltas {
		kept := store.NewDelta(d.Space)
		for rec := range d.Records() {
			if s.drop(d.Space, rec) {
				continue
			}
			switch rec.Op {
			case store.Put:
				kept.Put(rec.Group, rec.Key, rec.Value)
			case store.Delete:
				kept.Delete(rec.Group, rec.Key)
			case store.Merge:
				kept.Merge(rec.Group, rec.Key, rec.Value)
			case store.DeleteRange:
				kept.DeleteRange(rec.Group, rec.Key, rec.Value)
			}
		}
		less.Deltas = append(less.Deltas, kept)
	}
	return s.Store.Commit(ctx, less)
}

func isPut(kind store.Kind, s store.Space, rec store.Record) bool {
	return s.Kind == kind && rec.Op == store.Put
}

func isEffectDelete(s store.Space, rec store.Record) bool {
	return s.Kind == store.Effect && rec.Op == store.Delete
}

func isHeldPut(s store.Space, rec store.Record) bool  { return isPut(store.Held, s, rec) }
func isStatePut(s store.Space, rec store.Record) bool { return isPut(store.State, s, rec) }

func isInputs(rec store.Record) bool { return string(rec.Key) == "inputs" }

func isMarkPut(s store.Space, rec store.Record) bool {
	return isPut(store.Mark, s, rec) && !isInputs(rec)
}

func isInputsPut(s store.Space, rec store.Record) bool {
	return isPut(store.Mark, s, rec) && isInputs(rec)
}

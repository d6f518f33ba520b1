package coretest_test

import (
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// mutant is a planted bug. The zero value plants none.
type mutant struct {
	name     string
	engine   engine.Mutation
	programs func(*engine.Program) *engine.Program
	stores   func(store.Store) store.Store
	ports    func(engine.Ports) engine.Ports
}

func (m mutant) program(p *engine.Program) *engine.Program {
	if m.programs == nil || p == nil {
		return p
	}
	return m.programs(p)
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

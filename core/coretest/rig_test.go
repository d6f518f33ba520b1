package coretest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/sim"
)

// rig is one seeded run of one pipeline: a world with brokers, a store, targets,
// what ought to come out, and the checks.
type rig struct {
	w       *sim.World
	faulty  sim.Faults
	shape   shape
	mutant  mutant
	random  *rand.Rand // for the scenario, apart from the world's
	brokers []*feed
	db      *memory.DB
	store   store.Store
	prog    *engine.Program
	records *records
	files   *files
	late    *files
	notes   *notes
	totals  *totals
	calls   *callbacks
	checks  []func() error
	atEnd   []func() error
	where   map[int]place
	// drained: the process was told to drain; last: the run is in its last life,
	// which only looks whether anything is left.
	drained, last bool
}

// place is where an order stands.
type place struct {
	feed, channel string
	position      acks.Position
}

// feed is a broker with what it is sent.
type feed struct {
	*sim.Broker
	name   string
	orders [][]order // by partition
	sent   []int
}

// shape is what differs between the pipelines of the suite.
type shape struct {
	name string
	// build makes the pipeline of a new process.
	build func(r *rig, p *core.Pipeline)
	// check sets up what must hold.
	check func(r *rig)
	// storeless pipelines run without a store.
	storeless bool
	// behind puts orders in that may be late.
	behind bool
	// sources is how many brokers there are, one by default.
	sources int
}

func newRig(seed uint64, s shape, m mutant) *rig {
	r := &rig{shape: s, mutant: m, random: rand.New(rand.NewPCG(seed, 7))}
	if !s.storeless {
		r.db = memory.NewWithID("state")
	}
	r.faulty = r.faults()
	r.w = sim.New(sim.Config{
		Seed: seed, Start: r.start, Gone: r.gone, Next: r.next, Check: r.check, Faults: r.faulty,
		EventsMax: 200_000, Mutate: m.engine, WrapPorts: r.wrapPorts,
	})
	r.records, r.notes, r.totals, r.calls = newRecords(r), newNotes(r), newTotals(r), newCallbacks(r)
	r.files, r.late = newFiles(r, "files"), newFiles(r, "late-files")
	r.where = map[int]place{}
	for i := range max(1, s.sources) {
		r.brokers = append(r.brokers, r.newFeed([]string{"orders", "returns"}[i], 100_000*i))
	}
	r.w.Add(&producer{r})
	r.w.Add(&operator{r})
	r.checks = append(r.checks, r.nothingDropped)
	r.atEnd = append(r.atEnd, r.leftovers)
	s.check(r)
	return r
}

// start is a new process.
func (r *rig) start(*sim.World) (*engine.Program, store.Store, error) {
	r.drained = false
	p := core.NewPipeline("crash")
	r.shape.build(r, p)
	parallelism := []int{1, 2, 4}[r.random.IntN(3)]
	if r.db == nil {
		var err error
		r.prog, err = core.Compile(p, nil, "", parallelism, nil)
		return r.mutant.program(r.prog), nil, err
	}
	st, err := r.db.Open()
	if err != nil {
		return nil, nil, err
	}
	r.store = r.mutant.store(st)
	r.prog, err = core.Compile(p, r.store, "memory", parallelism, nil)
	return r.mutant.program(r.prog), r.store, err
}

// gone: the process is no more.
func (r *rig) gone(crashed bool) {
	if r.db != nil {
		r.db.Crash()
	}
	r.files.lost(crashed)
	r.late.lost(crashed)
}

// next starts another process after a stop; after the drain that ended the work
// one more, which must find nothing to do.
func (r *rig) next(w *sim.World, err error) (bool, error) {
	switch {
	case err != nil:
		return false, fmt.Errorf("the pipeline failed: %w", err)
	case !r.done():
		return true, nil
	case !r.last:
		r.last = true
		w.Calm()
		return true, nil
	}
	return false, r.end()
}

// done says that nothing is left to do.
func (r *rig) done() bool { return r.drained && r.published() && r.unsettled() == 0 }

func (r *rig) unsettled() (n int) {
	for _, f := range r.brokers {
		n += f.Unsettled()
	}
	return n
}

func (r *rig) check() error {
	for _, c := range r.checks {
		if err := c(); err != nil {
			return err
		}
	}
	return nil
}

// end checks what must hold when all is done.
func (r *rig) end() error {
	var all error
	if r.db != nil {
		st, err := r.db.Open()
		if err != nil {
			return err
		}
		r.store = st
		defer r.db.Crash()
	}
	for _, c := range r.atEnd {
		all = errors.Join(all, c())
	}
	return all
}

// nothingDropped: what is in order within the allowed disorder is never late,
// whatever is delivered again.
func (r *rig) nothingDropped() error {
	if r.shape.behind {
		return nil
	}
	for _, region := range r.w.Regions() {
		if n := region.Totals().DroppedLate; n > 0 {
			return fmt.Errorf("%d elements were dropped as late", n)
		}
	}
	return nil
}

// all lists every order of the first broker, or of all.
func (r *rig) all() (list []order) {
	for _, f := range r.brokers {
		for _, o := range f.orders {
			list = append(list, o...)
		}
	}
	return list
}

func (r *rig) fail(format string, args ...any) { r.w.Fail(fmt.Errorf(format, args...)) }

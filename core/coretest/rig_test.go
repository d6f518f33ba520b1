package coretest_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/sim"
)

// rig is one seeded run of one pipeline: a world with a broker, a store, targets,
// what ought to come out, and the checks.
type rig struct {
	w      *sim.World
	seed   uint64
	shape  shape
	random *rand.Rand // for the scenario, apart from the world's
	broker *sim.Broker
	db     *memory.DB
	store  store.Store
	prog   *engine.Program
	orders [][]order // by partition
	sent   []int
	target *target
	checks []func() error
	atEnd  []func() error
	// drained: the process was told to drain; last: the run is in its last life,
	// which only looks whether anything is left.
	drained, last bool
	wrapStore     func(store.Store) store.Store
}

// shape is what differs between the pipelines of the suite.
type shape struct {
	name string
	// build makes the pipeline of a new process.
	build func(r *rig, p *core.Pipeline)
	// storeless pipelines run without a store.
	storeless bool
	// late puts late orders in.
	late bool
	// check sets up what must hold.
	check func(r *rig)
	// orders, partitions and readers bound the scenario; zero: the defaults.
	orders, partitions, readers int
}

func newRig(seed uint64, s shape) *rig {
	r := &rig{seed: seed, shape: s, random: rand.New(rand.NewPCG(seed, 7))}
	r.target = newTarget(r)
	if !s.storeless {
		r.db = memory.NewWithID("state")
	}
	r.w = sim.New(sim.Config{Seed: seed, Start: r.start, Gone: r.gone, Next: r.next, Check: r.check, Faults: r.faults()})
	r.broker = sim.NewBroker(r.w, r.brokerConfig())
	r.broker.OnSettled = r.settled
	r.fill()
	r.w.Add(&producer{r})
	r.w.Add(&operator{r})
	if s.check != nil {
		s.check(r)
	}
	return r
}

// faults draws what goes wrong: nothing in one run of eight.
func (r *rig) faults() sim.Faults {
	pick := func(rates ...int) int { return rates[r.random.IntN(len(rates))] }
	if r.random.IntN(8) == 0 {
		return sim.Faults{}
	}
	return sim.Faults{
		Abort: pick(0, 1, 5), Crash: pick(0, 1, 5), Stop: pick(0, 0, 1), Max: pick(1, 3, 8),
		CallBefore: pick(0, 20, 100), CallAfter: pick(0, 20, 100), Calls: pick(5, 50),
		CommitBefore: pick(0, 20, 50), CommitAfter: pick(0, 20, 50), Commits: pick(2, 10),
		Slow: pick(0, 50, 300), SlowMax: time.Duration(pick(10, 300, 3000)) * time.Millisecond,
	}
}

func (r *rig) brokerConfig() sim.BrokerConfig {
	pick := func(n ...int) int { return n[r.random.IntN(len(n))] }
	c := sim.BrokerConfig{Name: "orders", Partitions: pick(1, 2, 3), Readers: pick(1, 2)}
	if r.shape.partitions > 0 {
		c.Partitions = r.shape.partitions
	}
	if r.shape.readers > 0 {
		c.Readers = r.shape.readers
	}
	c.Readers = min(c.Readers, c.Partitions)
	c.Caps = source.Capabilities{Reject: true, Terminate: true, Confirmed: r.random.IntN(3) > 0, Quota: pick(0, 4, 20)}
	switch r.random.IntN(4) {
	case 0:
		c.Caps.Contiguous, c.Caps.Reject, c.Caps.Terminate = true, false, false
	case 1: // slow calls are not longer, or nothing would ever be settled
		c.Strict, c.Caps.Lease = true, 5*time.Second
	case 2:
		c.Caps.Lease = time.Duration(pick(50, 500, 5000)) * time.Millisecond
	}
	if r.random.IntN(3) > 0 {
		c.Again, c.LostAcks, c.Faults = pick(0, 30, 200), pick(0, 50, 200), pick(5, 40)
	}
	if !c.Caps.Confirmed && c.Caps.Lease == 0 {
		c.LostAcks = 0 // nobody would notice
	}
	return c
}

// fill makes the orders.
func (r *rig) fill() {
	n, parts := 60, len(r.broker.Partitions())
	if r.shape.orders > 0 {
		n = r.shape.orders
	}
	lateEvery := 0
	if r.shape.late {
		lateEvery = 6
	}
	for i := range parts {
		r.orders = append(r.orders, stream(r.random, n/parts, i*1000, lateEvery))
	}
	r.sent = make([]int, parts)
}

// start is a new process.
func (r *rig) start(*sim.World) (*engine.Program, store.Store, error) {
	r.drained = false
	r.target.started()
	p := core.NewPipeline("orders")
	r.shape.build(r, p)
	parallelism := []int{1, 2, 4}[r.random.IntN(3)]
	if r.db == nil {
		prog, err := core.Compile(p, nil, "", parallelism, nil)
		r.prog = prog
		return prog, nil, err
	}
	st, err := r.db.Open()
	if err != nil {
		return nil, nil, err
	}
	if r.wrapStore != nil {
		st = r.wrapStore(st)
	}
	r.store = st
	r.prog, err = core.Compile(p, st, "memory", parallelism, nil)
	return r.prog, st, err
}

func (r *rig) gone(bool) {
	if r.db != nil {
		r.db.Crash()
		r.store = nil
	}
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
func (r *rig) done() bool { return r.drained && r.published() && r.broker.Unsettled() == 0 }

func (r *rig) published() bool {
	for i, n := range r.sent {
		if n < len(r.orders[i]) {
			return false
		}
	}
	return true
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
	for _, c := range r.atEnd {
		all = errors.Join(all, c())
	}
	return all
}

// settled: no ack before the commit that makes everything durable. With a store
// the committed mark must have the position by then.
func (r *rig) settled(channel string, m *sim.Queued, v source.Verdict) {
	if r.db == nil || v != source.Ack {
		return
	}
	mark, err := r.committedMark(channel)
	if err != nil {
		r.w.Fail(err)
	} else if !mark.Has(acks.Position(m.Position)) {
		r.w.Fail(fmt.Errorf("%s %d was acked before its commit: the mark has %+v", channel, m.Position, mark))
	}
}

// all lists every order.
func (r *rig) all() (list []order) {
	for _, o := range r.orders {
		list = append(list, o...)
	}
	return list
}

// producer publishes the orders bit by bit.
type producer struct{ r *rig }

func (p *producer) Name() string { return "producer" }

func (p *producer) Ready(now time.Time) time.Time {
	if p.r.published() {
		return time.Time{}
	}
	return now
}

func (p *producer) Act(time.Time) string {
	r := p.r
	i := r.w.Rand().IntN(len(r.sent))
	for range 1 + r.w.Rand().IntN(3) {
		if r.sent[i] < len(r.orders[i]) {
			o := r.orders[i][r.sent[i]]
			r.broker.Publish(i, o.encode(), o.time())
			r.sent[i]++
		}
	}
	return ""
}

// operator drains the pipeline when the queue is empty.
type operator struct{ r *rig }

func (o *operator) Name() string { return "operator" }

func (o *operator) Ready(now time.Time) time.Time {
	if o.r.drained || !o.r.published() || o.r.broker.Unsettled() > 0 {
		return time.Time{}
	}
	return now
}

func (o *operator) Act(time.Time) string {
	o.r.drained = true
	o.r.w.End(engine.Drain)
	return "drain"
}

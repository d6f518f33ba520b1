package stateful_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/memory"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/plan"
	"github.com/gosluice/sluice/internal/sim"
)

// scenario is one pipeline over one script, to be run on both drivers.
type scenario[T, O any] struct {
	// windows is the global window where nil.
	windows  window.Fn
	lateness time.Duration
	steps    []step[T]
	build    func(core.PCollection[T]) core.PCollection[O]
	// The rest is for the seeded driver. atRest is shown how the tasks stand after
	// each step, when all that follows from it has happened; commits sees what
	// becomes durable.
	faults  sim.Faults
	atRest  func(step int, tasks []engine.TaskView)
	commits func(*store.Commit)
}

// ran is what came of a run: what was committed.
type ran[O any] struct {
	out []element.Element[O]
	// dropped counts late elements, quarantined those set aside.
	dropped, quarantined int64
	// rows are those the transforms of state have left, set aside what was
	// quarantined, as it is stored.
	rows     int
	setAside []string
	// late outputs came after the output watermark had passed them.
	late int64
	err  error
}

// values lists what came out, in order.
func (r ran[O]) values() (list []O) {
	for _, e := range r.out {
		list = append(list, e.Value)
	}
	return list
}

// each runs the scenario on the seeded driver with several seeds and parallelisms,
// and on the goroutine driver, and has check judge each run.
func (s scenario[T, O]) each(t *testing.T, check func(t *testing.T, r ran[O])) {
	t.Helper()
	for seed := range uint64(6) {
		parallelism := 1 + int(seed%3)
		t.Run(fmt.Sprintf("seed %d on %d", seed, parallelism), func(t *testing.T) {
			check(t, s.simulate(t, seed, parallelism))
		})
	}
	t.Run("goroutines", func(t *testing.T) { check(t, s.run(t)) })
}

// gives runs the scenario and wants these outputs in any order, without an error.
func (s scenario[T, O]) gives(t *testing.T, want ...O) {
	t.Helper()
	s.each(t, func(t *testing.T, r ran[O]) {
		if r.err != nil {
			t.Fatal(r.err)
		}
		wantSame(t, r.values(), want)
	})
}

// stamped lists the outputs with their times.
func (r ran[O]) stamped() (list []string) {
	for _, e := range r.out {
		list = append(list, fmt.Sprintf("%v@%d", e.Value, int64(e.Time)))
	}
	return list
}

// wantSame compares without regard to order.
func wantSame[O any](t *testing.T, got, want []O) {
	t.Helper()
	if a, b := sorted(got), sorted(want); !slices.Equal(a, b) {
		t.Errorf("got  %v\nwant %v", a, b)
	}
}

func sorted[O any](list []O) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf("%+v", v)
	}
	slices.Sort(out)
	return out
}

func (s scenario[T, O]) pipeline(src *script[T], outputs *collector[O]) *core.Pipeline {
	if s.windows == nil {
		s.windows = window.Global()
	}
	p := core.NewPipeline("test")
	outputs.attach(s.build(src.read(p, s.windows, s.lateness)))
	return p
}

// simulate runs on the seeded driver.
func (s scenario[T, O]) simulate(t *testing.T, seed uint64, parallelism int) (r ran[O]) {
	t.Helper()
	src, db, outputs := all(s.steps...), memory.NewWithID("state"), &collector[O]{}
	var world *sim.World
	lives := 0
	cfg := sim.Config{
		Seed: seed, Faults: s.faults,
		Start: func(*sim.World) (*engine.Program, store.Store, error) {
			st, err := db.Open()
			if err != nil {
				return nil, nil, err
			}
			prog, err := core.Compile(s.pipeline(src, outputs), st, "memory", 1+(parallelism+world.Lives()-2)%5, nil)
			return prog, st, err
		},
		Next: func(w *sim.World, err error) (bool, error) {
			calm := lives > 0 || s.faults == sim.Faults{}
			lives++
			w.Calm()
			return err == nil && !calm, err
		},
		Gone: func(bool) { db.Crash() },
		Check: func() error {
			for _, region := range world.Regions() {
				totals := region.Totals()
				r.dropped, r.quarantined = totals.DroppedLate, totals.Quarantined
			}
			return nil
		},
	}
	if s.commits != nil {
		db.BeforeApply = func(c *store.Commit) error { s.commits(c); return nil }
	}
	world = sim.New(cfg)
	if s.atRest != nil {
		src.paced = true
		world.OnIdle(func() bool { return s.goOn(src, world) })
	}
	r.err = world.Run()
	outputs.committed(t, db, &r)
	return r
}

// goOn shows how the tasks stand and releases the next step, or the end.
func (s scenario[T, O]) goOn(src *script[T], w *sim.World) bool {
	if !src.paced {
		return false
	}
	if src.released > 0 {
		s.atRest(src.released-1, w.Regions()[0].Views())
	}
	if src.released == len(src.steps) {
		src.paced = false
	}
	src.released++
	src.wake()
	return true
}

// run runs on the goroutine driver.
func (s scenario[T, O]) run(t *testing.T) (r ran[O]) {
	t.Helper()
	src, db, outputs := all(s.steps...), memory.New(), &collector[O]{}
	report, err := core.Run(t.Context(), s.pipeline(src, outputs), core.WithStore(db), core.WithLogger(quiet), core.WithParallelism(2))
	outputs.committed(t, db, &r)
	r.err, r.dropped, r.quarantined = err, report.DroppedLate, report.Quarantined
	return r
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// collector keeps outputs as rows, so that exactly what was committed counts.
type collector[O any] struct {
	space store.Space
	late  atomic.Int64
}

func outputCoder[O any]() coder.Coder[element.Element[O]] {
	c, err := coder.For[O]()
	if err != nil {
		panic(err)
	}
	return coder.Element(c)
}

func (c *collector[O]) attach(out core.PCollection[O]) {
	g, in := out.Untyped()
	n := g.Add(&plan.Node{Name: "collector", Kind: "Collector", In: []plan.Input{{From: in, Route: engine.Forward}}})
	coded := outputCoder[O]()
	n.Fuse = func(t *engine.Task, _ []any) (any, error) {
		c.space = t.SpaceOf(store.Held, n.Transform)
		delta, count := store.NewDelta(c.space), uint32(0)
		t.OnDelta(func(uint64) []*store.Delta {
			d := delta
			delta, count = store.NewDelta(c.space), 0
			return []*store.Delta{d}
		})
		return core.Receiver[O](func(e *element.Element[O]) {
			if e.Time < t.OutputWatermark() {
				c.late.Add(1)
			}
			key := binary.BigEndian.AppendUint64(nil, t.Epoch())
			key = binary.BigEndian.AppendUint32(append(key, byte(t.Index)), count)
			count++
			value, err := coded.Append(nil, *e)
			if err != nil {
				t.Fail(err)
			}
			delta.Put(0, key, value)
		}), nil
	}
	core.NewOutput[O](g, n, out.Strategy(), true)
}

// committed reads what is left in the store.
func (c *collector[O]) committed(t *testing.T, db *memory.DB, into *ran[O]) {
	t.Helper()
	into.late = c.late.Load()
	db.Crash()
	st, err := db.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	coded := outputCoder[O]()
	scan := func(space store.Space, f func(store.Row)) {
		if err := st.Scan(space.All(), func(r store.Row) bool { f(r); return true }); err != nil {
			t.Fatal(err)
		}
	}
	scan(c.space, func(r store.Row) {
		e, err := coded.Read(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		into.out = append(into.out, e)
	})
	for id := range store.TransformID(20) {
		space := store.Space{Region: c.space.Region, Kind: store.State, Transform: id}
		scan(space, func(store.Row) { into.rows++ })
		space.Kind = store.Quarantined
		scan(space, func(r store.Row) { into.setAside = append(into.setAside, string(r.Value)) })
	}
}

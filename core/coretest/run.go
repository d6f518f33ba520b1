package coretest

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/sim"
)

// seedsPerCase is how many seeds a case runs on; the first has no faults.
const seedsPerCase = 12

// Run runs the case that build makes on the seeded driver, with several seeds, and
// on the goroutine driver. A failure on a seed names it.
func Run(t *testing.T, build func(c *Case)) {
	t.Helper()
	for seed := range uint64(seedsPerCase) {
		if err := runSeeded(seed+1, build); err != nil {
			t.Errorf("seed %d: %v", seed+1, err)
			return
		}
	}
	if err := runReal(build); err != nil {
		t.Errorf("on goroutines: %v", err)
	}
}

// Build calls build with a case that is not run: to look at a graph's mistakes.
func Build(build func(c *Case)) { build(newCase()) }

// runSeeded runs one case in virtual time.
func runSeeded(seed uint64, build func(*Case)) error {
	c := newCase()
	build(c)
	faults := sim.Faults{}
	if seed > 1 {
		faults = sim.Faults{Abort: 4, Max: 6}
	}
	var st store.Store
	w := sim.New(sim.Config{
		Seed: seed, Faults: faults,
		Start: func(*sim.World) (*engine.Program, store.Store, error) {
			var err error
			if st, err = c.db.Open(); err != nil {
				return nil, nil, err
			}
			prog, err := core.Compile(c.pipeline, st, "coretest", 2, nil)
			return prog, st, err
		},
		Gone: func(bool) { _ = st.Close() },
	})
	c.dropped = func() (n int64) {
		for _, r := range w.Regions() {
			n += r.Totals().DroppedLate
		}
		return n
	}
	p := &player{c: c}
	w.OnIdle(func() bool {
		more, advance := p.next(w.Fail)
		if advance > 0 {
			w.Advance(advance)
		}
		if !more {
			w.End(engine.Stop)
		}
		return true
	})
	if err := w.Run(); err != nil {
		return err
	}
	if !p.over() {
		return fmt.Errorf("the pipeline ended before step %q", c.steps[p.at].what)
	}
	return nil
}

// player goes through a script.
type player struct {
	c  *Case
	at int
}

func (p *player) over() bool {
	for _, s := range p.c.steps[min(p.at, len(p.c.steps)):] {
		if s.check == nil {
			return false
		}
	}
	return true
}

// next plays steps up to and including the next one that acts. Everything the last
// one caused is done by now.
func (p *player) next(fail func(error)) (more bool, advance time.Duration) {
	for p.at < len(p.c.steps) {
		s := p.c.steps[p.at]
		p.at++
		switch {
		case s.check != nil:
			if err := s.check(); err != nil {
				fail(fmt.Errorf("step %d, %s: %w", p.at, s.what, err))
				return true, 0
			}
			continue
		case s.do != nil:
			s.do()
		}
		return true, s.advance + s.virtual
	}
	return false, 0
}

// checkWait bounds how long an expectation is waited for on the goroutine driver.
const checkWait = 20 * time.Second

// runReal runs one case in real time.
func runReal(build func(*Case)) error {
	c := newCase()
	build(c)
	r, err := core.Start(c.pipeline, core.WithStore(c.db), core.WithParallelism(2), core.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	c.dropped = func() int64 { return r.Status().DroppedLate }
	err = playReal(c, r)
	r.Stop()
	_, ended := r.Wait()
	if err == nil {
		err = ended
	}
	return err
}

func playReal(c *Case, r *core.Running) error {
	for i, s := range c.steps {
		switch {
		case s.do != nil:
			s.do()
			settle(r)
		case s.advance > 0:
			time.Sleep(s.advance)
		case s.check != nil:
			if err := await(s.check); err != nil {
				return fmt.Errorf("step %d, %s: %w", i+1, s.what, err)
			}
		}
	}
	return nil
}

// settle waits until no commit has come for a little while.
func settle(r *core.Running) {
	const still = 15 * time.Millisecond
	for last, since := int64(-1), time.Now(); time.Since(since) < still; time.Sleep(time.Millisecond) {
		s := r.Status()
		if n := s.Epochs + s.Aborts + s.Read; n != last || s.Unsettled > 0 {
			last, since = n, time.Now()
		}
	}
}

func await(check func() error) (err error) {
	for end := time.Now().Add(checkWait); ; time.Sleep(time.Millisecond) {
		if err = check(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

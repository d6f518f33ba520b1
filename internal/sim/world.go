package sim

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/internal/engine"
)

// Config is what a world is made of.
type Config struct {
	Seed uint64
	// Start makes the program of a new process on what survived the last one.
	Start func(w *World) (*engine.Program, store.Store, error)
	// Gone is told that a process is gone: it closes the store's handle.
	Gone func(crashed bool)
	// Next is asked when a process has ended by itself, with its error: true starts
	// another one. nil: the run is over.
	Next func(w *World, err error) (again bool, failure error)
	// Check is asked after every event.
	Check func() error
	// Faults say what goes wrong.
	Faults Faults
	// EventsMax is how many events a run may take; zero: eventsMax.
	EventsMax int
	// WrapPorts may put something between the engine and this driver.
	WrapPorts func(engine.Ports) engine.Ports
	// Mutate plants bugs in the engine, to see that the checks find them.
	Mutate engine.Mutation
}

const eventsMax = 400_000

// calmAfter is the share of EventsMax after which nothing goes wrong any more.
const calmAfter = 4

// Actor is something outside the process that acts by itself: a broker, a script.
type Actor interface {
	// Name is for the trace.
	Name() string
	// Ready is when it can act next: a time not after now means at once, zero never.
	Ready(now time.Time) time.Time
	// Act does one thing and says what.
	Act(now time.Time) string
}

// World runs processes of one program, one after another.
type World struct {
	cfg     Config
	rng     *rand.Rand
	start   time.Time
	now     time.Time
	trace   Trace
	actors  []Actor
	process *process
	lives   int
	// zombies are calls of crashed processes that are still on their way.
	zombies []*call

	calm                               bool
	broken, failedCalls, failedCommits int
	idle                               func() bool
	choices                            []choice
	total                              int
	failure                            error
	logs                               *slog.Logger
}

// New makes a world; nothing runs yet.
func New(cfg Config) *World {
	if cfg.EventsMax == 0 {
		cfg.EventsMax = eventsMax
	}
	w := &World{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 1))}
	w.start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w.now = w.start
	w.logs = slog.New(&logger{world: w})
	return w
}

// Add puts an actor into the world.
func (w *World) Add(a Actor) { w.actors = append(w.actors, a) }

// Now is the virtual clock.
func (w *World) Now() time.Time { return w.now }

// Advance lets d pass at once.
func (w *World) Advance(d time.Duration) { w.now = w.now.Add(d) }

// Rand is the random source, for actors and programs that want to repeat with the
// seed.
func (w *World) Rand() *rand.Rand { return w.rng }

// Lives counts the processes started.
func (w *World) Lives() int { return w.lives }

// Broken counts the aborts, crashes and stops that were let happen.
func (w *World) Broken() int { return w.broken }

// Calm ends all faults from now on.
func (w *World) Calm() { w.calm = true }

// Trace is what happened so far.
func (w *World) Trace() *Trace { return &w.trace }

// Fail ends the run with err: for targets and brokers that see a rule broken.
func (w *World) Fail(err error) {
	if w.failure == nil {
		w.failure = err
	}
}

// End asks the process to end.
func (w *World) End(mode engine.EndMode) {
	if w.process != nil {
		w.process.end(mode)
	}
}

// Regions lists those of the running process.
func (w *World) Regions() []*engine.Region {
	if w.process == nil {
		return nil
	}
	var list []*engine.Region
	for _, r := range w.process.regions {
		list = append(list, r.region)
	}
	return list
}

// OnIdle has f called when nothing can happen without time passing by more than a
// little; true says that f made something happen.
func (w *World) OnIdle(f func() bool) { w.idle = f }

// Run runs until the process has ended and Next says that this was the last.
func (w *World) Run() error {
	if err := w.begin(); err != nil {
		return w.failed(err)
	}
	for w.process != nil {
		if err := w.event(); err != nil {
			return w.failed(err)
		}
	}
	return nil
}

// event lets one thing happen and has it checked.
func (w *World) event() error {
	if w.trace.count >= w.cfg.EventsMax {
		return fmt.Errorf("not ended after %d events", w.trace.count)
	}
	w.calm = w.calm || w.trace.count >= w.cfg.EventsMax/calmAfter
	w.now = w.now.Add(time.Duration(w.rng.IntN(20)) * time.Microsecond)
	if !w.maybeBreak() {
		if err := w.happen(); err != nil {
			return err
		}
	}
	if w.failure != nil {
		return w.failure
	}
	if w.cfg.Check != nil {
		if err := w.cfg.Check(); err != nil {
			return err
		}
	}
	if w.process != nil && w.process.over() {
		return w.ended()
	}
	return nil
}

// begin starts a process.
func (w *World) begin() error {
	w.lives++
	w.process = newProcess(w)
	w.note("start", w.process.name, "")
	return w.process.begin()
}

// ended takes the end of a process by itself.
func (w *World) ended() error {
	p := w.process
	w.note("ended", p.name, fmt.Sprint(p.err))
	p.bury()
	w.process = nil
	if w.cfg.Gone != nil {
		w.cfg.Gone(false)
	}
	if w.cfg.Next == nil {
		return p.err
	}
	again, err := w.cfg.Next(w, p.err)
	if err != nil || !again {
		return err
	}
	return w.begin()
}

// crash ends the process in the middle of everything.
func (w *World) crash() {
	p := w.process
	w.note("crash", p.name, "")
	p.crash()
	w.process = nil
	if w.cfg.Gone != nil {
		w.cfg.Gone(true)
	}
	if err := w.begin(); err != nil {
		w.Fail(err)
	}
}

// until is a time as seen from now.
func (w *World) until(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Sub(w.now).String()
}

func (w *World) note(kind, who, note string) { w.trace.note(w.now.Sub(w.start), kind, who, note) }

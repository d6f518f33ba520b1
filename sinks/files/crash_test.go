package files

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gosluice/sluice/sinks"
)

// story is one batch's way to its file over several lives of the process.
type story struct {
	t       *testing.T
	disk    *memory
	pending []sinks.Token // what the store holds
	done    bool          // Publish returned nil and that was committed
}

var crashLines = []string{"a", "b", "c", "d", "e", "f"}

const crashFinal = "late/west-20260102T150400Z-20260102T150500Z-e00000042-b003-"

func newStory(t *testing.T) *story { return &story{t: t, disk: newMemory()} }

// live is one life of the process: it recovers, stages unless that was committed
// before, commits if it may, and publishes. It ends where the script kills it.
func (s *story) live(sc *script, commit bool) {
	s.t.Helper()
	w := on(newWriter(s.t, Config[string]{Dir: "out", Format: Lines[string](), Suffix: ".txt"}), s.disk, sc)
	if w.Recover(s.t.Context(), s.pending) != nil {
		return
	}
	if len(s.pending) == 0 {
		staged, err := w.Stage(s.t.Context(), batchOf("late/west", crashLines...))
		if err != nil || !commit {
			return
		}
		s.pending = []sinks.Token{staged.Token}
	}
	if _, err := w.Publish(s.t.Context(), effect, s.pending[0]); err == nil {
		s.done = true
	}
}

// check looks at what another process could see now.
func (s *story) check() error {
	want := strings.Join(crashLines, "\n") + "\n"
	finals := s.disk.finals()
	for name, content := range finals {
		if !strings.HasPrefix(name, crashFinal) {
			return fmt.Errorf("unexpected file %s", name)
		}
		if content != want {
			return fmt.Errorf("%s is visible with %q", name, content)
		}
	}
	if len(finals) > 1 {
		return fmt.Errorf("%d files are visible", len(finals))
	}
	if s.done && len(finals) != 1 {
		return fmt.Errorf("published, but no file is visible")
	}
	return nil
}

// end runs the last life, without a fault, and checks what is left.
func (s *story) end() error {
	s.live(nil, true)
	if !s.done {
		return fmt.Errorf("the last life did not publish")
	}
	if temps := s.disk.temps(); len(temps) > 0 {
		return fmt.Errorf("temporary files are left: %v", temps)
	}
	s.disk.powerCut(rand.New(rand.NewPCG(1, 1))) // nothing may depend on what comes later
	s.pending = nil
	return s.check()
}

// crashPoint is where and how the first life ends.
type crashPoint struct {
	call   int
	after  bool // the call was done
	commit bool // the token was committed, if Stage returned
	cut    bool // the power went, not only the process
	seed   uint64
}

func (s *story) crash(p crashPoint, sc *script) error {
	s.live(sc, p.commit)
	if err := s.check(); err != nil {
		return err
	}
	if p.cut {
		s.disk.powerCut(rand.New(rand.NewPCG(p.seed, uint64(p.call))))
		if err := s.check(); err != nil {
			return fmt.Errorf("after the power cut: %w", err)
		}
	}
	return s.end()
}

// crashPoints are all places at which a life can end, each also with the power.
func crashPoints(calls int) []crashPoint {
	var points []crashPoint
	for call := range calls + 1 {
		for i := range 8 {
			p := crashPoint{call: call, after: i&1 != 0, commit: i&2 != 0, cut: i&4 != 0}
			for p.seed = 0; p.seed < 20 && (p.cut || p.seed == 0); p.seed++ {
				points = append(points, p)
			}
		}
	}
	return points
}

// diskCalls are the names of the calls of a life without a crash.
func diskCalls(t *testing.T) []string {
	sc := newScript()
	newStory(t).live(sc, true)
	return sc.names
}

// TestCrashAtEveryCall kills the process, or cuts the power, before and after
// each call to the disk, and lets the next life finish. Invariants 1 to 5.
func TestCrashAtEveryCall(t *testing.T) {
	calls := diskCalls(t)
	t.Logf("%d calls to the disk: %v", len(calls), calls)
	for _, p := range crashPoints(len(calls)) {
		if err := newStory(t).crash(p, crashAt(p.call, p.after)); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// TestCrashSuiteSeesMissingSync: the suite must fail when any one fsync is left out.
func TestCrashSuiteSeesMissingSync(t *testing.T) {
	calls := diskCalls(t)
	for lie, name := range calls {
		if name != "sync" && name != "syncFolder" {
			continue
		}
		caught := 0
		for _, p := range crashPoints(len(calls)) {
			sc := crashAt(p.call, p.after)
			sc.lie = lie
			if newStory(t).crash(p, sc) != nil {
				caught++
			}
		}
		if caught == 0 {
			t.Errorf("no crash point noticed that call %d, a %s, did nothing", lie, name)
		}
	}
}

// TestCrashAgainAndAgain ends several lives in a row at random calls.
func TestCrashAgainAndAgain(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := newStory(t)
		for life := 0; life < 6 && !s.done; life++ {
			s.live(crashAt(r.IntN(25), r.IntN(2) == 0), r.IntN(2) == 0)
			if r.IntN(2) == 0 {
				s.disk.powerCut(r)
			}
			if err := s.check(); err != nil {
				t.Fatalf("seed %d, life %d: %v", seed, life, err)
			}
		}
		if err := s.end(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

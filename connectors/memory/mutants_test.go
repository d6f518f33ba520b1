package memory_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gosluice/sluice/connectors/connectortest"
	"github.com/gosluice/sluice/connectors/memory"
	"github.com/gosluice/sluice/core/source"
)

// mutant is a planted bug and the check that must find it.
type mutant struct {
	check string
	cfg   memory.Config
	// wrap spoils a reader; nil: the configuration is the bug.
	wrap func(spoilt) source.Reader
	caps func(*source.Capabilities)
}

// spoilt passes everything on; mutants override a method.
type spoilt struct {
	source.Reader
	wake func()
}

type polls struct {
	spoilt
	poll func(source.Reader, []source.Message) (source.Polled, error)
}

func (r polls) Poll(dst []source.Message) (source.Polled, error) { return r.poll(r.Reader, dst) }

type settles struct {
	spoilt
	settle func(source.Reader, []source.Settlement) []source.Failure
}

func (r settles) Settle(_ context.Context, s []source.Settlement) []source.Failure {
	return r.settle(r.Reader, s)
}

type extendsNothing struct{ spoilt }

func (extendsNothing) Extend(context.Context, []source.Settlement) []source.Failure { return nil }

type neverCloses struct{ spoilt }

func (neverCloses) Close(context.Context) error { return nil }

func polling(poll func(source.Reader, []source.Message) (source.Polled, error)) func(spoilt) source.Reader {
	return func(s spoilt) source.Reader { return polls{s, poll} }
}

func settling(change func(*source.Settlement)) func(spoilt) source.Reader {
	return func(s spoilt) source.Reader {
		return settles{s, func(r source.Reader, list []source.Settlement) []source.Failure {
			for i := range list {
				change(&list[i])
			}
			return r.Settle(context.Background(), list)
		}}
	}
}

var mutants = map[string]mutant{
	"out of order": {check: "order per channel", wrap: polling(func(r source.Reader, dst []source.Message) (source.Polled, error) {
		p, err := r.Poll(dst)
		if p.N > 1 {
			dst[0], dst[1] = dst[1], dst[0]
		}
		return p, err
	})},
	"delivers twice": {check: "order per channel", cfg: memory.Config{Faults: memory.Faults{
		Redeliver: func(_ source.Channel, p source.Position) bool { return p == 7 },
	}}},
	"blocks": {check: "poll never blocks", wrap: polling(func(r source.Reader, dst []source.Message) (source.Polled, error) {
		time.Sleep(300 * time.Millisecond)
		return r.Poll(dst)
	})},
	"no wake": {check: "wake", wrap: func(s spoilt) source.Reader { return s }},
	"idle by guess": {check: "caught up only without backlog", wrap: polling(func(r source.Reader, dst []source.Message) (source.Polled, error) {
		p, err := r.Poll(dst)
		p.CaughtUp = true
		return p, err
	})},
	"finished early": {check: "bounded read", wrap: polling(func(r source.Reader, dst []source.Message) (source.Polled, error) {
		p, err := r.Poll(dst)
		p.Finished = true
		return p, err
	})},
	"never finished": {check: "bounded read of nothing", wrap: polling(func(r source.Reader, dst []source.Message) (source.Polled, error) {
		p, err := r.Poll(dst)
		p.Finished = false
		return p, err
	})},
	"no quota": {check: "quota", caps: func(c *source.Capabilities) { c.Quota = 10 }},
	"acks are lost in silence": {check: "settle in any order", cfg: memory.Config{Faults: memory.Faults{
		Settle: func(*source.Settlement) memory.Fate { return memory.LoseSilently },
	}}},
	"second ack fails": {check: "settle twice", cfg: memory.Config{Faults: memory.Faults{Settle: secondFails()}}},
	"acks everything before": {check: "settle in any order", cfg: memory.Config{Contiguous: true},
		caps: func(c *source.Capabilities) { c.Contiguous, c.Reject, c.Terminate = false, true, true }},
	"nack is ack":          {check: "nack", wrap: settling(func(s *source.Settlement) { s.Verdict = source.Ack })},
	"nack without delay":   {check: "nack with delay", wrap: settling(func(s *source.Settlement) { s.Delay = 0 })},
	"terminate is nack":    {check: "terminate", wrap: settling(func(s *source.Settlement) { s.Verdict = min(s.Verdict, source.Nack) })},
	"extends nothing":      {check: "extended lease", wrap: func(s spoilt) source.Reader { return extendsNothing{s} }},
	"leases never end":     {check: "lost lease", cfg: memory.Config{NoLease: true}, caps: func(c *source.Capabilities) { c.Lease = time.Second }},
	"settles after close":  {check: "settle after close", wrap: func(s spoilt) source.Reader { return neverCloses{s} }},
	"outstanding unsaid":   {check: "reconnect resolves", wrap: polling(unsaid)},
	"contiguous by nature": {check: "no individual verdict", caps: func(c *source.Capabilities) { c.Contiguous, c.Reject, c.Terminate = true, false, false }},
}

// unsaid hides that deliveries of an earlier reader are outstanding.
func unsaid(r source.Reader, dst []source.Message) (source.Polled, error) {
	p, err := r.Poll(dst)
	for i := range p.Started {
		p.Started[i].Outstanding = 0
	}
	return p, err
}

func secondFails() func(*source.Settlement) memory.Fate {
	seen := map[source.Position]bool{}
	return func(s *source.Settlement) memory.Fate {
		if seen[s.Position] {
			return memory.LoseRequest
		}
		seen[s.Position] = true
		return memory.Arrive
	}
}

// spoiltSource is a queue with a bug.
type spoiltSource struct {
	*memory.Queue
	mutant
	mute bool
}

func (s spoiltSource) Capabilities() source.Capabilities {
	c := s.Queue.Capabilities()
	if s.caps != nil {
		s.caps(&c)
	}
	return c
}

func (s spoiltSource) Open(ctx context.Context, o source.Options) (source.Reader, error) {
	wake := o.Wake
	if s.mute {
		o.Wake = func() {}
	}
	r, err := s.Queue.Open(ctx, o)
	if err != nil || s.wrap == nil {
		return r, err
	}
	return s.wrap(spoilt{r, wake}), nil
}

const mutantName = "SLUICE_MEMORY_MUTANT"

// TestMutantContract is what the child processes run.
func TestMutantContract(t *testing.T) {
	name := os.Getenv(mutantName)
	m, ok := mutants[name]
	if !ok {
		t.Skip("run by TestTheSuiteFindsBugs")
	}
	h := harness(m.cfg)
	h.Patience = time.Second
	sound := h.New
	h.New = func(t *testing.T, s connectortest.Setup) connectortest.Queue {
		if m.check == "quota" {
			s.Quota = 0
		}
		q := sound(t, s)
		queue := q.Source().(*memory.Queue)
		q.Source = func() source.Source { return spoiltSource{queue, m, name == "no wake"} }
		return q
	}
	connectortest.Run(t, h)
}

// The suite is tested by bugs that it must find: each in a process of its own, in
// the check that is there for it.
func TestTheSuiteFindsBugs(t *testing.T) {
	var all sync.WaitGroup
	slots := make(chan struct{}, 4)
	for name, m := range mutants {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			check := strings.ReplaceAll(m.check, " ", "_")
			cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestMutantContract$/^"+regexp.QuoteMeta(check)+"$")
			cmd.Env = append(os.Environ(), mutantName+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestMutantContract/"+check+" ") {
				t.Errorf("%s: not found by %q\n%s", name, m.check, out)
			}
		})
	}
	all.Wait()
}

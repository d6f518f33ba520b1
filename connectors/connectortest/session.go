package connectortest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// session is one check at work.
type session struct {
	*testing.T
	setup     Setup
	queue     Queue
	patience  time.Duration
	published int
}

// publish stores n messages, numbered on.
func (s *session) publish(n int) {
	s.Helper()
	for range n {
		s.queue.Publish(fmt.Sprint(s.published))
		s.published++
	}
}

// require skips a check that the harness cannot serve.
func (s *session) require(what string, have bool) {
	s.Helper()
	if !have {
		s.Skip("the harness has no " + what)
	}
}

// tap is an open reader with what it has told.
type tap struct {
	s        *session
	caps     source.Capabilities
	r        source.Reader
	wake     chan struct{}
	buf      []source.Message
	starts   []source.Start
	resolved []source.Channel
	last     source.Polled
}

// open opens the one reader of a new source.
func (s *session) open() *tap {
	s.Helper()
	src := s.queue.Source()
	p := &tap{s: s, caps: src.Capabilities(), wake: make(chan struct{}, 1), buf: make([]source.Message, 64)}
	ctx, cancel := context.WithTimeout(context.Background(), s.patience)
	defer cancel()
	var err error
	p.r, err = src.Open(ctx, source.Options{
		Count: 1, Logger: slog.New(slog.DiscardHandler),
		Wake: func() {
			select {
			case p.wake <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		s.Fatalf("open: %v", err)
	}
	s.Cleanup(p.close)
	return p
}

func (p *tap) close() {
	p.s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), p.s.patience)
	defer cancel()
	if err := p.r.Close(ctx); err != nil {
		p.s.Errorf("close: %v", err)
	}
}

// poll polls once. Transient errors are the reader's to recover from.
func (p *tap) poll() []source.Message {
	p.s.Helper()
	got, err := p.r.Poll(p.buf)
	if err != nil {
		if fault.Of(err) != fault.Transient {
			p.s.Fatalf("poll: %v", err)
		}
		return nil
	}
	if got.N < 0 || got.N > len(p.buf) {
		p.s.Fatalf("poll: %d messages in a buffer of %d", got.N, len(p.buf))
	}
	p.last = got
	p.starts = append(p.starts, got.Started...)
	p.resolved = append(p.resolved, got.Resolved...)
	for _, m := range p.buf[:got.N] {
		if int(m.Channel) >= len(p.starts) {
			p.s.Fatalf("a message of channel %d before it started", m.Channel)
		}
		if p.caps.Positions && (m.Position < 1 || m.Position >= 1<<48) {
			p.s.Fatalf("position %d", m.Position)
		}
		if m.Attempt < 1 {
			p.s.Fatalf("attempt %d", m.Attempt)
		}
	}
	return slices.Clone(p.buf[:got.N])
}

// until polls as the engine does: again at once after a poll that returned messages,
// else when woken; until done says so.
func (p *tap) until(what string, done func(fresh []source.Message) bool) {
	p.s.Helper()
	timer := time.NewTimer(p.s.patience)
	defer timer.Stop()
	for {
		fresh := p.poll()
		if done(fresh) {
			return
		}
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-p.wake:
		case <-timer.C:
			p.s.Fatalf("%s: not within %v", what, p.s.patience)
		}
	}
}

// read returns at least n messages.
func (p *tap) read(n int) (all []source.Message) {
	p.s.Helper()
	p.until(fmt.Sprintf("read %d messages", n), func(fresh []source.Message) bool {
		all = append(all, fresh...)
		return len(all) >= n
	})
	return all
}

// quiet fails if anything is delivered within d.
func (p *tap) quiet(d time.Duration) {
	p.s.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if m := p.poll(); len(m) > 0 {
			p.s.Fatalf("position %d, attempt %d, data %q: not to be delivered", m[0].Position, m[0].Attempt, m[0].Data)
		}
	}
}

// verdicts makes settlements.
func verdicts(v source.Verdict, msgs ...source.Message) []source.Settlement {
	list := make([]source.Settlement, len(msgs))
	for i := range msgs {
		m := &msgs[i]
		list[i] = source.Settlement{Ref: uint64(i) + 1, Channel: m.Channel, Position: m.Position, Verdict: v, Handle: m.Handle}
	}
	return list
}

// settle tells verdicts; none may fail.
func (p *tap) settle(list []source.Settlement) {
	p.s.Helper()
	for _, f := range p.trySettle(list) {
		p.s.Fatalf("settle ref %d: %v", f.Ref, f.Err)
	}
}

func (p *tap) trySettle(list []source.Settlement) []source.Failure {
	ctx, cancel := context.WithTimeout(context.Background(), p.s.patience)
	defer cancel()
	return p.r.Settle(ctx, list)
}

func (p *tap) ack(msgs ...source.Message) {
	p.s.Helper()
	p.settle(verdicts(source.Ack, msgs...))
}

// unsettled compares with the broker's own count, if it has one.
func (s *session) unsettled(want int) {
	s.Helper()
	if s.queue.Unsettled == nil {
		return
	}
	if got := s.queue.Unsettled(); got != want {
		s.Errorf("the broker waits for %d verdicts, want %d", got, want)
	}
}

// data lists payloads.
func data(msgs []source.Message) []string {
	out := make([]string, len(msgs))
	for i := range msgs {
		out[i] = string(msgs[i].Data)
	}
	return out
}

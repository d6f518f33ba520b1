package core_test

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

// numbers is a source of the numbers 1..n, one millisecond of event time apart.
type numbers struct {
	n int
	// pollErr, if set, is what Poll fails with.
	pollErr func() error
	// openErr, if set, is what Open fails with; nil from it opens.
	openErr func() error
	// settleErr, if set, is what Settle fails with for every delivery.
	settleErr func() error
	// endless: it does not end after n.
	endless bool
	next    int
	mu      sync.Mutex
	// settled, guarded by mu, are the verdicts on each position.
	settled map[source.Position][]source.Settlement
}

func newNumbers(n int) *numbers {
	return &numbers{n: n, next: 1, settled: map[source.Position][]source.Settlement{}}
}

// verdicts counts positions with that verdict.
func (s *numbers) verdicts(v source.Verdict) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.settled {
		for _, m := range list {
			if m.Verdict == v {
				n++
			}
		}
	}
	return n
}

// of is what became of a position.
func (s *numbers) of(p source.Position) []source.Settlement {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled[p]
}

func (s *numbers) Capabilities() source.Capabilities {
	return source.Capabilities{Reject: true, Terminate: true, Positions: true, Confirmed: true, Readers: 1}
}

func (s *numbers) Open(context.Context, source.Options) (source.Reader, error) {
	if s.openErr != nil {
		if err := s.openErr(); err != nil {
			return nil, err
		}
	}
	return &numbersReader{s: s}, nil
}

type numbersReader struct {
	s       *numbers
	started bool
}

func (r *numbersReader) Poll(dst []source.Message) (source.Polled, error) {
	var p source.Polled
	if r.s.pollErr != nil {
		return p, r.s.pollErr()
	}
	if !r.started {
		r.started = true
		p.Started = []source.Start{{Name: "numbers"}}
	}
	s := r.s
	for ; p.N < len(dst) && s.next <= s.n; s.next++ {
		dst[p.N] = source.Message{
			Data: []byte(strconv.Itoa(s.next)), Time: event.Millis(int64(s.next)),
			Position: source.Position(s.next), Attempt: 1, Received: time.Now(),
		}
		p.N++
	}
	p.Finished = s.next > s.n && !s.endless
	return p, nil
}

func (r *numbersReader) Settle(_ context.Context, list []source.Settlement) []source.Failure {
	if r.s.settleErr != nil {
		if err := r.s.settleErr(); err != nil {
			var all []source.Failure
			for _, m := range list {
				all = append(all, source.Failure{Ref: m.Ref, Err: err})
			}
			return all
		}
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, m := range list {
		r.s.settled[m.Position] = append(r.s.settled[m.Position], m)
	}
	return nil
}
func (r *numbersReader) Extend(context.Context, []source.Settlement) []source.Failure { return nil }
func (r *numbersReader) Close(context.Context) error                                  { return nil }

func decodeNumber(m core.Message) (int, error) { return strconv.Atoi(string(m.Data)) }

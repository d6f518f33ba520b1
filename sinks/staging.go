package sinks

import (
	"context"
	"slices"
	"sync"
)

// staging is what all workers of one after-commit sink share over a whole run: the
// stager, and which tokens were staged and are not committed, so that an abandoned
// epoch leaves nothing behind.
type staging[T, R any] struct {
	stager Stager[T, R]
	mu     sync.Mutex
	// recovered, guarded by mu: the stager was told. open, guarded by mu, are the
	// uncommitted tokens of each worker, from the moment they are staged.
	recovered bool
	open      map[int][]Token
}

func newStaging[T, R any](s Stager[T, R]) *staging[T, R] {
	return &staging[T, R]{stager: s, open: map[int][]Token{}}
}

// recover tells the stager once per run which tokens are still to be published.
// The workers wait for one another: none stages before.
func (s *staging[T, R]) recover(ctx context.Context, pending func() ([]Token, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recovered {
		return nil
	}
	tokens, err := pending()
	if err == nil {
		err = s.stager.Recover(ctx, tokens)
	}
	s.recovered = err == nil
	return err
}

func (s *staging[T, R]) add(worker int, t Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[worker] = append(s.open[worker], t)
}

// forget takes tokens out: their effect is durable, or they are discarded.
func (s *staging[T, R]) forget(worker int, tokens []Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[worker] = slices.DeleteFunc(s.open[worker], func(t Token) bool {
		return slices.ContainsFunc(tokens, func(o Token) bool { return string(o) == string(t) })
	})
}

// abandoned takes the tokens that an abandoned epoch left.
func (s *staging[T, R]) abandoned(worker int) []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.open[worker]
	s.open[worker] = nil
	return left
}

package pubsubemu

import (
	"context"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// faults stand at the server (refused requests) and in the clients made by
// Server.Client (answers that are lost, delays).
type faults struct {
	mu struct {
		sync.Mutex
		refuse, lose         int
		refuseWith, loseWith codes.Code
		delay                time.Duration
	}
}

// FailNext refuses the next n publish requests with a code, whoever sends them; a
// client may retry a request by itself.
func (s *Server) FailNext(n int, code codes.Code) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.mu.refuse, s.faults.mu.refuseWith = n, code
}

// LoseAnswers has the next n publish requests of this server's clients take effect
// and fail with a code.
func (s *Server) LoseAnswers(n int, code codes.Code) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.mu.lose, s.faults.mu.loseWith = n, code
}

// Delay makes every call of this server's clients take that much longer; zero ends
// it.
func (s *Server) Delay(d time.Duration) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.mu.delay = d
}

// React implements pstest.Reactor.
func (f *faults) React(any) (handled bool, answer any, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.refuse == 0 {
		return false, nil, nil
	}
	f.mu.refuse--
	return true, nil, status.Error(f.mu.refuseWith, "pubsubemu: refused")
}

// intercept is around every unary call of a client.
func (f *faults) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	f.mu.Lock()
	delay := f.mu.delay
	f.mu.Unlock()
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
	if err := call(ctx, method, req, reply, cc, opts...); err != nil {
		return err
	}
	if strings.HasSuffix(method, "/Publish") {
		return f.lost()
	}
	return nil
}

func (f *faults) lost() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.lose == 0 {
		return nil
	}
	f.mu.lose--
	return status.Error(f.mu.loseWith, "pubsubemu: the answer was lost")
}

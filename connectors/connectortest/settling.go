package connectortest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// silence is for how long nothing must come, where no lease says.
const silence = 150 * time.Millisecond

func checkSettleAnyOrder(s *session) {
	s.publish(20)
	p := s.open()
	m := p.read(20)
	slices.Reverse(m)
	p.ack(m[:15]...)
	s.unsettled(5)
	p.ack(m[15:]...)
	s.unsettled(0)
	if f := p.trySettle(nil); len(f) > 0 {
		s.Errorf("settling nothing: %v", f)
	}
}

func checkSettleUpTo(s *session) {
	s.publish(20)
	p := s.open()
	m := p.read(20)
	p.ack(m[9])
	p.close()
	q := s.open()
	if got := data(q.read(10)); !slices.Equal(got, numbers(10, 19)) {
		s.Errorf("behind position 10: %v", got)
	}
}

func checkNoIndividualVerdict(s *session) {
	s.publish(3)
	p := s.open()
	m := p.read(3)
	for _, v := range []source.Verdict{source.Nack, source.Terminate} {
		f := p.trySettle(verdicts(v, m[1]))
		if len(f) != 1 || fault.Of(f[0].Err) != fault.Permanent {
			s.Errorf("verdict %d: %v", v, f)
		}
	}
}

func checkSettleTwice(s *session) {
	s.publish(10)
	p := s.open()
	m := p.read(10)
	p.ack(m[:5]...)
	p.ack(m[:5]...)
	p.ack(m...)
	p.ack(append(slices.Clone(m[8:]), m[8:]...)...)
	p.quiet(silence)
	s.unsettled(0)
}

func checkForeignHandle(s *session) {
	s.publish(2)
	p := s.open()
	m := p.read(2)
	list := verdicts(source.Ack, m...)
	list[1].Handle = "from somewhere else"
	f := p.trySettle(list)
	if len(f) == 0 || !slices.ContainsFunc(f, func(f source.Failure) bool { return f.Ref == list[1].Ref }) {
		s.Errorf("taken: %v", f)
	}
	if f := p.r.Extend(s.Context(), list[1:]); p.caps.Lease > 0 && len(f) != 1 {
		s.Errorf("extended: %v", f)
	}
}

// Settle works until Close returns, and fails as Closed after it.
func checkSettleAfterClose(s *session) {
	s.publish(4)
	p := s.open()
	m := p.read(4)
	p.ack(m[0])
	p.close()
	for _, f := range [][]source.Failure{p.trySettle(verdicts(source.Ack, m[1:]...)), p.r.Extend(s.Context(), verdicts(source.Ack, m[1:]...))} {
		if len(f) != 3 || fault.Of(f[0].Err) != fault.Closed {
			s.Errorf("%v", f)
		}
	}
	if _, err := p.r.Poll(p.buf); err == nil {
		s.Error("poll works after close")
	}
	s.unsettled(3)
}

func checkNack(s *session) {
	s.publish(3)
	p := s.open()
	m := p.read(3)
	p.settle(verdicts(source.Nack, m[1]))
	again := p.read(1)
	if len(again) != 1 || string(again[0].Data) != "1" || again[0].Attempt != 2 || again[0].Position != m[1].Position {
		s.Fatalf("%+v", again)
	}
	p.ack(m[0], again[0], m[2])
	s.unsettled(0)
}

func checkNackDelay(s *session) {
	s.publish(2)
	p := s.open()
	m := p.read(2)
	const delay = 400 * time.Millisecond
	list := verdicts(source.Nack, m[0])
	list[0].Delay = delay
	began := time.Now()
	p.settle(list)
	p.ack(m[1])
	again := p.read(1)
	if took := time.Since(began); took < delay*9/10 {
		s.Errorf("delivered again after %v, asked for %v", took, delay)
	}
	p.ack(again...)
	s.unsettled(0)
}

func checkTerminate(s *session) {
	s.publish(2)
	p := s.open()
	m := p.read(2)
	list := verdicts(source.Terminate, m[0])
	list[0].Reason = "it can never be processed"
	p.settle(list)
	p.ack(m[1])
	s.unsettled(0)
	p.quiet(2 * s.setup.Lease)
}

// A call that waits for the broker gives up with its context, and says that nothing
// is settled for sure.
func checkCancel(s *session) {
	s.require("Stall", s.queue.Stall != nil)
	s.publish(3)
	p := s.open()
	m := p.read(3)
	s.queue.Stall()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	f := p.r.Settle(ctx, verdicts(source.Ack, m...))
	s.queue.Resume()
	if took := time.Since(began); took > 2*time.Second {
		s.Errorf("gave up after %v", took)
	}
	if p.caps.Confirmed && len(f) != 3 {
		s.Errorf("%d failures of 3", len(f))
	}
	for _, f := range f {
		if c := fault.Of(f.Err); c == fault.Lost || c == fault.Permanent {
			s.Errorf("%v: %v", c, f.Err)
		}
	}
	for end := time.Now().Add(s.patience); len(f) > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		f = p.trySettle(verdicts(source.Ack, m...))
	}
	if len(f) > 0 {
		s.Errorf("after the broker is back: %v", f[0].Err)
	}
	s.unsettled(0)
}

// Settle and Extend run at the same time as Poll. Under -race this is a check of its
// own.
func checkConcurrent(s *session) {
	const n = 400
	p := s.open()
	var calls sync.WaitGroup
	defer calls.Wait()
	seen := map[string]bool{}
	for i := range n {
		s.publish(1)
		for _, m := range p.poll() {
			seen[string(m.Data)] = true
			if p.caps.Contiguous {
				p.ack(m)
				continue
			}
			list := verdicts(source.Ack, m)
			calls.Go(func() {
				if i%3 == 0 && p.caps.Lease > 0 {
					p.r.Extend(s.Context(), list)
				}
				p.settle(list)
			})
		}
	}
	if len(seen) < n {
		p.until("the rest", func(fresh []source.Message) bool {
			for _, m := range fresh {
				seen[string(m.Data)] = true
				p.ack(m)
			}
			return len(seen) == n
		})
	}
	calls.Wait()
	s.unsettled(0)
}

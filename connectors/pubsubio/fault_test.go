package pubsubio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

func TestClassOfEachCode(t *testing.T) {
	for code, want := range map[codes.Code]fault.Class{
		codes.InvalidArgument:    fault.Permanent,
		codes.OutOfRange:         fault.Permanent,
		codes.NotFound:           fault.Transient,
		codes.PermissionDenied:   fault.Transient,
		codes.Unauthenticated:    fault.Transient,
		codes.FailedPrecondition: fault.Transient,
		codes.ResourceExhausted:  fault.Transient,
		codes.Aborted:            fault.Transient,
		codes.Unimplemented:      fault.Transient,
		codes.Canceled:           fault.Ambiguous,
		codes.DeadlineExceeded:   fault.Ambiguous,
		codes.Unavailable:        fault.Ambiguous,
		codes.Internal:           fault.Ambiguous,
		codes.Unknown:            fault.Ambiguous,
		codes.DataLoss:           fault.Ambiguous,
	} {
		s := newService(t)
		s.after = func(int, *pb.PublishRequest) error { return status.Error(code, "injected") }
		_, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), numbered(1, "m", ""))
		wantFailures(t, failures, "m0 "+want.String())
		if len(failures) == 1 && !strings.Contains(failures[0].Err.Error(), topicName) {
			t.Errorf("%v does not name the topic", failures[0].Err)
		}
		if n := len(s.requestSizes()); n != 1 {
			t.Errorf("%v: tried %d times", code, n)
		}
	}
}

// What never had a connection was not sent, so nothing is ambiguous about it.
func TestUnreachableServer(t *testing.T) {
	s := newService(t)
	s.Close()
	p := s.publisher(t, PublisherConfig{})
	var failures []sinks.PublishFailure
	for range 1000 {
		_, failures = p.Publish(t.Context(), numbered(2, "m", "k"))
		if fault.Of(failures[0].Err) != fault.Ambiguous { // the old connection, closing
			break
		}
		time.Sleep(time.Millisecond)
	}
	wantFailures(t, failures, "m0 transient", "m1 transient")
}

// After a failure of a key its later messages are not sent; a retry of the failed
// ones, in order, keeps the order. Other keys, and messages without, go on.
func TestFailedKeyStops(t *testing.T) {
	s := newService(t)
	s.before = func(_ int, r *pb.PublishRequest) error {
		if string(r.Messages[0].Data) == "data of a2" {
			return status.Error(codes.Unavailable, "injected")
		}
		return nil
	}
	p := s.publisher(t, PublisherConfig{BatchMessages: 1})
	msgs := slices.Concat(numbered(4, "a", "A"), numbered(4, "b", "B"), numbered(4, "c", ""))
	published, failures := p.Publish(t.Context(), msgs)
	wantFailures(t, failures, "a2 transient", "a3 transient")
	if len(published) != 10 {
		t.Errorf("published %v", publishedIDs(published))
	}
	if err := fmt.Sprint(failures); !strings.Contains(err, `not sent: an earlier message of key "A"`) {
		t.Errorf("%v", err)
	}
	s.before = nil
	_, failures = p.Publish(t.Context(), msgs[2:4])
	wantFailures(t, failures)
	wantOrderPerKey(t, s, msgs)
	if n := len(s.arrived()); n != len(msgs) {
		t.Errorf("%d messages arrived", n)
	}
}

// TestRetriesKeepOrder: whatever fails before or after the send, retrying the
// failures until none is left brings every message, in order of its key, and only
// ambiguous ones more than once.
func TestRetriesKeepOrder(t *testing.T) {
	s := newService(t)
	rapid.Check(t, func(rt *rapid.T) {
		s.ClearMessages()
		s.requests = nil
		faults := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 30).Draw(rt, "faults")
		inject := func(kind int) func(int, *pb.PublishRequest) error {
			return func(n int, _ *pb.PublishRequest) error {
				if n < len(faults) && faults[n] == kind {
					return status.Error(codes.Unavailable, "injected")
				}
				return nil
			}
		}
		s.before, s.after = inject(1), inject(2)
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"", "A", "B", "C"}), 1, 40).Draw(rt, "keys")
		var msgs []sinks.OutMessage
		for i, key := range keys {
			msgs = append(msgs, sinks.OutMessage{ID: fmt.Sprint(i), Key: key})
		}
		p := s.publisher(t, PublisherConfig{BatchMessages: rapid.IntRange(1, 5).Draw(rt, "batch"), Lanes: 3})
		retryAll(rt, p, msgs)
		wantOrderPerKey(rt, s, msgs)
	})
}

// retryAll publishes until all are confirmed, each time what failed.
func retryAll(rt *rapid.T, p *Publisher, msgs []sinks.OutMessage) {
	for range 200 {
		published, failures := p.Publish(context.Background(), msgs)
		if len(published)+len(failures) != len(msgs) {
			rt.Fatalf("%d published, %d failed of %d", len(published), len(failures), len(msgs))
		}
		again := msgs[:0:0]
		for _, m := range msgs {
			if slices.ContainsFunc(failures, func(f sinks.PublishFailure) bool { return f.ID == m.ID }) {
				again = append(again, m)
			}
		}
		if msgs = again; len(msgs) == 0 {
			return
		}
	}
	rt.Fatalf("%d messages are still not published", len(msgs))
}

func TestMissingTopic(t *testing.T) {
	s := newService(t)
	p, err := NewPublisher(s.client, "ordesr", PublisherConfig{})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Check(t.Context())
	for _, part := range []string{topicOf("ordesr"), "does not exist", "gcloud pubsub topics create ordesr --project p"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	if fault.Of(err) != fault.Permanent {
		t.Errorf("class %v", fault.Of(err))
	}
	// Later on it is an operator's mistake, and no reason to give messages up.
	_, failures := p.Publish(t.Context(), numbered(1, "m", ""))
	wantFailures(t, failures, "m0 transient")
	if err := failures[0].Err.Error(); !strings.Contains(err, "does not exist: create it") {
		t.Errorf("%v", err)
	}
	if _, err := s.GServer.CreateTopic(t.Context(), &pb.Topic{Name: topicOf("ordesr")}); err != nil {
		t.Fatal(err)
	}
	_, failures = p.Publish(t.Context(), numbered(1, "m", ""))
	wantFailures(t, failures)
	if err := p.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCheckClasses(t *testing.T) {
	for code, want := range map[codes.Code]fault.Class{codes.Unavailable: fault.Transient, codes.Unauthenticated: fault.Transient} {
		server := pstest.NewServer(pstest.WithErrorInjection("GetTopic", code, "injected"))
		t.Cleanup(func() { server.Close() })
		s := &service{Server: server}
		s.client = s.dial(t, server.Addr)
		if err := s.publisher(t, PublisherConfig{}).Check(t.Context()); err == nil || fault.Of(err) != want {
			t.Errorf("%v: %v", code, err)
		}
	}
	server := pstest.NewServer(pstest.WithErrorInjection("GetTopic", codes.PermissionDenied, "may only publish"))
	t.Cleanup(func() { server.Close() })
	s := &service{Server: server}
	s.client = s.dial(t, server.Addr)
	if err := s.publisher(t, PublisherConfig{}).Check(t.Context()); err != nil {
		t.Errorf("a publisher that may not look at the topic: %v", err)
	}
}

func TestCancelledBeforeTheSend(t *testing.T) {
	s := newService(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, failures := s.publisher(t, PublisherConfig{}).Publish(ctx, numbered(2, "m", "k"))
	wantFailures(t, failures, "m0 closed", "m1 closed")
	if err := s.publisher(t, PublisherConfig{}).Check(ctx); fault.Of(err) != fault.Closed {
		t.Errorf("Check: %v", err)
	}
	if n := len(s.arrived()); n > 0 {
		t.Errorf("%d arrived", n)
	}
}

// A call that is cancelled while the server works on it returns at once; what was
// under way is ambiguous, the rest is not sent.
func TestCancelledInFlight(t *testing.T) {
	s := newService(t)
	s.SetAutoPublishResponse(false) // the server takes the request and does not answer
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, failures := s.publisher(t, PublisherConfig{BatchMessages: 1}).Publish(ctx, numbered(3, "m", "k"))
	wantFailures(t, failures, "m0 ambiguous", "m1 transient", "m2 transient")
	s.AddPublishResponse(nil, errors.New("too late")) // lets the server end
}

// Close returns when the calls under way have returned.
func TestCloseWaits(t *testing.T) {
	s := newService(t)
	out, answer := make(chan struct{}), make(chan struct{})
	s.before = func(int, *pb.PublishRequest) error {
		close(out)
		<-answer
		return nil
	}
	p := s.publisher(t, PublisherConfig{})
	var calls sync.WaitGroup
	calls.Go(func() {
		_, failures := p.Publish(context.Background(), numbered(1, "m", ""))
		wantFailures(t, failures)
	})
	<-out
	closed := make(chan struct{})
	calls.Go(func() {
		p.Close()
		close(closed)
	})
	select {
	case <-closed:
		t.Fatal("Close did not wait for a call under way")
	case <-time.After(50 * time.Millisecond):
	}
	close(answer)
	calls.Wait()
	if n := len(s.arrived()); n != 1 {
		t.Errorf("%d messages arrived", n)
	}
}

func TestUnansweredRequestTimesOut(t *testing.T) {
	s := newService(t)
	s.SetAutoPublishResponse(false)
	_, failures := s.publisher(t, PublisherConfig{Timeout: 50 * time.Millisecond}).Publish(t.Context(), numbered(1, "m", ""))
	wantFailures(t, failures, "m0 ambiguous")
	s.AddPublishResponse(nil, errors.New("too late"))
}

func TestAnswerWithoutAllIDs(t *testing.T) {
	s := newService(t)
	s.SetAutoPublishResponse(false)
	s.AddPublishResponse(&pb.PublishResponse{MessageIds: []string{"1"}}, nil)
	_, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), numbered(2, "m", ""))
	wantFailures(t, failures, "m0 ambiguous", "m1 ambiguous")
}

// G12: calls that ended while the broker was down send nothing later; after it is
// back, each ID arrives once.
func TestNothingIsSentAfterTheCall(t *testing.T) {
	s := newService(t)
	p := s.publisher(t, PublisherConfig{})
	_, failures := p.Publish(t.Context(), numbered(1, "first", ""))
	wantFailures(t, failures)
	addr := s.Addr
	s.Close()

	msgs := slices.Concat(numbered(50, "m", ""), numbered(50, "k", "K"))
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if published, _ := p.Publish(ctx, msgs); len(published) > 0 {
			t.Fatalf("published %v to nobody", published)
		}
		cancel()
	}
	s.Server = restart(t, addr)
	s.createTopic(t)
	time.Sleep(300 * time.Millisecond) // whoever sends later would do it now
	if got := s.arrived(); len(got) > 0 {
		t.Fatalf("sent after the call had returned: %v", got)
	}
	for {
		published, _ := p.Publish(t.Context(), msgs)
		if len(published) == len(msgs) {
			break
		}
		if len(published) > 0 {
			t.Fatalf("%d of %d published", len(published), len(msgs))
		}
		time.Sleep(10 * time.Millisecond)
	}
	ids := s.arrived()
	slices.Sort(ids)
	if len(ids) != len(msgs) || len(slices.Compact(ids)) != len(msgs) {
		t.Errorf("%d messages arrived, want %d", len(ids), len(msgs))
	}
}

// restart starts a server at an address that was just given up.
func restart(t *testing.T, addr string) *pstest.Server {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		l.Close()
		server := pstest.NewServerWithAddress(addr)
		t.Cleanup(func() { server.Close() })
		return server
	}
	t.Fatalf("%s stays in use", addr)
	return nil
}

package pubsubio

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"go.uber.org/goleak"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

func TestMain(m *testing.M) {
	// Started by the init of a package that every Google client links.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

const topicName = "projects/p/topics/orders"

// service is a Pub/Sub server in this process and a client of it. Faults are put
// between the two.
type service struct {
	*pstest.Server
	client *pubsub.Client

	mu       sync.Mutex
	requests []*pb.PublishRequest
	// before and after give the error of the n-th publish request, counted from 0:
	// before it went out, or after the server had answered. Either may be nil.
	before, after func(n int, r *pb.PublishRequest) error
	// refuse is the server's own error for a publish request, or nil.
	refuse func(r *pb.PublishRequest) error
}

// React answers a publish request in the server's place where it is refused.
func (s *service) React(req any) (bool, any, error) {
	if s.refuse == nil {
		return false, nil, nil
	}
	err := s.refuse(req.(*pb.PublishRequest))
	return err != nil, &pb.PublishResponse{}, err
}

// newService starts a server that has the topic.
func newService(t testing.TB) *service {
	t.Helper()
	s := &service{}
	s.Server = pstest.NewServer(pstest.ServerReactorOption{FuncName: "Publish", Reactor: s})
	t.Cleanup(func() { s.Close() })
	s.client = s.dial(t, s.Addr)
	s.createTopic(t)
	return s
}

func (s *service) createTopic(t testing.TB) {
	t.Helper()
	if _, err := s.GServer.CreateTopic(context.Background(), &pb.Topic{Name: topicName}); err != nil {
		t.Fatal(err)
	}
}

func (s *service) dial(t testing.TB, addr string) *pubsub.Client {
	t.Helper()
	conn, err := grpc.NewClient(addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(s.intercept),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1, MaxDelay: 10 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		t.Fatal(err)
	}
	client, err := pubsub.NewClient(context.Background(), "p", option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func (s *service) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	r, ok := req.(*pb.PublishRequest)
	if !ok {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, r)
	before, after := s.before, s.after
	s.mu.Unlock()
	if before != nil {
		if err := before(n, r); err != nil {
			return err
		}
	}
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err == nil && after != nil {
		err = after(n, r)
	}
	return err
}

// requestSizes are the numbers of messages of the requests so far.
func (s *service) requestSizes() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sizes []int
	for _, r := range s.requests {
		sizes = append(sizes, len(r.Messages))
	}
	return sizes
}

// arrived lists the IDs the server has, in its order.
func (s *service) arrived() []string {
	var ids []string
	for _, m := range s.Messages() {
		ids = append(ids, m.Attributes[sinks.AttributeID])
	}
	return ids
}

func (s *service) publisher(t testing.TB, cfg PublisherConfig) *Publisher {
	t.Helper()
	p, err := NewPublisher(s.client, "orders", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// numbered makes n messages of a key: prefix0, prefix1, ...
func numbered(n int, prefix, key string) []sinks.OutMessage {
	msgs := make([]sinks.OutMessage, n)
	for i := range msgs {
		id := fmt.Sprint(prefix, i)
		msgs[i] = sinks.OutMessage{ID: id, Data: []byte("data of " + id), Key: key}
	}
	return msgs
}

func idsOf(msgs []sinks.OutMessage) []string {
	var ids []string
	for _, m := range msgs {
		ids = append(ids, m.ID)
	}
	return ids
}

func publishedIDs(published []sinks.Published) []string {
	var ids []string
	for _, p := range published {
		ids = append(ids, p.ID)
	}
	return ids
}

// wantFailures checks IDs and classes of failures, in order: "id class".
func wantFailures(t *testing.T, failures []sinks.PublishFailure, want ...string) {
	t.Helper()
	var got []string
	for _, f := range failures {
		got = append(got, fmt.Sprint(f.ID, " ", fault.Of(f.Err)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("failures %v, want %v", got, want)
		for _, f := range failures {
			t.Logf("%s: %v", f.ID, f.Err)
		}
	}
}

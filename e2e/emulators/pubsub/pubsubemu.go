// Package pubsubemu runs an in-process fake of Google Cloud Pub/Sub, for tests and
// for programs that bring their own. Its main noun is [Server]: one call to [Open]
// starts it, [Server.Client] gives a client connected to it, [Server.Shutdown]
// ends it.
//
// It is the fake of the client library (pstest): messages live in memory, streaming
// delivery is slow by design, and there is no retry policy, no snapshot and no
// filter beyond what that fake has.
//
// Faults: [Server.FailNext] refuses publish requests, [Server.LoseAnswers] answers
// them with an error after they took effect, [Server.Delay] makes every call slow.
//
// Goroutines: the fake's gRPC server, started by Open, ended by Shutdown; each
// client's own, ended by Close of the client.
package pubsubemu

import (
	"context"
	"fmt"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Server is a running emulator. Safe for concurrent use.
type Server struct {
	fake   *pstest.Server
	faults *faults
}

// Open starts an emulator on a free port of the loopback interface.
func Open(options ...pstest.ServerReactorOption) (*Server, error) {
	f := &faults{}
	ours := pstest.ServerReactorOption{FuncName: "Publish", Reactor: f}
	return &Server{fake: pstest.NewServer(append([]pstest.ServerReactorOption{ours}, options...)...), faults: f}, nil
}

// Addr is host:port, for PUBSUB_EMULATOR_HOST.
func (s *Server) Addr() string { return s.fake.Addr }

// Fake is the underlying server, for faults it can be told to make.
func (s *Server) Fake() *pstest.Server { return s.fake }

// Client connects a client for project. Close of the client closes the connection.
func (s *Server) Client(ctx context.Context, project string) (*pubsub.Client, error) {
	c, err := pubsub.NewClient(ctx, project,
		option.WithEndpoint(s.fake.Addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		option.WithGRPCDialOption(grpc.WithChainUnaryInterceptor(s.faults.intercept)))
	if err != nil {
		return nil, fmt.Errorf("pubsubemu: connect: %w", err)
	}
	return c, nil
}

// CreateTopic makes topic, a full name (projects/P/topics/T).
func (s *Server) CreateTopic(ctx context.Context, topic string) error {
	if _, err := s.fake.GServer.CreateTopic(ctx, &pubsubpb.Topic{Name: topic}); err != nil {
		return fmt.Errorf("pubsubemu: create %s: %w", topic, err)
	}
	return nil
}

// CreateSubscription makes subscription of topic, both full names. Orderly delivers
// the messages of one ordering key in order.
func (s *Server) CreateSubscription(ctx context.Context, topic, subscription string, orderly bool) error {
	_, err := s.fake.GServer.CreateSubscription(ctx, &pubsubpb.Subscription{
		Name: subscription, Topic: topic, EnableMessageOrdering: orderly, AckDeadlineSeconds: ackDeadlineSeconds,
	})
	if err != nil {
		return fmt.Errorf("pubsubemu: create %s: %w", subscription, err)
	}
	return nil
}

const ackDeadlineSeconds = 10

// Messages lists what was published, in order.
func (s *Server) Messages() []*pstest.Message { return s.fake.Messages() }

// Shutdown ends the server and drops what it holds.
func (s *Server) Shutdown() { _ = s.fake.Close() }

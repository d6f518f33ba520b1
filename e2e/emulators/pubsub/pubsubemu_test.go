package pubsubemu_test

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pubsubemu "github.com/gosluice/sluice/e2e/emulators/pubsub"
)

func TestMain(m *testing.M) {
	// Started by the init of a package that every Google client links.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

const (
	topic        = "projects/p/topics/orders"
	subscription = "projects/p/subscriptions/worker"
)

func start(t *testing.T) (*pubsubemu.Server, *pubsub.Client) {
	t.Helper()
	s, err := pubsubemu.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	if err := s.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	if err := s.CreateSubscription(t.Context(), topic, subscription, true); err != nil {
		t.Fatal(err)
	}
	c, err := s.Client(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return s, c
}

// publish makes one request.
func publish(ctx context.Context, c *pubsub.Client, data string) error {
	_, err := c.TopicAdminClient.Publish(ctx, &pubsubpb.PublishRequest{
		Topic: topic, Messages: []*pubsubpb.PubsubMessage{{Data: []byte(data)}},
	})
	return err
}

func TestPublishAndPull(t *testing.T) {
	s, c := start(t)
	if err := publish(t.Context(), c, "hello"); err != nil {
		t.Fatal(err)
	}
	got, err := c.SubscriptionAdminClient.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscription, MaxMessages: 10})
	if err != nil || len(got.ReceivedMessages) != 1 || string(got.ReceivedMessages[0].Message.Data) != "hello" {
		t.Errorf("%v, %v", got, err)
	}
	if m := s.Messages(); len(m) != 1 || string(m[0].Data) != "hello" || s.Addr() == "" || s.Fake() == nil {
		t.Errorf("%v", m)
	}
	if err := s.CreateTopic(t.Context(), topic); status.Code(err) != codes.AlreadyExists && err == nil {
		t.Error("the topic was made twice")
	}
	if err := s.CreateSubscription(t.Context(), "projects/p/topics/none", subscription+"2", false); err == nil {
		t.Error("a subscription of no topic")
	}
}

func TestFaults(t *testing.T) {
	s, c := start(t)
	s.FailNext(1, codes.PermissionDenied)
	if err := publish(t.Context(), c, "refused"); status.Code(err) != codes.PermissionDenied {
		t.Errorf("refused: %v", err)
	}
	if n := len(s.Messages()); n != 0 {
		t.Errorf("%d messages after a refusal", n)
	}
	s.LoseAnswers(1, codes.DataLoss)
	if err := publish(t.Context(), c, "applied"); status.Code(err) != codes.DataLoss {
		t.Errorf("lost answer: %v", err)
	}
	if n := len(s.Messages()); n != 1 {
		t.Errorf("%d messages after a lost answer", n)
	}
	s.Delay(30 * time.Millisecond)
	began := time.Now()
	if err := publish(t.Context(), c, "slow"); err != nil || time.Since(began) < 30*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := publish(ctx, c, "too slow"); err == nil {
		t.Error("no error when the delay outlasts the context")
	}
}

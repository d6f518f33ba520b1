package pubsubio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"cloud.google.com/go/pubsub/v2"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// Publisher publishes to one topic. It implements sinks.Publisher and is safe for
// concurrent use. The client stays the caller's, who closes it after Close.
type Publisher struct {
	client *pubsub.Client
	topic  string // projects/P/topics/T
	cfg    PublisherConfig

	mu struct {
		sync.Mutex
		closed bool
	}
	running sync.WaitGroup // calls of Publish; added to under mu
}

// NewPublisher makes a publisher for topic: an ID within the client's project, or
// a full name (projects/P/topics/T). It does not connect; see Check.
func NewPublisher(client *pubsub.Client, topic string, cfg PublisherConfig) (*Publisher, error) {
	if client == nil {
		return nil, errors.New("pubsub: no client")
	}
	name := topic
	if !strings.Contains(topic, "/") {
		name = fmt.Sprintf("projects/%s/topics/%s", client.Project(), topic)
	}
	if part := strings.Split(name, "/"); len(part) != 4 || part[0] != "projects" || part[1] == "" || part[2] != "topics" || part[3] == "" {
		return nil, fmt.Errorf("pubsub: %q is no topic: want an ID or projects/P/topics/T", topic)
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("pubsub: bad config for topic %s: %w", name, err)
	}
	return &Publisher{client: client, topic: name, cfg: cfg}, nil
}

// Deduplicates is false: the service keeps no IDs of publishers.
func (p *Publisher) Deduplicates() bool { return false }

// Publish sends msgs and returns when each is confirmed or failed, results in the
// order of msgs. It blocks for at most Timeout per request of its longest lane.
// Subject is not used: a topic has none. The failures, by class:
//
//	Permanent   the service cannot take this message (size, attributes, schema)
//	Transient   not sent, or refused before anything happened; worth a retry
//	Ambiguous   sent and not confirmed: it may have been published
//	Closed      not sent, ctx was cancelled or the publisher closed
func (p *Publisher) Publish(ctx context.Context, msgs []sinks.OutMessage) ([]sinks.Published, []sinks.PublishFailure) {
	c := newCall(p, msgs)
	if p.begin() {
		c.run(ctx)
		p.running.Done()
	} else {
		c.refuse(fault.Errorf(fault.Closed, "pubsub: publish %s: the publisher is closed", p.topic))
	}
	return c.results()
}

// begin counts a call in, unless the publisher is closed.
func (p *Publisher) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed {
		return false
	}
	p.running.Add(1)
	return true
}

// Close waits for the calls under way; later ones fail as Closed. The client is
// not touched. Idempotent.
func (p *Publisher) Close() {
	p.mu.Lock()
	p.mu.closed = true
	p.mu.Unlock()
	p.running.Wait()
}

package memory

import (
	"context"
	"strconv"
	"sync"

	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/sinks"
)

// PublisherConfig says what a publisher does. The zero value keeps all it is given.
type PublisherConfig struct {
	// Deduplicate drops a message whose ID was published before.
	Deduplicate bool
	// Before fails a message that is then not published, After one that has been.
	// Called under a lock, in order; they must not call the publisher.
	Before, After func(m *sinks.OutMessage) error
	// Queue, if set, gets what is published, in Channel.
	Queue   *Queue
	Channel string
}

// Publisher keeps what is published. Safe for concurrent use.
type Publisher struct {
	cfg PublisherConfig
	mu  struct {
		sync.Mutex
		messages []sinks.OutMessage
		byID     map[string]int // index in messages
		attempts map[string]int
	}
}

var _ sinks.Publisher = (*Publisher)(nil)

// NewPublisher makes an empty publisher.
func NewPublisher(cfg PublisherConfig) *Publisher {
	p := &Publisher{cfg: cfg}
	p.mu.byID, p.mu.attempts = map[string]int{}, map[string]int{}
	return p
}

// Deduplicates says whether a repeated ID is dropped.
func (p *Publisher) Deduplicates() bool { return p.cfg.Deduplicate }

// Publish keeps msgs in order, as the faults allow. After ctx ended it keeps none.
func (p *Publisher) Publish(ctx context.Context, msgs []sinks.OutMessage) (done []sinks.Published, failures []sinks.PublishFailure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range msgs {
		pub, err := p.publishLocked(ctx, &msgs[i])
		if err != nil {
			failures = append(failures, sinks.PublishFailure{ID: msgs[i].ID, Err: err})
			continue
		}
		done = append(done, pub)
	}
	return done, failures
}

func (p *Publisher) publishLocked(ctx context.Context, m *sinks.OutMessage) (sinks.Published, error) {
	p.mu.attempts[m.ID]++
	if err := ctx.Err(); err != nil {
		return sinks.Published{}, err
	}
	if p.cfg.Before != nil {
		if err := p.cfg.Before(m); err != nil {
			return sinks.Published{}, err
		}
	}
	at, duplicate := p.mu.byID[m.ID]
	if !duplicate || !p.cfg.Deduplicate {
		at = len(p.mu.messages)
		p.mu.byID[m.ID] = at
		p.mu.messages = append(p.mu.messages, *m)
		p.forward(m)
	}
	if p.cfg.After != nil {
		if err := p.cfg.After(m); err != nil {
			return sinks.Published{}, err
		}
	}
	return sinks.Published{ID: m.ID, MessageID: strconv.Itoa(at + 1), Duplicate: duplicate && p.cfg.Deduplicate}, nil
}

func (p *Publisher) forward(m *sinks.OutMessage) {
	if p.cfg.Queue == nil {
		return
	}
	attributes := source.Attributes{}
	for k, v := range m.Attributes {
		attributes[k] = []string{v}
	}
	p.cfg.Queue.Publish(p.cfg.Channel, Message{Data: m.Data, Attributes: attributes, Subject: m.Subject, Key: []byte(m.Key)})
}

// Messages lists what was published, in order, repeats included unless dropped.
func (p *Publisher) Messages() []sinks.OutMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]sinks.OutMessage(nil), p.mu.messages...)
}

// Attempts counts how often a message with that ID was tried.
func (p *Publisher) Attempts(id string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.attempts[id]
}

package pubsubio

import (
	"context"
	"sync"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// call is one call of Publish. Each item belongs to one lane, and only that
// lane's goroutine writes to it.
type call struct {
	p     *Publisher
	items []item
	lanes []*lane
}

// item is one message and what became of it: confirmed, or an error.
type item struct {
	id        string
	msg       *pb.PubsubMessage
	bytes     int
	confirmed bool
	messageID string
	err       error
}

// lane holds the messages of one ordering key, or those without, in order.
type lane struct {
	key   string
	items []*item
}

func newCall(p *Publisher, msgs []sinks.OutMessage) *call {
	c := &call{p: p, items: make([]item, len(msgs))}
	byKey := map[string]*lane{}
	for i, m := range msgs {
		c.items[i] = newItem(p.topic, m)
		l := byKey[m.Key]
		if l == nil {
			l = &lane{key: m.Key}
			byKey[m.Key] = l
			c.lanes = append(c.lanes, l)
		}
		l.items = append(l.items, &c.items[i])
	}
	return c
}

// run sends the lanes, at most cfg.Lanes at a time, one of them on the caller's
// goroutine.
func (c *call) run(ctx context.Context) {
	queue := make(chan *lane, len(c.lanes))
	for _, l := range c.lanes {
		queue <- l
	}
	close(queue)
	work := func() {
		for l := range queue {
			c.p.sendLane(ctx, l)
		}
	}
	var wg sync.WaitGroup
	for range min(len(c.lanes), c.p.cfg.Lanes) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// refuse fails every message with err.
func (c *call) refuse(err error) {
	for i := range c.items {
		c.items[i].err = err
	}
}

// results splits the items by outcome.
func (c *call) results() ([]sinks.Published, []sinks.PublishFailure) {
	var published []sinks.Published
	var failures []sinks.PublishFailure
	for _, it := range c.items {
		if it.err != nil {
			failures = append(failures, sinks.PublishFailure{ID: it.id, Err: it.err})
			continue
		}
		published = append(published, sinks.Published{ID: it.id, MessageID: it.messageID})
	}
	return published, failures
}

// sendLane sends the lane's messages, request after request, until one fails that
// is worth a retry: the others must not pass it, or would share its fate.
func (p *Publisher) sendLane(ctx context.Context, l *lane) {
	rest := l.items
	for len(rest) > 0 {
		n := p.batchLen(rest)
		if err := p.sendBatch(ctx, rest[:n]); err != nil {
			l.skip(p.topic, err)
			return
		}
		rest = rest[n:]
	}
}

// batchLen is how many of items go into the next request. A message that failed
// its check stands alone and is not sent.
func (p *Publisher) batchLen(items []*item) int {
	bytes := requestOverhead(p.topic)
	for i, it := range items {
		bytes += it.bytes
		if i > 0 && (i == p.cfg.BatchMessages || bytes > p.cfg.BatchBytes || it.err != nil || items[i-1].err != nil) {
			return i
		}
	}
	return len(items)
}

// sendBatch sends one request's messages. It returns an error where the rest of
// the lane must not be sent after it. A Permanent failure is none: that message
// is dealt with, and the order of the others stays.
func (p *Publisher) sendBatch(ctx context.Context, items []*item) error {
	err := items[0].err // its check
	if err == nil {
		err = p.request(ctx, items)
	}
	if fault.Of(err) == fault.Permanent && len(items) > 1 {
		return p.sendHalves(ctx, items)
	}
	for _, it := range items {
		it.err = err
	}
	if fault.Of(err) == fault.Permanent {
		return nil
	}
	return err
}

// sendHalves looks for the message that the service refused.
func (p *Publisher) sendHalves(ctx context.Context, items []*item) error {
	half := len(items) / 2
	if err := p.sendBatch(ctx, items[:half]); err != nil {
		return err
	}
	return p.sendBatch(ctx, items[half:])
}

// skip fails what was not sent because of an earlier error of the lane.
func (l *lane) skip(topic string, earlier error) {
	class := fault.Transient
	if fault.Of(earlier) == fault.Closed {
		class = fault.Closed
	}
	err := fault.Errorf(class, "pubsub: publish %s: not sent: an earlier request failed: %w", topic, earlier)
	if l.key != "" {
		err = fault.Errorf(class, "pubsub: publish %s: not sent: an earlier message of key %q failed: %w", topic, l.key, earlier)
	}
	for _, it := range l.items {
		if it.err == nil && !it.confirmed {
			it.err = err
		}
	}
}

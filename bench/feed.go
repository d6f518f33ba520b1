package main

import (
	"context"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

// feed is a source that has all its messages in memory and costs as little as a
// source can: what is left is the framework.
type feed struct {
	messages int
	// data of message i is data[i%len(data)].
	data [][]byte
	// step is the event time between two messages, in microseconds.
	step event.Time
}

// Capabilities: no broker, so no lease and no quota.
func (f *feed) Capabilities() source.Capabilities {
	return source.Capabilities{Positions: true, Confirmed: true, Reject: true, Terminate: true, Readers: 1}
}

// Open returns the reader.
func (f *feed) Open(context.Context, source.Options) (source.Reader, error) {
	return &feedReader{feed: f}, nil
}

type feedReader struct {
	*feed
	started bool
	next    int
}

// Poll fills dst.
func (r *feedReader) Poll(dst []source.Message) (p source.Polled, err error) {
	if !r.started {
		r.started = true
		p.Started = []source.Start{{Name: "feed"}}
	}
	for p.N < len(dst) && r.next < r.messages {
		r.message(&dst[p.N], r.next)
		p.N++
		r.next++
	}
	p.Finished = r.next == r.messages
	return p, nil
}

// message makes message i in place.
func (f *feed) message(m *source.Message, i int) {
	*m = source.Message{
		Data: f.data[i%len(f.data)], Time: event.Time(i) * f.step, Position: source.Position(i + 1), Attempt: 1,
	}
}

// Settle confirms everything.
func (r *feedReader) Settle(context.Context, []source.Settlement) []source.Failure { return nil }

// Extend is never called: there is no lease.
func (r *feedReader) Extend(context.Context, []source.Settlement) []source.Failure { return nil }

// Close has nothing to give back.
func (r *feedReader) Close(context.Context) error { return nil }

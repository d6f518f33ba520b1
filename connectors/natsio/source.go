package natsio

import (
	"context"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// Source reads a JetStream stream through a pull consumer. Safe for concurrent use.
//
// Guarantee: at least once; nothing is acknowledged but what Settle was told, and
// what Settle reports done was confirmed by the broker. Order: first deliveries
// come in the order of the stream, one channel for the consumer; redeliveries at
// any time. Lease: AckWait, extended as InProgress. Position: the stream sequence.
type Source struct {
	js     jetstream.JetStream
	cfg    Config
	stats  counters
	opened atomic.Bool
}

// NewSource reads through the connection of js, which stays the caller's. Nothing
// is checked before Open; see Validate.
func NewSource(js jetstream.JetStream, cfg Config) *Source {
	return &Source{js: js, cfg: cfg.withDefaults()}
}

// Validate lists all that is wrong with the configuration.
func (s *Source) Validate() error { return s.cfg.Validate() }

// Stats are the totals so far.
func (s *Source) Stats() Stats { return s.stats.read() }

// Capabilities follow from the configuration.
func (s *Source) Capabilities() source.Capabilities {
	each := s.cfg.AckPolicy == AckExplicit
	return source.Capabilities{
		Contiguous: !each,
		Reject:     each,
		Terminate:  each,
		Positions:  true,
		Confirmed:  true,
		Lease:      s.cfg.AckWait,
		Quota:      s.cfg.MaxAckPending,
		Readers:    1,
	}
}

// Open finds, creates or updates the consumer and begins to read. Transient while
// the broker is away; permanent where the configuration is wrong, the stream does
// not exist, or the consumer is claimed by another state directory.
func (s *Source) Open(ctx context.Context, o source.Options) (source.Reader, error) {
	if err := s.cfg.Validate(); err != nil {
		return nil, fault.As(fault.Permanent, err)
	}
	name := s.cfg.name()
	if o.Index > 0 {
		return nil, fault.Errorf(fault.Permanent, "nats: open %s: one reader per consumer, not %d", name, o.Count)
	}
	nc := s.js.Conn()
	if !nc.IsConnected() {
		if nc.IsClosed() {
			return nil, fault.Errorf(fault.Permanent, "nats: open %s: the connection is closed", name)
		}
		return nil, fault.Errorf(fault.Transient, "nats: open %s: not connected to any of %q", name, nc.Servers())
	}
	c, err := findConsumer(ctx, s.js, &s.cfg, o.Claim)
	if err != nil {
		return nil, err
	}
	r := newReader(s, o, c)
	if err := r.open(ctx, c.info); err != nil {
		return nil, failure("open", name, err)
	}
	return r, nil
}

package natsio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/core/fault"
)

// MetadataClaim is the key under which the consumer's metadata hold the id of the
// state directory that reads it.
const MetadataClaim = "sluice-claim"

// found is the consumer as the broker has it.
type found struct {
	handle jetstream.Consumer
	info   *jetstream.ConsumerInfo
}

// findConsumer gets the consumer into the shape of the configuration.
//
// The broker knows no compare-and-set on a consumer, so a claim is written and read
// back: it finds the directory that was copied or the second program that was
// started, not two that start in the same millisecond.
func findConsumer(ctx context.Context, js jetstream.JetStream, cfg *Config, claim string) (*found, error) {
	c, err := js.Consumer(ctx, cfg.Stream, cfg.Consumer)
	switch {
	case err == nil:
		c, err = adjust(ctx, js, cfg, claim, c.CachedInfo(), c)
	case errors.Is(err, jetstream.ErrConsumerNotFound) && !cfg.Existing:
		c, err = js.CreateConsumer(ctx, cfg.Stream, cfg.apply(jetstream.ConsumerConfig{}, claim))
	}
	if err != nil {
		return nil, openFailure(cfg, err)
	}
	info, err := c.Info(ctx)
	if err != nil {
		return nil, openFailure(cfg, err)
	}
	if err := checkClaim(cfg, info, claim); err != nil {
		return nil, err
	}
	return &found{handle: c, info: info}, nil
}

// openFailure keeps errors that are classed already.
func openFailure(cfg *Config, err error) error {
	var classed *fault.Error
	if errors.As(err, &classed) {
		return err
	}
	return failure("open", cfg.name(), err)
}

// adjust updates an existing consumer where it differs.
func adjust(ctx context.Context, js jetstream.JetStream, cfg *Config, claim string, info *jetstream.ConsumerInfo, c jetstream.Consumer) (jetstream.Consumer, error) {
	if !cfg.TakeClaim {
		if err := checkClaim(cfg, info, claim); err != nil {
			return nil, err
		}
	}
	want := info.Config
	if cfg.Existing {
		if err := cfg.agrees(&info.Config); err != nil {
			return nil, err
		}
		want.Metadata = cfg.claimed(want.Metadata, claim)
	} else {
		want = cfg.apply(info.Config, claim)
	}
	if same(&want, &info.Config) {
		return c, nil
	}
	return js.UpdateConsumer(ctx, cfg.Stream, want)
}

// checkClaim refuses a consumer that belongs to another state directory. A pipeline
// without one is refused too: what it acknowledges would be missing there.
func checkClaim(cfg *Config, info *jetstream.ConsumerInfo, claim string) error {
	other := info.Config.Metadata[MetadataClaim]
	if other == "" || other == claim {
		return nil
	}
	mine := fmt.Sprintf("state directory %q", claim)
	if claim == "" {
		mine = "a pipeline without a state directory"
	}
	return fault.Errorf(fault.Permanent,
		"nats: open %s: the consumer is claimed by state directory %q, not by %s (if that one will never run again, set Config.TakeClaim)",
		cfg.name(), other, mine)
}

// apply puts the configuration over that of a consumer; how that began cannot be
// changed any more.
func (c *Config) apply(old jetstream.ConsumerConfig, claim string) jetstream.ConsumerConfig {
	fresh := old.Durable == "" && old.Name == ""
	want := old
	want.AckPolicy = c.ackPolicy()
	want.AckWait = c.AckWait
	want.MaxAckPending = c.MaxAckPending
	want.MaxDeliver = c.MaxDeliver
	want.FilterSubject, want.FilterSubjects = "", nil
	if len(c.Subjects) == 1 {
		want.FilterSubject = c.Subjects[0]
	} else if len(c.Subjects) > 1 {
		want.FilterSubjects = slices.Clone(c.Subjects)
	}
	if fresh {
		want.Durable = c.Consumer
		want.DeliverPolicy = c.Deliver
		want.OptStartSeq = c.StartSequence
		if !c.StartTime.IsZero() {
			start := c.StartTime
			want.OptStartTime = &start
		}
	}
	want.Metadata = c.claimed(old.Metadata, claim)
	return want
}

func (c *Config) ackPolicy() jetstream.AckPolicy {
	if c.AckPolicy == AckAll {
		return jetstream.AckAllPolicy
	}
	return jetstream.AckExplicitPolicy
}

// claimed returns a copy of metadata with the claim in it. Without a claim nothing
// changes, unless another's is to be taken.
func (c *Config) claimed(metadata map[string]string, claim string) map[string]string {
	if claim == "" && !c.TakeClaim {
		return metadata
	}
	m := maps.Clone(metadata)
	if m == nil {
		m = map[string]string{}
	}
	if claim == "" {
		delete(m, MetadataClaim)
	} else {
		m[MetadataClaim] = claim
	}
	return m
}

// same compares what apply sets.
func same(a, b *jetstream.ConsumerConfig) bool {
	return a.Durable == b.Durable && a.AckPolicy == b.AckPolicy && a.AckWait == b.AckWait &&
		a.MaxAckPending == b.MaxAckPending && a.MaxDeliver == b.MaxDeliver &&
		a.FilterSubject == b.FilterSubject && slices.Equal(a.FilterSubjects, b.FilterSubjects) &&
		a.Metadata[MetadataClaim] == b.Metadata[MetadataClaim]
}

// agrees lists where an existing consumer is not what the configuration promises
// to the engine.
func (c *Config) agrees(have *jetstream.ConsumerConfig) error {
	var list []error
	differs := func(field string, want, is any) {
		list = append(list, fmt.Errorf("field %s is %v, the consumer's is %v", field, want, is))
	}
	if have.AckPolicy != c.ackPolicy() {
		differs("AckPolicy", c.ackPolicy(), have.AckPolicy)
	}
	if have.AckWait != c.AckWait {
		differs("AckWait", c.AckWait, have.AckWait)
	}
	if have.MaxAckPending != c.MaxAckPending {
		differs("MaxAckPending", c.MaxAckPending, have.MaxAckPending)
	}
	if len(list) == 0 {
		return nil
	}
	return fault.Errorf(fault.Permanent, "nats: open %s: existing consumer: %w", c.name(), errors.Join(list...))
}

// requestLimits are what the consumer allows one request.
type requestLimits struct {
	messages, bytes int
	expires, idle   time.Duration
}

// limits cuts the configured request to what the consumer allows.
func (c *Config) limits(have *jetstream.ConsumerConfig) requestLimits {
	const beatsPerRequest = 6
	l := requestLimits{messages: c.FetchMessages, bytes: c.FetchBytes, idle: c.Heartbeat, expires: beatsPerRequest * c.Heartbeat}
	if m := have.MaxRequestBatch; m > 0 {
		l.messages = min(l.messages, m)
	}
	if m := have.MaxRequestMaxBytes; m > 0 {
		l.bytes = min(l.bytes, m)
	}
	if m := have.MaxRequestExpires; m > 0 && m < l.expires {
		l.expires = m
		l.idle = min(l.idle, m/2)
	}
	return l
}

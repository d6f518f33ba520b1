package natsio

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// PublisherConfig says where to publish. Zero means the default.
type PublisherConfig struct {
	// Subject is where messages go that name none of their own.
	Subject string
	// Stream, if set, must be the one that stores them: else they are refused
	// instead of ending up where nobody looks.
	Stream string
	// MaxPending messages may be unconfirmed at a time. 4,000.
	MaxPending int
	// ConfirmWait is how long the broker may take for the next confirmation. 5 s.
	ConfirmWait time.Duration
}

// Validate lists all that is wrong, by field.
func (c PublisherConfig) Validate() error {
	var list []error
	bad := func(field, format string, args ...any) {
		list = append(list, fmt.Errorf("natsio: PublisherConfig.%s: %s", field, fmt.Sprintf(format, args...)))
	}
	if strings.ContainsAny(c.Subject, " \t\r\n*>") {
		bad("Subject", "%q is not a subject to publish to", c.Subject)
	}
	if c.Stream != "" {
		checkName(bad, "Stream", c.Stream)
	}
	checkCount(bad, "MaxPending", c.MaxPending, fetchMax)
	if c.ConfirmWait < 0 {
		bad("ConfirmWait", "%v", c.ConfirmWait)
	}
	return errors.Join(list...)
}

const defaultMaxPending = 4000

func (c PublisherConfig) withDefaults() PublisherConfig {
	orDefault(&c.MaxPending, defaultMaxPending)
	orDefault(&c.ConfirmWait, defaultConfirmWait)
	return c
}

// Publisher publishes to a stream, with OutMessage.ID as Nats-Msg-Id: a repeat is
// dropped by the broker within the stream's duplicate window (two minutes unless
// the stream says otherwise) and reported as Duplicate. Safe for concurrent use.
//
// Messages of one call are stored in order, those that failed excepted.
// OutMessage.Key has no meaning here. Attributes are headers.
//
// Nothing of a call is handed to the client after the call returned. What it had
// been handed before, and the connection broke just then, the client may send after
// it has reconnected; the ID makes that harmless.
type Publisher struct {
	nc  *nats.Conn
	cfg PublisherConfig
}

var _ sinks.Publisher = (*Publisher)(nil)

// NewPublisher publishes through the connection of js, which stays the caller's.
func NewPublisher(js jetstream.JetStream, cfg PublisherConfig) *Publisher {
	return &Publisher{nc: js.Conn(), cfg: cfg.withDefaults()}
}

// Validate lists all that is wrong with the configuration.
func (p *Publisher) Validate() error { return p.cfg.Validate() }

// Deduplicates within the stream's duplicate window.
func (p *Publisher) Deduplicates() bool { return true }

// Publish sends msgs and waits for the confirmation of each. A failure is Permanent
// where the message can never be stored (too large, no subject, refused by the
// stream), Transient where it was not sent or the stream did not take it, Ambiguous
// where it was sent and nobody answered.
func (p *Publisher) Publish(ctx context.Context, msgs []sinks.OutMessage) ([]sinks.Published, []sinks.PublishFailure) {
	if len(msgs) == 0 {
		return nil, nil
	}
	c := newPublishing(p, msgs)
	if err := p.ready(); err != nil {
		c.giveUp(err)
		return c.results()
	}
	go c.run(ctx)
	select {
	case <-c.done:
	case <-ctx.Done():
		c.giveUp(ctx.Err())
		c.wait()
	}
	return c.results()
}

// ready says why nothing should be sent now.
func (p *Publisher) ready() error {
	if err := p.cfg.Validate(); err != nil {
		return fault.As(fault.Permanent, err)
	}
	if !p.nc.IsConnected() {
		if p.nc.IsClosed() {
			return fault.As(fault.Closed, nats.ErrConnectionClosed)
		}
		return fault.Errorf(fault.Transient, "not connected to any of %q", p.nc.Servers())
	}
	return nil
}

// message makes the client's message of m.
func (p *Publisher) message(m *sinks.OutMessage) (*nats.Msg, error) {
	out := &nats.Msg{Subject: m.Subject, Data: m.Data, Header: make(nats.Header, len(m.Attributes)+2)}
	if out.Subject == "" {
		out.Subject = p.cfg.Subject
	}
	if out.Subject == "" {
		return nil, fault.Errorf(fault.Permanent, "no subject")
	}
	for key, value := range m.Attributes {
		if key == "" || strings.ContainsAny(key, ": \t\r\n") || strings.ContainsAny(value, "\r\n") {
			return nil, fault.Errorf(fault.Permanent, "attribute %q cannot be a header", key)
		}
		out.Header[key] = []string{value}
	}
	if m.ID != "" {
		out.Header[jetstream.MsgIDHeader] = []string{m.ID}
	}
	if p.cfg.Stream != "" {
		out.Header[jetstream.ExpectedStreamHeader] = []string{p.cfg.Stream}
	}
	return out, nil
}

package natsio

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// AckPolicy is what an acknowledgement covers.
type AckPolicy uint8

// The policies.
const (
	// AckExplicit settles each message on its own.
	AckExplicit AckPolicy = iota
	// AckAll settles a message and all before it: fewer messages to the broker, but
	// no verdict on a single one, and only one reader. It implies Exclusive.
	AckAll
)

// Confirm is how acknowledgements are confirmed by the broker.
type Confirm uint8

// The ways.
const (
	// ConfirmBatch asks for one confirmation after the acknowledgements of a call.
	ConfirmBatch Confirm = iota
	// ConfirmEach asks for one for every acknowledgement: twice the messages.
	ConfirmEach
)

// Config says what to read and how. Only Stream and Consumer are required; zero
// means the default.
type Config struct {
	// Stream must exist.
	Stream string
	// Consumer is the name of the durable consumer. It is created if there is none
	// and updated if it differs from this configuration.
	Consumer string
	// Existing takes the consumer as it is: it must exist, and AckPolicy, AckWait
	// and MaxAckPending must agree with it.
	Existing bool
	// Exclusive says that this process is the only reader of the consumer. What an
	// earlier process left unsettled is then delivered again at once instead of
	// after its AckWait, with negative delays cut short, and deliveries that were
	// lost on the way are noticed and asked back. A pipeline that claims the source
	// (one with a state directory) and AckAll are exclusive without it.
	Exclusive bool
	// TakeClaim replaces the claim of another state directory, which must never run
	// again.
	TakeClaim bool

	// Subjects are the filters; none: all subjects of the stream.
	Subjects []string
	// Deliver is where a new consumer begins: at the first message by default. Also
	// with StartSequence or StartTime, which imply their policy.
	Deliver       jetstream.DeliverPolicy
	StartSequence uint64
	StartTime     time.Time

	AckPolicy AckPolicy
	Confirm   Confirm
	// AckWait is the lease: how long a delivery is ours unless extended. 30 s.
	AckWait time.Duration
	// MaxAckPending is the quota: how many unsettled deliveries the broker grants.
	// Throughput is quota ÷ time from delivery to acknowledgement. 20,000.
	MaxAckPending int
	// MaxDeliver is how often a message is delivered before the broker drops it; -1,
	// the default, is for ever.
	MaxDeliver int

	// FetchMessages and FetchBytes are the size of one request; two are open at a
	// time, so twice that may be queued. 500 messages, 8 MiB.
	FetchMessages int
	FetchBytes    int
	// Heartbeat is how often the broker gives a sign of life when it has nothing to
	// deliver; after two and a half without one the requests are sent again. 5 s.
	Heartbeat time.Duration
	// ConfirmWait is how long Settle waits for confirmations. 5 s.
	ConfirmWait time.Duration
	// InfoEvery is how often an idle reader asks the broker whether it is caught
	// up, and one that waits for redeliveries whether they have been. 1 s.
	InfoEvery time.Duration

	// StopAt ends reading after that sequence of the stream; the source is bounded.
	StopAt uint64
	// StopWhenCaughtUp ends reading once everything has been handed over.
	StopWhenCaughtUp bool
}

// The defaults.
const (
	defaultAckWait       = 30 * time.Second
	defaultMaxAckPending = 20_000
	defaultFetchMessages = 500
	defaultFetchBytes    = 8 << 20
	defaultHeartbeat     = 5 * time.Second
	defaultConfirmWait   = 5 * time.Second
	defaultInfoEvery     = time.Second
	forEver              = -1
)

func orDefault[T comparable](p *T, d T) {
	var zero T
	if *p == zero {
		*p = d
	}
}

// withDefaults returns the configuration that is used.
func (c Config) withDefaults() Config {
	orDefault(&c.AckWait, defaultAckWait)
	orDefault(&c.MaxAckPending, defaultMaxAckPending)
	orDefault(&c.MaxDeliver, forEver)
	orDefault(&c.FetchMessages, min(defaultFetchMessages, c.MaxAckPending))
	orDefault(&c.FetchBytes, defaultFetchBytes)
	orDefault(&c.Heartbeat, defaultHeartbeat)
	orDefault(&c.ConfirmWait, defaultConfirmWait)
	orDefault(&c.InfoEvery, defaultInfoEvery)
	switch {
	case c.StartSequence > 0:
		c.Deliver = jetstream.DeliverByStartSequencePolicy
	case !c.StartTime.IsZero():
		c.Deliver = jetstream.DeliverByStartTimePolicy
	}
	c.Exclusive = c.Exclusive || c.AckPolicy == AckAll
	return c
}

// name is how the source is called in errors and as a channel.
func (c *Config) name() string { return c.Stream + "/" + c.Consumer }

// bounded says whether reading ends by itself.
func (c *Config) bounded() bool { return c.StopAt > 0 || c.StopWhenCaughtUp }

// fetchMax bounds one request, so that two fit in the client's channel.
const fetchMax = 50_000

// Validate lists all that is wrong, by field.
func (c Config) Validate() error {
	var list []error
	bad := func(field, format string, args ...any) {
		list = append(list, fmt.Errorf("natsio: Config.%s: %s", field, fmt.Sprintf(format, args...)))
	}
	checkName(bad, "Stream", c.Stream)
	checkName(bad, "Consumer", c.Consumer)
	for i, s := range c.Subjects {
		if s == "" || strings.ContainsAny(s, " \t\r\n") {
			bad("Subjects", "%d is %q: not a subject", i, s)
		}
	}
	c.checkStart(bad)
	for _, d := range []struct {
		field string
		value time.Duration
		least time.Duration
	}{
		{"AckWait", c.AckWait, 50 * time.Millisecond},
		{"Heartbeat", c.Heartbeat, 100 * time.Millisecond},
		{"ConfirmWait", c.ConfirmWait, time.Millisecond},
		{"InfoEvery", c.InfoEvery, 10 * time.Millisecond},
	} {
		if d.value != 0 && d.value < d.least {
			bad(d.field, "%v is below the least, %v", d.value, d.least)
		}
	}
	checkCount(bad, "MaxAckPending", c.MaxAckPending, 1<<30)
	checkCount(bad, "FetchMessages", c.FetchMessages, fetchMax)
	checkCount(bad, "FetchBytes", c.FetchBytes, 1<<30)
	if c.MaxDeliver < forEver {
		bad("MaxDeliver", "%d; -1 is for ever", c.MaxDeliver)
	}
	if c.AckPolicy > AckAll {
		bad("AckPolicy", "%d is none", c.AckPolicy)
	}
	if c.Confirm > ConfirmEach {
		bad("Confirm", "%d is none", c.Confirm)
	}
	if c.StopAt > 0 && c.StopWhenCaughtUp {
		bad("StopAt", "and StopWhenCaughtUp exclude each other")
	}
	return errors.Join(list...)
}

func (c *Config) checkStart(bad func(field, format string, args ...any)) {
	if c.StartSequence > 0 && !c.StartTime.IsZero() {
		bad("StartSequence", "and StartTime exclude each other")
	}
	if c.Deliver == jetstream.DeliverByStartSequencePolicy && c.StartSequence == 0 {
		bad("StartSequence", "missing for Deliver %v", c.Deliver)
	}
	if c.Deliver == jetstream.DeliverByStartTimePolicy && c.StartTime.IsZero() {
		bad("StartTime", "missing for Deliver %v", c.Deliver)
	}
}

func checkName(bad func(field, format string, args ...any), field, name string) {
	if name == "" {
		bad(field, "missing")
	} else if strings.ContainsAny(name, " \t\r\n.*>/\\") {
		bad(field, "%q holds a space, dot, star, > or slash", name)
	}
}

func checkCount(bad func(field, format string, args ...any), field string, value, limit int) {
	if value < 0 || value > limit {
		bad(field, "%d is not between 0 (default) and %d", value, limit)
	}
}

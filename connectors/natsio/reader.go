package natsio

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// reader is the one reader of a consumer.
type reader struct {
	src    *Source
	cfg    *Config
	opts   source.Options
	name   string
	nc     *nats.Conn
	handle jetstream.Consumer
	limits requestLimits
	// next is the subject of pull requests, prefix that of nearly all acks.
	next, prefix string
	// sub belongs to the watch goroutine, and to Close when that has ended.
	sub      *nats.Subscription
	status   chan nats.Status
	confirms *confirmer
	ops      opsPool

	// armed: the receiving goroutine is to wait on the channel. more: a request may
	// be due. ask: the watch goroutine is to look now. Each holds one token.
	armed, more, ask chan struct{}
	ctx              context.Context // of the goroutines
	cancel           context.CancelFunc
	goroutines       sync.WaitGroup
	closing          chan struct{} // closed by the first Close
	closed           chan struct{} // closed when that is done

	mu guarded
}

// guarded is what Poll and the goroutines share. The lock is never held while the
// client or the engine is called.
type guarded struct {
	sync.Mutex
	inbox inbox
	pulls pulls
	order order
	start start
	idle  idle
	end   end
	// acked is the last delivery acknowledged, with AckAll.
	acked delivery
	// incident is told by the next Poll, fatal by all.
	incident, fatal error
	// stopLook ends a look that is under way.
	stopLook context.CancelFunc
	// suspect: the consumer's information is to be looked at again.
	suspect bool
}

const (
	// statusMax is room in the channel for status messages: a request ends with at
	// most two and has a heartbeat now and then.
	statusMax = 64
	// spare is room for requests that were given up and are answered after all.
	spare = 2
)

func newReader(s *Source, o source.Options, c *found) *reader {
	r := &reader{
		src: s, cfg: &s.cfg, opts: o, name: s.cfg.name(),
		nc: s.js.Conn(), handle: c.handle, limits: s.cfg.limits(&c.info.Config),
		armed: make(chan struct{}, 1), more: make(chan struct{}, 1), ask: make(chan struct{}, 1),
		closing: make(chan struct{}), closed: make(chan struct{}),
	}
	r.next = apiPrefix(s.js) + "CONSUMER.MSG.NEXT." + s.cfg.Stream + "." + s.cfg.Consumer
	r.prefix = ackPrefix + s.cfg.Stream + "." + s.cfg.Consumer + "."
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.mu.inbox.ch = make(chan *nats.Msg, spare*requestsOpen*r.limits.messages+statusMax)
	r.mu.pulls.limits = &r.limits
	r.mu.pulls.inbox = r.nc.NewInbox() + "."
	r.mu.order = order{exclusive: s.cfg.Exclusive || o.Claim != "", next: c.info.Delivered.Consumer + 1, first: c.info.AckFloor.Stream}
	r.mu.acked = delivery{seq: c.info.AckFloor.Stream, number: c.info.AckFloor.Consumer}
	r.mu.start = newStart(r.name, c.info)
	r.mu.end = newEnd(&s.cfg, c.info)
	if c.info.NumPending == 0 {
		r.mu.idle.evidence(event.At(c.info.TimeStamp))
	}
	return r
}

// apiPrefix is what subjects of the JetStream API begin with.
func apiPrefix(js jetstream.JetStream) string {
	o := js.Options()
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return o.APIPrefix + "."
	}
	return jetstream.DefaultAPIPrefix
}

// open subscribes and starts the goroutines.
func (r *reader) open(ctx context.Context, info *jetstream.ConsumerInfo) (err error) {
	r.status = r.nc.StatusChanged(nats.RECONNECTING, nats.CONNECTED, nats.CLOSED)
	if r.confirms, err = newConfirmer(r.nc); err != nil {
		return err
	}
	if r.sub, err = r.nc.ChanSubscribe(r.mu.pulls.inbox+"*", r.mu.inbox.ch); err != nil {
		r.confirms.close()
		return err
	}
	now := time.Now()
	r.mu.inbox.looked = now
	r.mu.pulls.heard = now
	r.maybeTakeOver(ctx, info)
	r.goroutines.Go(r.receive)
	r.goroutines.Go(r.pull)
	r.goroutines.Go(r.watch)
	r.opts.Logger.Info("nats: reading", "consumer", r.name, "lease", r.cfg.AckWait,
		"quota", r.cfg.MaxAckPending, "exclusive", r.mu.order.exclusive)
	signal(r.more)
	r.opts.Wake()
	return nil
}

// signal puts a token into a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// report has the next Poll return err, once.
func (r *reader) report(err error) {
	r.mu.Lock()
	r.mu.incident = err
	r.mu.Unlock()
	r.opts.Wake()
}

// fail has every Poll return err from now on.
func (r *reader) fail(err error) {
	r.mu.Lock()
	if r.mu.fatal == nil {
		r.mu.fatal = err
	}
	r.mu.Unlock()
	r.opts.Wake()
}

func (r *reader) errorf(c fault.Class, format string, args ...any) error {
	return fault.Errorf(c, "nats: read %s: %s", r.name, fmt.Sprintf(format, args...))
}

// isClosing says whether Close has begun.
func (r *reader) isClosing() bool {
	select {
	case <-r.closing:
		return true
	default:
		return false
	}
}

package connectortest

import (
	"testing"
	"time"

	"github.com/gosluice/sluice/core/source"
)

// Harness makes queues.
type Harness struct {
	// New makes an empty queue for one check; t.Cleanup ends it.
	New func(t *testing.T, s Setup) Queue
	// Lease is the shortest with which checks can be timed: long against a round
	// trip, short against patience. 500 ms by default.
	Lease time.Duration
	// Patience is how long a check waits for what must happen. 20 s by default.
	Patience time.Duration
	// Skip names checks that do not apply, and why.
	Skip map[string]string
}

// Setup is what a check wants of its queue.
type Setup struct {
	// Lease of a delivery, where the source has leases.
	Lease time.Duration
	// Quota of unsettled deliveries, where the source has one; zero: its default.
	Quota int
	// Bounded: the source ends after what was published before it is opened.
	Bounded bool
}

// Queue is one queue of a broker.
type Queue struct {
	// Source makes a source that reads the queue with one reader, as a new process
	// would: it shares nothing in memory with those made before. Required.
	Source func() source.Source
	// Publish stores a message. Required.
	Publish func(data string)
	// Finish ends the queue of a bounded source. Nil: sources cannot be bounded.
	Finish func()
	// Unsettled counts the deliveries whose verdict the broker waits for. Nil: it
	// does not say.
	Unsettled func() int
	// Stall has the broker answer nothing until Resume. Nil: it cannot.
	Stall, Resume func()
}

const (
	defaultLease    = 500 * time.Millisecond
	defaultPatience = 20 * time.Second
)

// check is one row of the table.
type check struct {
	name string
	// needs says for which sources; nil: for all.
	needs func(source.Capabilities) bool
	setup Setup
	run   func(*session)
}

func leased(c source.Capabilities) bool     { return c.Lease > 0 }
func individual(c source.Capabilities) bool { return !c.Contiguous }
func contiguous(c source.Capabilities) bool { return c.Contiguous }
func rejects(c source.Capabilities) bool    { return c.Reject }
func terminates(c source.Capabilities) bool { return c.Terminate }
func leasedAndIndividual(c source.Capabilities) bool {
	return leased(c) && individual(c)
}
func limited(c source.Capabilities) bool { return c.Quota > 0 }

// long keeps leases out of checks that are not about them.
const long = 30 * time.Second

// checks is the table.
var checks = []check{
	{"capabilities", nil, Setup{Lease: long}, checkCapabilities},
	{"order per channel", nil, Setup{Lease: long}, checkOrder},
	{"poll never blocks", nil, Setup{Lease: long}, checkPollNeverBlocks},
	{"wake", nil, Setup{Lease: long}, checkWake},
	{"caught up only without backlog", nil, Setup{Lease: long}, checkCaughtUp},
	{"bounded read", nil, Setup{Lease: long, Bounded: true}, checkBounded},
	{"bounded read of nothing", nil, Setup{Lease: long, Bounded: true}, checkBoundedEmpty},
	{"quota", limited, Setup{Lease: long, Quota: 10}, checkQuota},

	{"settle in any order", individual, Setup{Lease: long}, checkSettleAnyOrder},
	{"settle up to a position", contiguous, Setup{Lease: long}, checkSettleUpTo},
	{"no individual verdict", contiguous, Setup{Lease: long}, checkNoIndividualVerdict},
	{"settle twice", nil, Setup{Lease: long}, checkSettleTwice},
	{"settle a foreign handle", nil, Setup{Lease: long}, checkForeignHandle},
	{"settle after close", nil, Setup{Lease: long}, checkSettleAfterClose},
	{"nack", rejects, Setup{Lease: long}, checkNack},
	{"nack with delay", rejects, Setup{Lease: long}, checkNackDelay},
	{"terminate", terminates, Setup{}, checkTerminate},
	{"cancel while blocked", nil, Setup{Lease: long}, checkCancel},
	{"settle while polling", nil, Setup{Lease: long}, checkConcurrent},

	{"lost lease", leasedAndIndividual, Setup{}, checkLostLease},
	{"settle after a lost lease", leasedAndIndividual, Setup{}, checkSettleLost},
	{"extended lease", leasedAndIndividual, Setup{}, checkExtend},
	{"queued leases are kept", leasedAndIndividual, Setup{}, checkQueuedLeases},

	{"close gives back what was not polled", nil, Setup{Lease: long}, checkCloseGivesBack},
	{"close twice", nil, Setup{Lease: long}, checkCloseTwice},
	{"reconnect with unsettled deliveries", nil, Setup{}, checkReconnect},
	{"reconnect resolves", leased, Setup{}, checkResolved},
}

// Run runs every check as a subtest.
func Run(t *testing.T, h Harness) {
	if h.Lease == 0 {
		h.Lease = defaultLease
	}
	if h.Patience == 0 {
		h.Patience = defaultPatience
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if why := h.Skip[c.name]; why != "" {
				t.Skip(why)
			}
			if c.setup.Lease == 0 {
				c.setup.Lease = h.Lease
			}
			s := &session{T: t, setup: c.setup, queue: h.New(t, c.setup), patience: h.Patience}
			if c.needs != nil && !c.needs(s.queue.Source().Capabilities()) {
				t.Skip("not among the source's capabilities")
			}
			c.run(s)
		})
	}
}

package memory

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Config says what kind of broker a queue is. The zero value is one with a channel
// "memory", leases of 30 s and individual verdicts.
type Config struct {
	// Channels are their names; one called "memory" by default. Reader i of n reads
	// every n-th.
	Channels []string
	// Now is the clock; nil is the wall clock.
	Now func() time.Time
	// Lease is how long a delivery is the reader's. 30 s.
	Lease time.Duration
	// NoLease: a delivery is the reader's until another reader opens.
	NoLease bool
	// Quota is how many deliveries may be unsettled; zero: no limit.
	Quota int
	// Contiguous: acking a position settles all before it, and there is no verdict on
	// one message. A new reader begins behind the last position acked.
	Contiguous bool
	// Fenced: what a delivery that is not the newest of its message says is refused
	// as Lost, and so is what comes after the lease ran out. Else it counts, as with
	// NATS.
	Fenced bool
	// KeepLeases: the leases of a reader outlive it. Else all that is unsettled is
	// due when the next opens.
	KeepLeases bool
	// Shuffle orders what is delivered again; nil: by position.
	Shuffle *rand.Rand
	// Bounded readers finish; see [Queue.Finish].
	Bounded bool
	// Readers is how many readers the queue can be split into; by default one per
	// channel.
	Readers int
	Faults  Faults
	// Observe, if set, is told of every verdict, applied or not, before the call that
	// brought it returns. It must not call the queue.
	Observe func(Event)
}

const defaultLease = 30 * time.Second

func (c Config) withDefaults() Config {
	if len(c.Channels) == 0 {
		c.Channels = []string{"memory"}
	}
	if c.Lease == 0 {
		c.Lease = defaultLease
	}
	if c.NoLease {
		c.Lease = 0
	}
	if c.Readers == 0 {
		c.Readers = len(c.Channels)
	}
	return c
}

// Validate lists all that is wrong, by field.
func (c Config) Validate() error {
	var list []error
	bad := func(field, format string, args ...any) {
		list = append(list, fmt.Errorf("memory: Config.%s: %s", field, fmt.Sprintf(format, args...)))
	}
	seen := map[string]bool{}
	for _, name := range c.Channels {
		if name == "" || seen[name] {
			bad("Channels", "%q is empty or twice", name)
		}
		seen[name] = true
	}
	if c.Lease < 0 {
		bad("Lease", "%v", c.Lease)
	}
	if c.Quota < 0 {
		bad("Quota", "%d", c.Quota)
	}
	if c.Readers < 0 || c.Readers > max(1, len(c.Channels)) {
		bad("Readers", "%d for %d channels", c.Readers, max(1, len(c.Channels)))
	}
	return errors.Join(list...)
}

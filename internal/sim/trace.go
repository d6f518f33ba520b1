package sim

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// traceMax is how many events a trace remembers for people.
const traceMax = 250

// Trace is what happened: the last events in words, all of them in a hash.
type Trace struct {
	ring  [traceMax]traceEvent
	count int
	hash  uint64
}

type traceEvent struct {
	at        time.Duration
	kind, who string
	note      string
}

// note adds an event. note is for people and is not part of the hash.
func (t *Trace) note(at time.Duration, kind, who, note string) {
	t.ring[t.count%traceMax] = traceEvent{at, kind, who, note}
	t.count++
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %d %s %s", t.hash, at, kind, who)
	t.hash = h.Sum64()
}

// Hash is the same for two runs in which the same happened in the same order.
func (t *Trace) Hash() uint64 { return t.hash }

// Len counts events.
func (t *Trace) Len() int { return t.count }

// String lists the last events, oldest first.
func (t *Trace) String() string {
	var b strings.Builder
	for i := max(0, t.count-traceMax); i < t.count; i++ {
		e := &t.ring[i%traceMax]
		fmt.Fprintf(&b, "%6d %12v  %-10s %s", i, e.at, e.kind, e.who)
		if e.note != "" {
			fmt.Fprintf(&b, "  (%s)", e.note)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

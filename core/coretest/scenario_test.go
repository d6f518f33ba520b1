package coretest_test

import (
	"fmt"
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/internal/engine"
	"github.com/gosluice/sluice/internal/sim"
)

func (r *rig) pick(n ...int) int { return n[r.random.IntN(len(n))] }

// faults draws what goes wrong: nothing in one run of eight.
func (r *rig) faults() sim.Faults {
	if r.random.IntN(8) == 0 {
		return sim.Faults{}
	}
	return sim.Faults{
		Abort: r.pick(0, 1, 5), Crash: r.pick(0, 1, 5), Stop: r.pick(0, 0, 1), Max: r.pick(1, 3, 8),
		CallBefore: r.pick(0, 20, 100), CallAfter: r.pick(0, 20, 100), Calls: r.pick(5, 50),
		CommitBefore: r.pick(0, 20, 50), CommitAfter: r.pick(0, 20, 50), Commits: r.pick(2, 10),
		Slow: r.pick(0, 50, 300), SlowMax: time.Duration(r.pick(10, 300, 3000)) * time.Millisecond,
	}
}

// newFeed draws a broker and fills it.
func (r *rig) newFeed(name string, firstID int) *feed {
	c := sim.BrokerConfig{Name: name, Partitions: r.pick(1, 2, 3), Readers: r.pick(1, 2)}
	c.Readers = min(c.Readers, c.Partitions)
	c.Caps = source.Capabilities{Reject: true, Terminate: true, Confirmed: r.random.IntN(3) > 0, Quota: r.pick(0, 4, 20)}
	switch r.random.IntN(4) {
	case 0:
		c.Caps.Contiguous, c.Caps.Reject, c.Caps.Terminate = true, false, false
	case 1: // slow calls are not longer, or nothing would ever be settled
		c.Strict, c.Caps.Lease = true, 5*time.Second
	case 2:
		c.Caps.Lease = time.Duration(r.pick(50, 500, 5000)) * time.Millisecond
	}
	if r.random.IntN(3) > 0 {
		c.Again, c.LostAcks, c.Faults = r.pick(0, 30, 200), r.pick(0, 50, 200), r.pick(5, 40)
	}
	if !c.Caps.Confirmed && c.Caps.Lease == 0 {
		c.LostAcks = 0 // nobody would notice
	}
	f := &feed{Broker: sim.NewBroker(r.w, c), name: name, sent: make([]int, c.Partitions)}
	f.OnSettled = func(channel string, m *sim.Queued, v source.Verdict) { r.settled(name, channel, m, v) }
	behindEvery := 0
	if r.shape.behind {
		behindEvery = 6
	}
	for i := range c.Partitions {
		list := stream(r.random, r.pick(10, 40, 80)/c.Partitions, firstID+i*1000, behindEvery)
		for n, o := range list {
			r.where[o.ID] = place{name, fmt.Sprintf("%s/%d", name, i), acks.Position(n + 1)}
		}
		f.orders = append(f.orders, list)
	}
	return f
}

// settled: no ack before the commit that makes everything durable. With a store
// the committed mark has the position by then.
func (r *rig) settled(name, channel string, m *sim.Queued, v source.Verdict) {
	if r.db == nil || v != source.Ack {
		return
	}
	mark, err := r.committedMark(name, channel)
	if err != nil {
		r.w.Fail(err)
	} else if !mark.Has(acks.Position(m.Position)) {
		r.fail("%s %d was acked before its commit: the mark has %+v", channel, m.Position, mark)
	}
}

func (r *rig) published() bool {
	for _, f := range r.brokers {
		for i, n := range f.sent {
			if n < len(f.orders[i]) {
				return false
			}
		}
	}
	return true
}

// producer publishes the orders bit by bit.
type producer struct{ r *rig }

func (p *producer) Name() string { return "producer" }

func (p *producer) Ready(now time.Time) time.Time {
	if p.r.published() {
		return time.Time{}
	}
	return now
}

func (p *producer) Act(time.Time) string {
	random := p.r.w.Rand()
	f := p.r.brokers[random.IntN(len(p.r.brokers))]
	i := random.IntN(len(f.sent))
	for range 1 + random.IntN(3) {
		if f.sent[i] < len(f.orders[i]) {
			o := f.orders[i][f.sent[i]]
			f.Publish(i, o.encode(), o.time())
			f.sent[i]++
		}
	}
	return ""
}

// operator drains the pipeline when the queue is empty.
type operator struct{ r *rig }

func (o *operator) Name() string { return "operator" }

func (o *operator) Ready(now time.Time) time.Time {
	if o.r.drained || !o.r.published() || o.r.unsettled() > 0 {
		return time.Time{}
	}
	return now
}

func (o *operator) Act(time.Time) string {
	o.r.drained = true
	o.r.w.End(engine.Drain)
	return "drain"
}

package natsio

import "sync/atomic"

// Stats are totals of a source since it was made, over all its readers.
type Stats struct {
	// Delivered counts what was handed over, Redelivered those of it that were not
	// first deliveries.
	Delivered, Redelivered uint64
	// Acked, Nacked and Terminated verdicts were confirmed, SettleFailed were not.
	Acked, Nacked, Terminated, SettleFailed uint64
	// Extended leases, of handed over and of queued deliveries.
	Extended uint64
	// Reconnects of the connection, and MissedHeartbeats: times the broker was
	// silent too long.
	Reconnects, MissedHeartbeats uint64
	// Rewinds of an exclusive reader, and the deliveries that had not arrived or not
	// been handed over then and were asked for again.
	Rewinds, AskedBack uint64
	// Returned deliveries were received, not polled, and given back by Close.
	Returned uint64
}

// counters are Stats in the making.
type counters struct {
	delivered, redelivered                  atomic.Uint64
	acked, nacked, terminated, settleFailed atomic.Uint64
	extended                                atomic.Uint64
	reconnects, missedHeartbeats            atomic.Uint64
	rewinds, askedBack                      atomic.Uint64
	returned                                atomic.Uint64
}

func (c *counters) read() Stats {
	return Stats{
		Delivered: c.delivered.Load(), Redelivered: c.redelivered.Load(),
		Acked: c.acked.Load(), Nacked: c.nacked.Load(),
		Terminated: c.terminated.Load(), SettleFailed: c.settleFailed.Load(),
		Extended:   c.extended.Load(),
		Reconnects: c.reconnects.Load(), MissedHeartbeats: c.missedHeartbeats.Load(),
		Rewinds: c.rewinds.Load(), AskedBack: c.askedBack.Load(),
		Returned: c.returned.Load(),
	}
}

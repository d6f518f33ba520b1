package natsio

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
)

// connection follows the state of the connection. Requests do not survive it.
func (r *reader) connection(s nats.Status) {
	switch s {
	case nats.RECONNECTING:
		r.mu.Lock()
		r.mu.pulls.down = true
		stopLook := r.mu.stopLook
		r.mu.Unlock()
		if stopLook != nil {
			stopLook()
		}
		err := r.errorf(fault.Transient, "disconnected; reconnecting to %q", r.nc.Servers())
		r.confirms.failAll(err)
		r.report(err)
	case nats.CONNECTED:
		r.mu.Lock()
		was := r.mu.pulls.down
		r.mu.pulls.down = false
		r.mu.suspect = true
		r.mu.order.broken("the connection broke")
		r.restartLocked(time.Now(), false)
		r.mu.Unlock()
		if was {
			r.src.stats.reconnects.Add(1)
			r.opts.Logger.Info("nats: reconnected", "consumer", r.name, "server", r.nc.ConnectedUrl())
		}
		signal(r.ask)
	case nats.CLOSED:
		err := r.errorf(fault.Permanent, "the connection was closed")
		r.confirms.failAll(fault.As(fault.Closed, nats.ErrConnectionClosed))
		r.fail(err)
	}
}

// checkConnection makes up for a status that the client could not tell (it drops
// them when too many come at once).
func (r *reader) checkConnection() {
	r.mu.Lock()
	down := r.mu.pulls.down
	r.mu.Unlock()
	if down && r.nc.IsConnected() {
		r.connection(nats.CONNECTED)
	}
}

// checkHeartbeat starts anew when the broker has been silent too long although it
// owes heartbeats. G55.
func (r *reader) checkHeartbeat(now time.Time) {
	r.checkConnection()
	silent := r.limits.idle * 5 / 2
	r.mu.Lock()
	if r.mu.order.collecting {
		silent = max(silent, 2*collectWait)
	}
	p := &r.mu.pulls
	missed := !p.down && r.mu.order.hole == "" && p.asked > 0 && !r.mu.end.finished && r.mu.inbox.empty() && now.Sub(p.heard) > silent
	if missed {
		r.restartLocked(now, false)
		r.mu.order.broken("heartbeats are missing")
		r.mu.suspect = true
	}
	again := r.mu.order.hole != "" && !p.down // a rewind that failed
	r.mu.Unlock()
	if again {
		signal(r.ask)
	}
	if missed {
		r.src.stats.missedHeartbeats.Add(1)
		r.report(r.errorf(fault.Transient, "no heartbeat for %v; asking again", silent))
		signal(r.ask)
	}
}

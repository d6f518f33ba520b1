package natsio

import (
	"strconv"
	"time"
)

// requestsOpen at the broker hide the round trip.
const requestsOpen = 2

// pulls keeps account of pull requests. Guarded by the reader's mu.
//
// One subscription serves all requests (a delivery does not say to which it
// belongs), so they are counted together: what was asked for and not taken out of
// the inbox. A request that ends early says how much of it is left. If the account
// goes wrong all the same, heartbeats stop, and it starts anew.
type pulls struct {
	limits *requestLimits
	// inbox is what the reply subjects of requests begin with; a number follows.
	inbox string
	asked int
	// request counts requests; those below valid were given up.
	request, valid uint64
	// heard is when the broker last gave a sign of life.
	heard time.Time
	// notBefore delays requests after one that was refused.
	notBefore time.Time
	refused   int
	down      bool
	// queued is what was in the inbox when requests were given up: it counts as
	// asked, status messages too, until it is taken out.
	queued int
}

// due says whether another request is to be sent.
func (p *pulls) due() bool { return !p.down && p.asked <= p.limits.messages }

// collectWait bounds the request that collects what comes again in a rewind.
const collectWait = 5 * time.Second

// next opens a request, if one is due.
func (p *pulls) next(now time.Time) (id uint64, ok bool) {
	if !p.due() || now.Before(p.notBefore) {
		return 0, false
	}
	if p.asked == 0 {
		p.heard = now
	}
	p.asked += p.limits.messages
	p.request++
	return p.request, true
}

// received counts a message taken out of the inbox.
func (p *pulls) received(at time.Time) {
	p.queued = max(p.queued-1, 0)
	p.asked = max(p.asked-1, 0)
	p.heard = at
	p.refused = 0
}

// told counts a status message taken out of the inbox.
func (p *pulls) told(at time.Time) {
	p.heard = at
	if p.queued > 0 {
		p.queued--
		p.asked = max(p.asked-1, 0)
	}
}

// ended counts what is left of a request that ended early.
func (p *pulls) ended(id uint64, left int) {
	if id >= p.valid {
		p.asked = max(p.asked-left, 0)
	}
}

const (
	backoffFirst = 50 * time.Millisecond
	backoffMax   = 2 * time.Second
)

// restart gives all requests up; queued messages of theirs still have to be taken
// out. After a refusal the next request waits a little.
func (p *pulls) restart(queued int, now time.Time, refused bool) {
	p.valid = p.request + 1
	p.asked, p.queued = queued, queued
	p.heard = now
	if refused {
		p.notBefore = now.Add(min(backoffFirst<<min(p.refused, 10), backoffMax))
		p.refused++
	}
}

// restartLocked gives all requests up.
func (r *reader) restartLocked(now time.Time, refused bool) {
	queued := len(r.mu.inbox.ch)
	for i := range r.mu.inbox.held {
		if !r.mu.inbox.held[i].checked {
			queued++
		}
	}
	r.mu.pulls.restart(queued, now, refused)
}

// pull is the goroutine that keeps requests open.
func (r *reader) pull() {
	ticker := time.NewTicker(r.tick())
	defer ticker.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.more:
		case s := <-r.status:
			r.connection(s)
		case now := <-ticker.C:
			r.checkHeartbeat(now)
			r.keepLeases(now)
		}
		r.request()
	}
}

// tick is short enough for every duration that is watched by it.
func (r *reader) tick() time.Duration {
	const least, most = 5 * time.Millisecond, 250 * time.Millisecond
	return max(least, min(most, r.limits.idle/4, r.cfg.AckWait/16))
}

// request sends what is due.
func (r *reader) request() {
	for {
		r.mu.Lock()
		id, ok := r.nextRequestLocked(time.Now())
		reply := r.mu.pulls.inbox + strconv.FormatUint(id, 10)
		body := r.limits.body(r.mu.order.collecting)
		r.mu.Unlock()
		if !ok {
			return
		}
		if err := r.nc.PublishRequest(r.next, reply, body); err != nil {
			r.mu.Lock()
			r.restartLocked(time.Now(), true)
			r.mu.Unlock()
			r.report(failure("read", r.name, err))
			return
		}
	}
}

// nextRequestLocked opens a request if one may be sent: two at a time, one that
// collects.
func (r *reader) nextRequestLocked(now time.Time) (id uint64, ok bool) {
	g := &r.mu
	if g.end.finished || g.fatal != nil || g.order.hole != "" || g.order.collecting && g.pulls.asked > 0 {
		return 0, false
	}
	return g.pulls.next(now)
}

// body is a pull request. One that collects returns when nothing is left to deliver.
func (l *requestLimits) body(collect bool) []byte {
	b := append(make([]byte, 0, 128), `{"batch":`...)
	b = strconv.AppendInt(b, int64(l.messages), 10)
	b = strconv.AppendInt(append(b, `,"max_bytes":`...), int64(l.bytes), 10)
	if collect {
		b = strconv.AppendInt(append(b, `,"no_wait":true,"expires":`...), int64(collectWait), 10)
		return append(b, '}')
	}
	b = strconv.AppendInt(append(b, `,"expires":`...), int64(l.expires), 10)
	b = strconv.AppendInt(append(b, `,"idle_heartbeat":`...), int64(l.idle), 10)
	return append(b, '}')
}

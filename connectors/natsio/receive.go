package natsio

import (
	"time"

	"github.com/nats-io/nats.go"
)

// receive is the goroutine that waits for messages while Poll finds none.
func (r *reader) receive() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.armed:
		}
		for waiting := true; waiting; {
			select {
			case <-r.ctx.Done():
				return
			case m := <-r.mu.inbox.ch:
				waiting = !r.arrived(m)
			}
		}
	}
}

// arrived takes the first message after a pause; it and what came with it count as
// received now. A delivery ends the wait.
func (r *reader) arrived(m *nats.Msg) bool {
	now := time.Now()
	r.mu.Lock()
	b := &r.mu.inbox
	b.looked = now
	isDelivery := m.Reply != ""
	if isDelivery {
		b.held = append(b.held, held{msg: m, received: now})
		b.armed = false
	} else {
		r.statusLocked(m)
	}
	news := isDelivery || r.mu.fatal != nil || r.mu.incident != nil
	more := r.mu.pulls.due()
	r.mu.Unlock()
	if more {
		signal(r.more)
	}
	if news {
		r.opts.Wake()
	}
	return isDelivery
}

package natsio

import "time"

// keepLeases extends the leases of what was received and not polled (invariant 4,
// G17): the engine keeps those of what it has. A quarter of AckWait is early enough
// to fail twice.
func (r *reader) keepLeases(now time.Time) {
	due := now.Add(-r.cfg.AckWait / 4)
	subjects := r.dueLeases(due)
	if len(subjects) == 0 {
		return
	}
	for _, s := range subjects {
		if err := r.nc.Publish(s, bodyProgress); err != nil {
			return
		}
	}
	r.src.stats.extended.Add(uint64(len(subjects)))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eachQueuedLocked(func(h *held) {
		if h.received.Before(due) {
			h.received = now
		}
	})
}

// dueLeases lists the ack subjects of queued deliveries received before due.
func (r *reader) dueLeases(due time.Time) (subjects []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &r.mu.inbox
	b.look(time.Now())
	if len(b.batches) > 0 && b.batches[0].after.Before(due) {
		b.hold()
	}
	r.eachQueuedLocked(func(h *held) {
		if h.received.Before(due) && h.msg.Reply != "" {
			subjects = append(subjects, h.msg.Reply)
		}
	})
	return subjects
}

// eachQueuedLocked visits what is out of the channel and not handed over.
func (r *reader) eachQueuedLocked(visit func(*held)) {
	for i := range r.mu.inbox.held {
		visit(&r.mu.inbox.held[i])
	}
	for i := range r.mu.order.back {
		visit(&r.mu.order.back[i])
	}
	for seq, h := range r.mu.end.beyond {
		visit(&h)
		r.mu.end.beyond[seq] = h
	}
}

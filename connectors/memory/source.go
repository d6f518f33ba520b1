package memory

import (
	"context"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

var _ source.Source = (*Queue)(nil)

// Capabilities follow from the configuration.
func (q *Queue) Capabilities() source.Capabilities {
	return source.Capabilities{
		Contiguous: q.cfg.Contiguous,
		Reject:     !q.cfg.Contiguous,
		Terminate:  !q.cfg.Contiguous,
		Positions:  true,
		Confirmed:  true,
		Lease:      q.cfg.Lease,
		Quota:      q.cfg.Quota,
		Readers:    q.cfg.Readers,
	}
}

// Open opens reader o.Index of o.Count. An earlier reader of that index loses what
// it has, unless Config.KeepLeases.
func (q *Queue) Open(ctx context.Context, o source.Options) (source.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if o.Count < 1 || o.Count > q.cfg.Readers || o.Index < 0 || o.Index >= o.Count {
		return nil, fault.Errorf(fault.Permanent, "memory: open: reader %d of %d; the queue has at most %d", o.Index, o.Count, q.cfg.Readers)
	}
	if err := ask(q.cfg.Faults.Open, o.Index); err != nil {
		return nil, err
	}
	if q.mu.claim != "" && q.mu.claim != o.Claim {
		return nil, fault.Errorf(fault.Permanent, "memory: open: the queue is claimed by %q, not by %q", q.mu.claim, o.Claim)
	}
	q.mu.claim = o.Claim
	r := &reader{q: q, opts: o}
	for len(q.mu.readers) < o.Count {
		q.mu.readers = append(q.mu.readers, nil)
	}
	q.mu.readers[o.Index] = r
	for i := o.Index; i < len(q.mu.channels); i += o.Count {
		r.take(q.mu.channels[i])
	}
	return r, nil
}

// take begins to read a channel.
func (r *reader) take(c *channel) {
	q := r.q
	if q.cfg.Contiguous {
		c.rewind()
	} else {
		for _, e := range c.entries[c.floor:c.next] {
			e.outstanding = !e.done()
		}
		if !q.cfg.KeepLeases {
			c.release(q.cfg.Shuffle)
		}
	}
	n, through := c.outstanding()
	r.channels = append(r.channels, &assigned{
		channel: c, unresolved: n > 0,
		start: source.Start{Channel: source.Channel(len(r.channels)), Name: c.name, Through: through, Outstanding: n},
	})
}

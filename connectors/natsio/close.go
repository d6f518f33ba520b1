package natsio

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
)

// Close stops reading and gives back what was received and not polled. Settle works
// until it returns. A second call waits for the first.
func (r *reader) Close(ctx context.Context) error {
	if r.beginClose() {
		go func() {
			defer close(r.closed)
			r.shutDown(ctx)
		}()
	}
	select {
	case <-r.closed:
		return nil
	case <-ctx.Done():
		return fault.As(fault.Transient, fmt.Errorf("nats: close %s: the connection takes no bytes: %w", r.name, ctx.Err()))
	}
}

// beginClose says whether this is the first.
func (r *reader) beginClose() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isClosing() {
		return false
	}
	close(r.closing)
	return true
}

func (r *reader) shutDown(ctx context.Context) {
	r.cancel()
	r.goroutines.Wait()
	if err := r.giveBack(ctx); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		r.opts.Logger.Warn("nats: deliveries that were not polled come again after their AckWait",
			"consumer", r.name, "ackWait", r.cfg.AckWait, "error", err)
	}
	_ = r.sub.Unsubscribe()
	r.confirms.close()
	r.nc.RemoveStatusListener(r.status)
}

// giveBack ends the subscription. Deliveries that are under way when it ends are
// dealt with too (G57): the client keeps the subscription until the broker has
// answered a ping that was sent after the end of it, and all that precedes the
// answer is in the channel.
func (r *reader) giveBack(ctx context.Context) error {
	if err := r.cannotSend(); err != nil {
		return err
	}
	if err := r.sub.Drain(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.cfg.ConfirmWait)
	defer cancel()
	if err := r.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	queued := r.queued()
	for _, subject := range queued {
		if err := r.nc.Publish(subject, bodyNak); err != nil {
			return err
		}
	}
	r.src.stats.returned.Add(uint64(len(queued)))
	return r.nc.FlushWithContext(ctx)
}

// queued are the ack subjects of all that was received and not handed over.
func (r *reader) queued() (subjects []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.inbox.armed = false // its goroutine has ended
	r.mu.inbox.hold()
	r.eachQueuedLocked(func(h *held) {
		if h.msg.Reply != "" {
			subjects = append(subjects, h.msg.Reply)
		}
	})
	return subjects
}

package natsio

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
)

// infoWait bounds one question to the broker.
const infoWait = 5 * time.Second

// watch is the goroutine that asks the broker about the consumer: while something
// is outstanding, a hole is open, or the reader is idle; and when it may be gone.
func (r *reader) watch() {
	ticker := time.NewTicker(r.cfg.InfoEvery)
	defer ticker.Stop()
	w := watcher{r: r}
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.ask:
			w.look()
		case now := <-ticker.C:
			if r.curious(now) {
				w.look()
			}
		}
	}
}

// curious says whether the consumer is to be looked at.
func (r *reader) curious(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := &r.mu
	if g.pulls.down || g.fatal != nil || g.end.finished {
		return false
	}
	isIdle := g.inbox.empty() && now.Sub(g.idle.since) >= r.cfg.InfoEvery
	return g.suspect || !g.settledOrder() || isIdle
}

// broken says whether to rewind, now that the broker can be reached.
func (r *reader) broken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.order.hole != "" && !r.mu.pulls.down
}

// watcher is what the watch goroutine remembers from look to look.
type watcher struct {
	r *reader
	// missing looks in a row found no consumer.
	missing int
	// sent is the number of the last delivery as of the last look at an idle
	// consumer that is shared, taken when handed deliveries had been handed over.
	sent, handed uint64
}

func (w *watcher) look() {
	r := w.r
	ctx, cancel := context.WithTimeout(r.ctx, infoWait)
	defer cancel()
	r.mu.Lock()
	r.mu.stopLook = cancel // when the connection breaks, nobody will answer
	r.mu.Unlock()
	if r.broken() {
		if err := r.rewind(ctx); err != nil {
			w.failed(err)
			return // the pulling goroutine asks for another try
		}
		r.opts.Wake()
	}
	info, err := r.handle.Info(ctx)
	if err != nil {
		w.failed(err)
		return
	}
	w.missing = 0
	streamLast := w.streamLast(ctx, info)
	r.mu.Lock()
	news := w.informLocked(info, streamLast)
	again := r.mu.order.hole != ""
	r.mu.Unlock()
	if again {
		signal(r.ask)
	}
	if news {
		r.opts.Wake()
	}
}

// failed: two looks in a row that find no consumer are believed; a broker that has
// just started may not have found it yet. G50.
func (w *watcher) failed(err error) {
	r := w.r
	if !gone(err) {
		return // the connection is down or slow; the pulling goroutine says so
	}
	if w.missing++; w.missing < 2 {
		r.mu.Lock()
		r.mu.suspect = true
		r.mu.Unlock()
		return
	}
	what := "consumer " + r.name
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		what = "stream " + r.cfg.Stream
	}
	r.fail(r.errorf(fault.Permanent, "%s was deleted", what))
}

// streamLast is the stream's last sequence where a bounded reader needs it, else 0.
func (w *watcher) streamLast(ctx context.Context, info *jetstream.ConsumerInfo) uint64 {
	if w.r.cfg.StopAt == 0 || info.NumPending > 0 {
		return 0
	}
	s, err := w.r.src.js.Stream(ctx, w.r.cfg.Stream)
	if err != nil {
		return 0
	}
	return s.CachedInfo().State.LastSeq
}

// informLocked takes the broker's word into account.
func (w *watcher) informLocked(info *jetstream.ConsumerInfo, streamLast uint64) (news bool) {
	g := &w.r.mu
	g.suspect = false
	news = g.start.inform(info)
	if !g.inbox.empty() {
		return news
	}
	g.suspect = g.order.tail(info.Delivered.Consumer)
	if info.NumPending == 0 && w.allArrived(info) {
		g.idle.evidence(event.At(info.TimeStamp))
		g.end.inform(streamLast)
		news = true
	}
	return news
}

// allArrived says whether every delivery the broker sent has arrived. Where others
// read the consumer too that is unknown; then it is when none was sent since the
// last look and none has arrived.
func (w *watcher) allArrived(info *jetstream.ConsumerInfo) bool {
	g := &w.r.mu
	sent, handed := w.sent, w.handed
	w.sent, w.handed = info.Delivered.Consumer, g.idle.last.number
	if g.order.exclusive {
		return info.Delivered.Consumer < g.order.next
	}
	return info.Delivered.Consumer == g.idle.last.number || w.sent == sent && w.handed == handed
}

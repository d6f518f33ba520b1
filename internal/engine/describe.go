package engine

import (
	"fmt"
	"strings"
)

// String says how the region stands, in some lines: for dumps of a stuck run. It
// may be called between steps only.
func (r *Region) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "region %s: epoch %d, phase %d, mode %d, dirty %v, urgent %v", r.spec.Name, r.epoch, r.phase, r.mode, r.dirty.Load(), r.urgent.Load())
	if c := r.closing; c != nil {
		fmt.Fprintf(&b, ", closing %d with %d of %d reports", c.epoch, len(c.reports), len(r.tasks))
	}
	if r.commit != nil {
		fmt.Fprintf(&b, ", committing %d", r.commit.epoch)
	}
	for _, rd := range r.readers {
		s := rd.ledger.Stats()
		fmt.Fprintf(&b, "\n  reader %s: ready %v, finished %v, settling %v, ledger %+v", rd.name(), rd.ready.Load(), rd.finished, rd.settling, s)
	}
	for _, e := range r.effects.order {
		fmt.Fprintf(&b, "\n  effect %x: running %v, done %v", e.id.key, e.running, e.done)
	}
	for _, h := range r.Health() {
		fmt.Fprintf(&b, "\n  degraded %s: %v (%d times)", h.What, h.Err, h.Count)
	}
	return b.String()
}

// String says how the task stands: for dumps, between steps only.
func (t *Task) String() string {
	var b strings.Builder
	v := t.View()
	fmt.Fprintf(&b, "task %s: epoch %d, in %v, out %v, hold %v", t.Name(), t.epoch, v.In, v.Out, v.Hold)
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"not opened", !t.opened}, {"bundle open", t.bundleOpen}, {"closing", t.closing}, {"close asked", t.closeAsked},
		{"failed", t.failed}, {"input held", t.inputHeld}, {"output full", t.blockedOutput()}, {"idle", t.head != nil && t.head.Idle()},
	} {
		if f.set {
			b.WriteString(", " + f.name)
		}
	}
	for _, i := range t.in.all {
		fmt.Fprintf(&b, "\n  input %d: watermark %v, blocked %v, %d waiting", i.in, i.watermark, i.blocked, i.queue.some.Load())
	}
	return b.String()
}

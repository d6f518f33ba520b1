package natsio

import (
	"github.com/nats-io/nats.go/jetstream"
)

// end is where a bounded reader stops. Guarded by the reader's mu.
//
// It has finished when everything up to there was handed over, redeliveries of
// earlier runs and of what this one gave back (Nack) included. What it gives back
// after that is left for the next run.
type end struct {
	stopAt       uint64
	whenCaughtUp bool
	// reached: first deliveries have come that far.
	reached, finished bool
	// nacked positions are to come again.
	nacked map[uint64]struct{}
	// beyond stopAt; given back by Close.
	beyond map[uint64]held
}

func newEnd(cfg *Config, info *jetstream.ConsumerInfo) end {
	e := end{stopAt: cfg.StopAt, whenCaughtUp: cfg.StopWhenCaughtUp}
	if cfg.bounded() {
		e.nacked, e.beyond = map[uint64]struct{}{}, map[uint64]held{}
	}
	e.reached = e.stopAt > 0 && info.Delivered.Stream >= e.stopAt
	return e
}

// within says whether d is to be handed over.
func (e *end) within(h *held, d *delivery) bool {
	if e.nacked != nil {
		delete(e.nacked, d.seq)
	}
	if e.stopAt == 0 || d.seq < e.stopAt {
		return true
	}
	e.reached = true
	if d.seq == e.stopAt {
		return true
	}
	e.beyond[d.seq] = *h
	return false
}

// gaveBack notes a Nack.
func (e *end) gaveBack(seq uint64) {
	if e.nacked != nil {
		e.nacked[seq] = struct{}{}
	}
}

// caughtUp: everything the broker had was handed over.
func (e *end) caughtUp() { e.reached = e.reached || e.whenCaughtUp }

// inform: nothing is pending up to the stream's last message.
func (e *end) inform(streamLast uint64) {
	e.reached = e.reached || e.stopAt > 0 && streamLast >= e.stopAt
}

// check latches the end; complete means that no earlier delivery is to come.
func (e *end) check(complete bool) bool {
	e.finished = e.finished || e.reached && complete && len(e.nacked) == 0
	return e.finished
}

package memory

import (
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// Faults are asked before each step; nil functions are not. They are called with
// the queue locked, in a fixed order, and must not call it. A seeded test draws
// from its random source in them; a scripted one counts.
type Faults struct {
	// Open, Poll and Close fail with what they return.
	Open  func(reader int) error
	Poll  func(reader int) error
	Close func(reader int) error
	// Settle decides about each settlement.
	Settle func(s *source.Settlement) Fate
	// Extend refuses an extension with what it returns.
	Extend func(s *source.Settlement) error
	// Redeliver has a message that is leased delivered once more, as brokers do.
	Redeliver func(channel source.Channel, p source.Position) bool
}

// Fate is what becomes of a settlement.
type Fate uint8

// The fates.
const (
	// Arrive: it is applied and confirmed.
	Arrive Fate = iota
	// LoseRequest: it is not applied; the caller is told nothing but an error.
	LoseRequest
	// LoseConfirmation: it is applied; the caller is told nothing but an error.
	LoseConfirmation
	// LoseLease: the lease is over, the message is due again, and the caller is told.
	LoseLease
	// LoseSilently: it is not applied and confirmed all the same, as where acks are
	// not confirmed.
	LoseSilently
)

var (
	errLost      = fault.Errorf(fault.Lost, "memory: settle: the lease is over")
	errNoAnswer  = fault.Errorf(fault.Transient, "memory: settle: no answer")
	errUncertain = fault.Errorf(fault.Ambiguous, "memory: settle: no answer")
	errClosed    = fault.Errorf(fault.Closed, "memory: the reader is closed")
	errVerdict   = fault.Errorf(fault.Permanent, "memory: settle: a contiguous queue has no verdict on one message")
	errHandle    = fault.Errorf(fault.Bug, "memory: the handle is not a delivery of this queue")
)

func (f *Faults) settle(s *source.Settlement) Fate {
	if f.Settle == nil {
		return Arrive
	}
	return f.Settle(s)
}

func ask(f func(int) error, reader int) error {
	if f == nil {
		return nil
	}
	return f(reader)
}

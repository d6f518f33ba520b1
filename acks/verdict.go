package acks

import (
	"fmt"
	"time"
)

// Action is what a verdict asks for.
type Action uint8

// The actions.
const (
	// Acked: the delivery is done with. The default.
	Acked Action = iota
	// Rejected: the broker shall deliver it again, not before a delay.
	Rejected
	// Terminated: the broker shall never deliver it again.
	Terminated
	// Blocked: the broker is told nothing; the delivery stays unsettled.
	Blocked
)

// String is the action's name in lower case.
func (a Action) String() string {
	names := [...]string{"acked", "rejected", "terminated", "blocked"}
	if int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

// Verdict is what becomes of a delivery when the epoch that read it commits. The
// zero Verdict acks. Nothing is sent to the broker before that commit.
type Verdict struct {
	Action Action
	// Delay is how long a rejected delivery shall stay away.
	Delay time.Duration
	// Reason is for people: status pages, the broker's advisory.
	Reason string
}

// Ack says that the delivery is done with.
func Ack() Verdict { return Verdict{} }

// Reject asks for another delivery, not before delay.
func Reject(delay time.Duration, reason string) Verdict {
	return Verdict{Action: Rejected, Delay: delay, Reason: reason}
}

// Terminate gives the message up for good.
func Terminate(reason string) Verdict { return Verdict{Action: Terminated, Reason: reason} }

// Block keeps the delivery unsettled. It holds the prefix of its channel, and on
// a contiguous channel nothing at or above it is settled.
func Block(reason string) Verdict { return Verdict{Action: Blocked, Reason: reason} }

package core

import "time"

// Exhausted says what becomes of an element whose attempts have run out, or whose
// error is of class Permanent.
type Exhausted uint8

const (
	// ByDefault: Quarantine with a store; without one Reject where the source can
	// and the element still stands for a message; Block otherwise.
	ByDefault Exhausted = iota
	// Quarantine keeps the element in the store, counted and listed. A gate that
	// waits for the stage stays closed for its window (X16).
	Quarantine
	// Reject gives the message back to the broker, to be delivered again later.
	Reject
	// Terminate tells the broker never to deliver the message again.
	Terminate
	// Block leaves the message unsettled: later positions of a channel that settles
	// in order wait, and health is degraded.
	Block
)

// String names the policy.
func (x Exhausted) String() string {
	return [...]string{"default", "quarantine", "reject", "terminate", "block"}[x]
}

// Option changes how a transform treats errors of elements.
type Option func(*errorPolicy)

type errorPolicy struct {
	attempts  int
	delay     time.Duration
	exhausted Exhausted
}

// The defaults of a transform: five attempts over about three quarters of a second.
const (
	attemptsDefault   = 5
	retryDelayDefault = 50 * time.Millisecond
)

func settings(opts []Option) errorPolicy {
	p := errorPolicy{attempts: attemptsDefault, delay: retryDelayDefault}
	for _, o := range opts {
		o(&p)
	}
	return p
}

// Attempts bounds the tries of an element in place; the first counts. At least 1.
func Attempts(n int) Option { return func(p *errorPolicy) { p.attempts = max(1, n) } }

// RetryDelay is the pause after the first failure; it doubles with each further one.
func RetryDelay(d time.Duration) Option { return func(p *errorPolicy) { p.delay = d } }

// OnExhausted says what becomes of an element that cannot be processed.
func OnExhausted(x Exhausted) Option { return func(p *errorPolicy) { p.exhausted = x } }

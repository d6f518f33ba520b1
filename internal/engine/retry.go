package engine

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// retry yields growing delays with jitter from the driver's random source.
type retry struct {
	policy *backoff.ExponentialBackOff
	ports  Ports
}

const (
	retryFirst = 20 * time.Millisecond
	retryMax   = 5 * time.Second
)

func newRetry(p Ports) *retry {
	b := &backoff.ExponentialBackOff{
		InitialInterval: retryFirst, Multiplier: 2, MaxInterval: retryMax,
		Stop: backoff.Stop, Clock: stoppedClock{},
	}
	b.Reset()
	return &retry{policy: b, ports: p}
}

// next is the next delay, between half and one and a half of the policy's.
func (r *retry) next() time.Duration {
	d := r.policy.NextBackOff()
	return d/2 + time.Duration(r.ports.Jitter()*float64(d))
}

func (r *retry) reset() { r.policy.Reset() }

// stoppedClock keeps backoff from reading the wall clock: without a limit on the
// elapsed time it needs none.
type stoppedClock struct{}

func (stoppedClock) Now() time.Time { return time.Time{} }

// earliest is the earlier of two times, where zero means never.
func earliest(a, b time.Time) time.Time {
	switch {
	case a.IsZero():
		return b
	case b.IsZero(), a.Before(b):
		return a
	}
	return b
}

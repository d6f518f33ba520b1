package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gosluice/sluice/acks"
)

// register hands the finalizers of a committed bundle to the registry.
func (r *Region) register(rep *Report) {
	if len(rep.Finalizers) == 0 {
		return
	}
	callbacks := make([]acks.Callback, len(rep.Finalizers))
	for i, f := range rep.Finalizers {
		callbacks[i] = acks.Callback{Name: f.Name, Expiry: f.Expires, Fn: f.Run}
	}
	r.bundles++
	bundle := acks.Bundle(r.bundles)
	if err := r.registry.Register(bundle, callbacks); err != nil {
		r.kill(fmt.Errorf("finalizers of %s: %w", rep.Task.Name(), err))
		return
	}
	r.registry.Committed(bundle)
}

// stepFinalizers starts the callbacks that are due.
func (r *Region) stepFinalizers() time.Time {
	run, next := r.registry.Next(r.now)
	for _, p := range run {
		r.ports.Call(Call{
			Name: "finalizer of " + p.Name, Kind: CallFinalizer,
			Run: func(ctx context.Context) (any, error) { return nil, p.Fn(ctx) },
			Complete: func(_ any, err error) {
				r.mail.post(func() {
					r.registry.Done(p, err, r.now)
					if err != nil && !errors.Is(err, context.Canceled) {
						r.degraded("finalizer of "+p.Name, err)
					} else {
						r.healthy("finalizer of " + p.Name)
					}
				})
			},
		})
	}
	return next
}

// finalizersPending says whether the end has to wait for callbacks of committed
// bundles; a stop does not wait for those that have failed.
func (r *Region) finalizersPending() bool {
	s := r.registry.Stats()
	if r.mode == Stop {
		return s.Pending > s.Failed
	}
	return s.Pending > 0
}

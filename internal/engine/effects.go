package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/store"
)

// effectKey names a pending effect: the row it has in the store.
type effectKey struct {
	transform store.TransformID
	key       string
}

// Effect is a write that happens after the commit of its input.
type Effect struct {
	// Key is the key of its row, Lane the order it belongs to: effects of one lane
	// run one after another; "" has no order.
	Key, Lane string
	// Run is repeated with backoff until it succeeds or fails for good. It must be
	// idempotent and may outlive the task.
	Run func(ctx context.Context) (any, error)
	// Done gets the result in a step of the task that owns the effect by then.
	Done func(result any, err error)
}

// effect is an Effect with where it stands.
type effect struct {
	Effect
	id      effectKey
	owner   *Task
	running bool
	done    bool
	result  any
	err     error
	retry   *retry
	at      time.Time
}

// Start asks that e runs once the bundle being filled is committed.
func (t *Task) Start(e Effect) {
	t.Touch()
	t.effects = append(t.effects, t.newEffect(e))
}

// Adopt takes over an effect whose row was found in the store: it runs if it is
// not running; if it is done, its result is offered again.
func (t *Task) Adopt(e Effect) {
	f := t.newEffect(e)
	t.region.mail.post(func() { t.region.effects.adopt(f) })
}

// Forget says that the bundle being filled consumes the result of an effect.
func (t *Task) Forget(key string) {
	t.Touch()
	t.forgotten = append(t.forgotten, effectKey{t.Stage.Transform, key})
}

func (t *Task) newEffect(e Effect) *effect {
	return &effect{Effect: e, id: effectKey{t.Stage.Transform, e.Key}, owner: t}
}

// effects runs what commits have asked for. It belongs to the region and outlives
// aborts: a completion is offered until a commit has consumed it.
type effects struct {
	region *Region
	byKey  map[effectKey]*effect
	// order is the order they came in, so that nothing depends on map order.
	order []*effect
	lanes map[string]*effect
	// parallel bounds how many run at once.
	parallel, running int
}

func newEffects(r *Region) *effects {
	return &effects{region: r, byKey: map[effectKey]*effect{}, lanes: map[string]*effect{}, parallel: effectsParallel}
}

const effectsParallel = 16

// start takes effects of a committed epoch.
func (x *effects) start(list []*effect) {
	for _, e := range list {
		if _, ok := x.byKey[e.id]; !ok {
			x.byKey[e.id] = e
			x.order = append(x.order, e)
		}
	}
}

func (x *effects) adopt(e *effect) {
	old, ok := x.byKey[e.id]
	if !ok {
		x.start([]*effect{e})
		return
	}
	old.owner, old.Effect.Done = e.owner, e.Effect.Done
	if old.done {
		x.offer(old)
	}
}

func (x *effects) forget(keys []effectKey) {
	if len(keys) == 0 {
		return
	}
	for _, k := range keys {
		delete(x.byKey, k)
	}
	kept := x.order[:0]
	for _, e := range x.order {
		if x.byKey[e.id] == e {
			kept = append(kept, e)
		}
	}
	clear(x.order[len(kept):])
	x.order = kept
}

// step starts what may run now and returns when to look again.
func (x *effects) step(now time.Time) (next time.Time) {
	for _, e := range x.order {
		if e.done || e.running {
			continue
		}
		if e.Lane != "" && x.lanes[e.Lane] != nil && x.lanes[e.Lane] != e {
			continue
		}
		if e.at.After(now) {
			next = earliest(next, e.at)
			x.hold(e)
			continue
		}
		if x.running >= x.parallel {
			break
		}
		x.hold(e)
		x.run(e)
	}
	return next
}

// hold keeps e's lane for it until it is done, retries included.
func (x *effects) hold(e *effect) {
	if e.Lane != "" {
		x.lanes[e.Lane] = e
	}
}

func (x *effects) run(e *effect) {
	e.running = true
	x.running++
	x.region.ports.Call(Call{
		Name: fmt.Sprintf("%s: effect %x", x.region.spec.Name, e.Key), Kind: CallEffect, Run: e.Effect.Run,
		Complete: func(v any, err error) {
			x.region.mail.post(func() { x.finished(e, v, err) })
		},
	})
}

func (x *effects) finished(e *effect, v any, err error) {
	e.running = false
	x.running--
	class := fault.Of(err)
	if err != nil && class != fault.Permanent {
		if class == fault.Closed && x.region.ending() {
			return
		}
		if e.retry == nil {
			e.retry = newRetry(x.region.ports)
		}
		e.at = x.region.now.Add(e.retry.next())
		x.region.degraded(fmt.Sprintf("effect %x", e.Key), err)
		return
	}
	x.region.healthy(fmt.Sprintf("effect %x", e.Key))
	e.done, e.result, e.err = true, v, err
	if e.Lane != "" {
		delete(x.lanes, e.Lane)
	}
	x.offer(e)
}

func (x *effects) offer(e *effect) {
	done, owner := e.Effect.Done, e.owner
	owner.mail.post(func() {
		owner.Touch()
		owner.region.pulse(true)
		done(e.result, e.err)
	})
}

// pending counts the effects whose completion no commit has consumed.
func (x *effects) pending() int { return len(x.order) }

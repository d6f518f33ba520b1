package sim

import (
	"fmt"
	"time"
)

// choice is something that can happen now.
type choice struct {
	weight int
	do     func() error
}

// The weights of choices, beside those that tasks have of their own.
const (
	weightRegion = 6
	weightCall   = 3
	weightCommit = 3
	weightHalt   = 2
	weightActor  = 4
)

// spuriousRate is how many events in a thousand are steps that nothing asked for.
const spuriousRate = 8

// idleAfter is how long nothing must be due for the world to count as idle.
const idleAfter = 2 * time.Second

// happen lets one of the things happen that can, or time pass.
func (w *World) happen() error {
	if w.chance(spuriousRate) && w.process.stepAny() {
		return nil
	}
	w.choices, w.total = w.choices[:0], 0
	next := w.gather()
	if w.total == 0 {
		return w.wait(next)
	}
	n := w.rng.IntN(w.total)
	for i := range w.choices {
		if n -= w.choices[i].weight; n < 0 {
			return w.choices[i].do()
		}
	}
	return nil
}

// offer adds a choice.
func (w *World) offer(weight int, do func() error) {
	w.choices = append(w.choices, choice{weight, do})
	w.total += weight
}

// gather offers all that can happen now and returns when more can.
func (w *World) gather() (next time.Time) {
	next = w.process.gather()
	for _, a := range w.actors {
		at := a.Ready(w.now)
		switch {
		case at.IsZero():
		case at.After(w.now):
			next = earliest(next, at)
		default:
			w.offer(weightActor, func() error {
				w.note("actor", a.Name(), a.Act(w.now))
				return nil
			})
		}
	}
	for i, z := range w.zombies {
		if z.at.After(w.now) {
			next = earliest(next, z.at)
			continue
		}
		w.offer(weightCall, func() error {
			w.zombies = append(w.zombies[:i], w.zombies[i+1:]...)
			w.note("zombie", z.c.Name, "")
			_, _ = z.invoke()
			return nil
		})
	}
	return next
}

// wait lets time pass until something is due.
func (w *World) wait(next time.Time) error {
	if w.idle != nil && (next.IsZero() || next.Sub(w.now) > idleAfter) && w.idle() {
		return nil
	}
	if next.IsZero() {
		return fmt.Errorf("stuck: nothing can happen any more")
	}
	w.now = next
	w.note("time", "", "")
	return nil
}

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

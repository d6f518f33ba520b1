package acks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// calls notes which callbacks ran, in order.
type calls []string

// callback appends name to the calls and returns what fails says.
func (c *calls) callback(name string, expiry time.Time, fails ...error) Callback {
	n := 0
	return Callback{Name: name, Expiry: expiry, Fn: func(context.Context) error {
		*c = append(*c, name)
		if n++; n <= len(fails) {
			return fails[n-1]
		}
		return nil
	}}
}

func (c *calls) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(*c, want) {
		t.Fatalf("called %q, not %q", []string(*c), want)
	}
	*c = nil
}

func mustRegister(t *testing.T, r *Registry, b Bundle, cbs ...Callback) {
	t.Helper()
	if err := r.Register(b, cbs); err != nil {
		t.Fatal(err)
	}
}

// runAll calls what is due at now, until nothing is.
func runAll(r *Registry, now time.Time) (wake time.Time) {
	for {
		run, next := r.Next(now)
		if len(run) == 0 {
			return next
		}
		for _, p := range run {
			r.Done(p, p.Call(context.Background()), now)
		}
	}
}

var (
	hour    = noon.Add(time.Hour)
	errBusy = errors.New("busy")
)

// F-01: a bundle with two callbacks, finalized.
func TestFinalizeCallsAll(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("a", hour), c.callback("b", hour))
	if err := r.Finalize(t.Context(), 1, noon); err != nil {
		t.Fatal(err)
	}
	c.expect(t, "a", "b")
	if s := r.Stats(); s.Pending != 0 || s.Done != 2 {
		t.Fatalf("%+v", s)
	}
}

// F-02, F10: an unknown bundle is no error, nor is a finished one.
func TestFinalizeUnknownBundle(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	if err := r.Finalize(t.Context(), 1, noon); err != nil {
		t.Fatal(err)
	}
	r.Committed(1)
	r.Discard(1)
	mustRegister(t, r, 1, c.callback("a", hour))
	_ = r.Finalize(t.Context(), 1, noon)
	if err := r.Finalize(t.Context(), 1, noon); err != nil {
		t.Fatal(err)
	}
	c.expect(t, "a")
}

// F-03, F7: each is called once per attempt, one error carries both, and they are
// kept and retried until they expire (X5).
func TestFinalizeTriesAllAndKeepsFailures(t *testing.T) {
	var c calls
	first, second := errors.New("first"), errors.New("second")
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1,
		c.callback("a", hour, first, first), c.callback("b", hour, second, second, second), c.callback("c", hour))
	err := r.Finalize(t.Context(), 1, noon)
	if !errors.Is(err, first) || !errors.Is(err, second) || !strings.Contains(err.Error(), `"b" of bundle 1`) {
		t.Fatal(err)
	}
	c.expect(t, "a", "b", "c")
	if err = r.Finalize(t.Context(), 1, noon); !errors.Is(err, first) || !errors.Is(err, second) {
		t.Fatal(err)
	}
	c.expect(t, "a", "b")
	if err = r.Finalize(t.Context(), 1, noon); errors.Is(err, first) || !errors.Is(err, second) {
		t.Fatal(err)
	}
	c.expect(t, "a", "b")
	if err = r.Finalize(t.Context(), 1, hour); err != nil {
		t.Fatal(err)
	}
	c.expect(t)
	if s := r.Stats(); s.Pending != 0 || s.Failed != 0 || s.Done != 2 || s.Expired != 1 {
		t.Fatalf("%+v", s)
	}
}

// F-04, F9, X6: expiry is wall clock and per callback; expired ones leave the
// queue, never called.
func TestExpiry(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("test", hour))
	mustRegister(t, r, 2, c.callback("test2", noon.Add(100*time.Millisecond)))
	mustRegister(t, r, 3, c.callback("test3", noon.Add(time.Millisecond)))
	_, wake := r.Next(noon)
	if !wake.Equal(noon.Add(time.Millisecond)) {
		t.Fatal(wake)
	}
	later := noon.Add(100 * time.Millisecond)
	r.Next(later)
	if s := r.Stats(); s.Pending != 1 || s.Expired != 0 { // not committed: nothing is left undone yet
		t.Fatalf("%+v", s)
	}
	for _, b := range []Bundle{2, 3, 1, 1} {
		if err := r.Finalize(t.Context(), b, later); err != nil {
			t.Fatal(err)
		}
	}
	c.expect(t, "test")
	if s := r.Stats(); s.Pending != 0 || s.Expired != 2 || s.Done != 1 {
		t.Fatalf("%+v", s)
	}
}

// F-05: a bundle is registered once.
func TestRegisterTwice(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("a", hour))
	if err := r.Register(1, []Callback{c.callback("b", hour)}); !errors.Is(err, ErrRegistered) {
		t.Fatal(err)
	}
	if err := r.Register(2, []Callback{{Name: "none", Expiry: hour}}); !errors.Is(err, ErrNoFunc) {
		t.Fatal(err)
	}
	r.Committed(1)
	if err := r.Register(1, []Callback{c.callback("b", hour)}); !errors.Is(err, ErrRegistered) {
		t.Fatal(err)
	}
	runAll(r, noon)
	c.expect(t, "a")
}

// F-06: the list of a bundle in progress.
func TestCallbacksList(t *testing.T) {
	var list Callbacks
	var c calls
	if n := len(list.Take()); n != 0 {
		t.Fatal(n)
	}
	list.Add(c.callback("a", hour))
	if n := len(list.Take()); n != 1 {
		t.Fatal(n)
	}
	if n := len(list.Take()); n != 0 {
		t.Fatal(n)
	}
}

// F-13, G15: an expiry of zero or before the commit: not called, no error, counted.
func TestExpiredAtCommit(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("zero", time.Time{}), c.callback("past", noon), c.callback("in time", noon.Add(1)))
	r.Committed(1)
	runAll(r, noon)
	c.expect(t, "in time")
	if s := r.Stats(); s.Pending != 0 || s.Expired != 2 || s.Done != 1 {
		t.Fatalf("%+v", s)
	}
}

// F-14, F3, F4: what an attempt registered that was thrown away never runs.
func TestDiscard(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("cb1", hour))
	r.Discard(1)
	mustRegister(t, r, 1, c.callback("cb2", hour))
	r.Committed(1)
	r.Discard(1) // too late: it is durable
	runAll(r, noon)
	c.expect(t, "cb2")
}

// F2, F14: callbacks of any bundle wait for its commit, however many bundles have
// finished since the last.
func TestNothingRunsBeforeTheCommit(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	for b := Bundle(1); b <= 3; b++ {
		mustRegister(t, r, b, c.callback(fmt.Sprint("bundle ", b), hour))
	}
	if wake := runAll(r, noon); !wake.Equal(hour) {
		t.Fatal(wake)
	}
	c.expect(t)
	r.Committed(1)
	r.Committed(2)
	runAll(r, noon)
	c.expect(t, "bundle 1", "bundle 2")
}

// F1, F13: what several transforms of one bundle registered, in StartBundle,
// ProcessElement, FinishBundle or a timer (X12), is one list.
func TestTransformsShareABundle(t *testing.T) {
	var c calls
	var head, tail Callbacks
	r := NewRegistry(RegistryOptions{})
	head.Add(c.callback("head", hour))
	tail.Add(c.callback("tail", hour))
	mustRegister(t, r, 1, append(head.Take(), tail.Take()...)...)
	r.Committed(1)
	runAll(r, noon)
	c.expect(t, "head", "tail")
}

// F11: within a bundle in the order of registration, one at a time, however many
// goroutines the caller has; bundles do not wait for one another.
func TestOrderWithinABundle(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("1a", hour, errBusy), c.callback("1b", hour), c.callback("1c", hour))
	mustRegister(t, r, 2, c.callback("2a", hour))
	r.Committed(1)
	r.Committed(2)
	run, _ := r.Next(noon)
	if len(run) != 2 || run[0].Name != "1a" || run[1].Name != "2a" {
		t.Fatal(run)
	}
	if more, _ := r.Next(noon); len(more) != 0 {
		t.Fatal(more)
	}
	r.Done(run[0], errBusy, noon)
	if run, _ = r.Next(noon); len(run) != 1 || run[0].Name != "1b" {
		t.Fatal(run)
	}
}

// X5, F8: a failed callback is retried with growing delays, at most one success.
func TestRetries(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{
		RetryFirst: time.Second, RetryLongest: 4 * time.Second, Jitter: func() float64 { return 0.5 },
	})
	mustRegister(t, r, 1, c.callback("a", noon.Add(13*time.Second), slices.Repeat([]error{errBusy}, 9)...))
	r.Committed(1)
	var at []time.Duration
	for now := noon; r.Stats().Pending > 0; {
		now = runAll(r, now)
		at = append(at, now.Sub(noon))
	}
	want := []time.Duration{750 * time.Millisecond, 2250 * time.Millisecond, 5250 * time.Millisecond, 8250 * time.Millisecond, 11250 * time.Millisecond, 13 * time.Second, noon.Sub(noon)}
	if !slices.Equal(at[:6], want[:6]) {
		t.Fatal(at)
	}
	c.expect(t, "a", "a", "a", "a", "a", "a")
	if s := r.Stats(); s.Expired != 1 || s.Done != 0 || s.Failed != 0 {
		t.Fatalf("%+v", s)
	}
}

// G15: what fails is visible, the oldest by name; it holds up nothing newer (F5, F6).
func TestFailingCallbacksAreVisibleAndInNobodysWay(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{Running: 4})
	for b := Bundle(1); b <= 20; b++ {
		mustRegister(t, r, b, c.callback(fmt.Sprint("bad", b), hour, slices.Repeat([]error{errBusy}, 99)...))
		r.Committed(b)
		runAll(r, noon.Add(time.Duration(b)))
	}
	s := r.Stats()
	if s.Failed != 20 || s.OldestFailing != "bad1" || !s.FailingSince.Equal(noon.Add(1)) || !errors.Is(s.LastError, errBusy) {
		t.Fatalf("%+v", s)
	}
	c = nil
	// All of them hang when they are retried: half of the calls stay free.
	later := noon.Add(time.Second)
	hanging, _ := r.Next(later)
	if len(hanging) != 2 {
		t.Fatal(len(hanging))
	}
	mustRegister(t, r, 100, c.callback("good", hour))
	r.Committed(100)
	runAll(r, later)
	c.expect(t, "good")
	r.Done(hanging[0], nil, later)
	if s := r.Stats(); s.OldestFailing != "bad2" || s.Failed != 19 {
		t.Fatalf("%+v", s)
	}
}

// F12, F8: the outcome of a call that expired meanwhile still counts, and twice is
// once.
func TestDoneAfterExpiry(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("a", hour), c.callback("b", hour))
	mustRegister(t, r, 2, c.callback("c", hour))
	r.Committed(1)
	r.Committed(2)
	run, _ := r.Next(noon)
	r.Next(hour) // both are running
	r.Done(run[0], nil, hour)
	r.Done(run[0], nil, hour)
	r.Done(run[1], errBusy, hour)
	r.Done(Pending{}, nil, hour)
	if s := r.Stats(); s.Done != 1 || s.Expired != 2 || s.Pending != 0 {
		t.Fatalf("%+v", s)
	}
}

// A clock that goes back a little does not revive what has expired.
func TestDoneWithAnEarlierClock(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	mustRegister(t, r, 1, c.callback("a", hour))
	r.Committed(1)
	run, _ := r.Next(noon)
	r.Next(hour)
	r.Done(run[0], errBusy, hour.Add(-1))
	runAll(r, hour.Add(time.Hour))
	if s := r.Stats(); s.Expired != 1 || s.Pending != 0 || len(c) != 0 {
		t.Fatalf("%+v, called %q", s, c)
	}
}

// Next and Finalize side by side still call one callback of a bundle at a time.
func TestNextDuringFinalize(t *testing.T) {
	r := NewRegistry(RegistryOptions{})
	var c calls
	look := Callback{Name: "look", Expiry: hour, Fn: func(context.Context) error {
		if run, _ := r.Next(noon.Add(time.Minute)); len(run) > 0 {
			t.Errorf("%s as well", run[0].Name)
		}
		return nil
	}}
	mustRegister(t, r, 1, c.callback("a", hour, errBusy), look)
	r.Committed(1)
	if err := r.Finalize(t.Context(), 1, noon); !errors.Is(err, errBusy) {
		t.Fatal(err)
	}
	runAll(r, noon.Add(time.Minute))
	c.expect(t, "a", "a")
}

// A panic is an error with its stack; a cancelled Finalize calls nothing more and
// loses nothing.
func TestFinalizePanicAndCancellation(t *testing.T) {
	var c calls
	r := NewRegistry(RegistryOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	bad := Callback{Name: "bad", Expiry: hour, Fn: func(context.Context) error { cancel(); panic("ouch") }}
	mustRegister(t, r, 1, bad, c.callback("b", hour))
	err := r.Finalize(ctx, 1, noon)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "ouch") || !strings.Contains(err.Error(), "registry_test.go") {
		t.Fatal(err)
	}
	c.expect(t)
	if s := r.Stats(); s.Pending != 2 || s.Failed != 1 {
		t.Fatalf("%+v", s)
	}
	run, _ := r.Next(noon)
	if len(run) != 1 || run[0].Name != "b" || run[0].Attempt != 1 {
		t.Fatal(run)
	}
}

// Under any interleaving a callback runs only while its bundle is committed, at
// most once with success, never after its expiry, and is accounted for at the end
// (F2, F4, F8, F9, F11, G15).
func TestRegistryModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			bundle    Bundle
			n         int
			expiry    time.Time
			done      bool
			discarded bool
		}
		random := func(name string) int { return rapid.IntRange(0, 5).Draw(t, name) }
		r := NewRegistry(RegistryOptions{Running: 3, Jitter: func() float64 { return 0.3 }})
		now := noon
		committed := map[Bundle]bool{}
		var entries []*entry
		var hand []Pending
		owner := map[string]*entry{}
		var bundles Bundle
		t.Repeat(map[string]func(*rapid.T){
			"register": func(t *rapid.T) {
				bundles++
				var cbs []Callback
				for n := range random("callbacks") {
					e := &entry{bundle: bundles, n: n, expiry: now.Add(time.Duration(random("seconds")) * time.Second)}
					name := fmt.Sprint(bundles, "/", n)
					owner[name] = e
					entries = append(entries, e)
					cbs = append(cbs, Callback{Name: name, Expiry: e.expiry, Fn: func(context.Context) error { return nil }})
				}
				if err := r.Register(bundles, cbs); err != nil {
					t.Fatal(err)
				}
			},
			"commit": func(t *rapid.T) {
				b := Bundle(rapid.Uint64Range(0, uint64(bundles)).Draw(t, "bundle"))
				r.Committed(b)
				committed[b] = true
			},
			"discard": func(t *rapid.T) {
				b := Bundle(rapid.Uint64Range(0, uint64(bundles)).Draw(t, "bundle"))
				r.Discard(b)
				for _, e := range entries {
					e.discarded = e.discarded || e.bundle == b && !committed[b]
				}
			},
			"next": func(t *rapid.T) {
				run, wake := r.Next(now)
				if !wake.IsZero() && !wake.After(now) {
					t.Fatalf("wants to be woken at %v, it is %v", wake, now)
				}
				hand = append(hand, run...)
				if len(hand) > 3 {
					t.Fatalf("%d calls in hand", len(hand))
				}
				busy := map[Bundle]int{}
				for _, p := range hand {
					if busy[p.Bundle]++; busy[p.Bundle] > 1 {
						t.Fatalf("two calls of bundle %d", p.Bundle)
					}
				}
				for _, p := range run {
					if e := owner[p.Name]; !committed[p.Bundle] || e.done || e.discarded || !now.Before(e.expiry) {
						t.Fatalf("calls %+v at %v", *e, now)
					}
				}
			},
			"done": func(t *rapid.T) {
				if len(hand) == 0 {
					t.Skip("nothing in hand")
				}
				i := rapid.IntRange(0, len(hand)-1).Draw(t, "which")
				var err error
				if rapid.Bool().Draw(t, "fails") {
					err = errBusy
				}
				owner[hand[i].Name].done = err == nil
				r.Done(hand[i], err, now)
				hand = slices.Delete(hand, i, i+1)
			},
			"time": func(t *rapid.T) { now = now.Add(time.Duration(random("tenths")) * time.Second / 10) },
		})
		for _, p := range hand {
			r.Done(p, nil, now)
			owner[p.Name].done = true
		}
		for b := range bundles {
			committed[b+1] = true
			r.Committed(b + 1)
		}
		runAll(r, now.Add(time.Hour))
		var want RegistryStats
		for _, e := range entries {
			switch {
			case e.done:
				want.Done++
			case !e.discarded:
				want.Expired++
			}
		}
		if got := r.Stats(); got.Done != want.Done || got.Expired != want.Expired || got.Pending != 0 || got.Failed != 0 {
			t.Fatalf("%+v, not %+v", got, want)
		}
		s := &r.mu.shelf
		if n := len(s.bundles) + len(s.expiries) + len(s.retries) + s.first.Len() + s.again.Len() + s.failing.Len() + s.running + s.runningAgain; n != 0 {
			t.Fatalf("%d things left behind", n)
		}
	})
}

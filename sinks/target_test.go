package sinks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// batch is one batch that a target has: what its result is.
type batch struct {
	Where   string // destination@window start
	Records string // sorted, joined by commas
}

// target is a place to write strings to, in both ways, that can be told to fail.
type target struct {
	mu sync.Mutex
	// All below is guarded by mu.
	staged    map[string]batch
	published map[string]batch // by effect ID
	order     []batch          // as they became visible
	fail      func(what string, b batch) error
	recovered int
	n         int
}

func newTarget() *target {
	return &target{staged: map[string]batch{}, published: map[string]batch{}}
}

func (t *target) failing(what string, b batch) error {
	if t.fail == nil {
		return nil
	}
	return t.fail(what, b)
}

// failWith makes calls of that kind fail with err, or succeed again with nil.
func (t *target) failWith(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fail = func(w string, _ batch) error {
		if w == what {
			return err
		}
		return nil
	}
}

// read takes the records of b; those that begin with "bad" fail for good.
func read(b sinks.Batch[string]) (batch, []sinks.FailedRecord, error) {
	var good []string
	var failed []sinks.FailedRecord
	n := 0
	for r, err := range b.All {
		if err != nil {
			return batch{}, nil, err
		}
		n++
		if strings.HasPrefix(r.Value, "bad") {
			failed = append(failed, sinks.FailedRecord{ID: r.ID, Err: errors.New("it is bad")})
			continue
		}
		good = append(good, r.Value)
	}
	if n != b.Len {
		return batch{}, nil, fault.Errorf(fault.Bug, "batch of %d yields %d", b.Len, n)
	}
	slices.Sort(good)
	return batch{fmt.Sprintf("%s@%d", b.Destination, int64(b.Window.Start)/1000), strings.Join(good, ",")}, failed, nil
}

func (t *target) Write(_ context.Context, b sinks.Batch[string]) (sinks.Outcome[batch], error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, failed, err := read(b)
	if err == nil {
		err = t.failing("write", w)
	}
	if err != nil {
		return sinks.Outcome[batch]{}, err
	}
	t.order = append(t.order, w)
	return sinks.Outcome[batch]{Results: []batch{w}, Failed: failed}, nil
}

func (t *target) Stage(_ context.Context, b sinks.Batch[string]) (sinks.Staged, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, failed, err := read(b)
	if err == nil {
		err = t.failing("stage", w)
	}
	if err != nil {
		return sinks.Staged{}, err
	}
	t.n++
	key := fmt.Sprint("temporary ", t.n)
	t.staged[key] = w
	token, err := json.Marshal([]string{key, w.Where, w.Records})
	return sinks.Staged{Token: token, Failed: failed}, err
}

func (t *target) Publish(_ context.Context, id sinks.EffectID, token sinks.Token) (sinks.Outcome[batch], error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s []string
	if err := json.Unmarshal(token, &s); err != nil {
		return sinks.Outcome[batch]{}, fault.As(fault.Permanent, err)
	}
	w := batch{s[1], s[2]}
	if err := t.failing("publish", w); err != nil {
		return sinks.Outcome[batch]{}, err
	}
	if old, ok := t.published[id.String()]; ok && old != w {
		return sinks.Outcome[batch]{}, fault.Errorf(fault.Bug, "%s is %v, now %v", id, old, w)
	} else if !ok {
		t.published[id.String()] = w
		t.order = append(t.order, w)
	}
	delete(t.staged, s[0])
	return sinks.Outcome[batch]{Results: []batch{w}}, nil
}

func (t *target) Discard(_ context.Context, token sinks.Token) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s []string
	_ = json.Unmarshal(token, &s)
	delete(t.staged, s[0])
	return nil
}

func (t *target) Recover(_ context.Context, pending []sinks.Token) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recovered++
	return nil
}

// visible is what can be seen, in the order it appeared.
func (t *target) visible() []batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.order)
}

// left is what was staged and is neither published nor discarded.
func (t *target) left() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.staged)
}

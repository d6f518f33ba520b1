package connectortest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/sinks"
)

// PublisherHarness makes targets to publish to.
type PublisherHarness struct {
	// New makes an empty target for one check; t.Cleanup ends it.
	New func(t *testing.T) Target
	// Skip names checks that do not apply, and why.
	Skip map[string]string
}

// Target is where a publisher publishes.
type Target struct {
	Publisher sinks.Publisher
	// Stored lists the payloads that the broker has, in its order. Required.
	Stored func() []string
	// Stall has the broker answer nothing until Resume. Nil: it cannot.
	Stall, Resume func()
}

// RunPublisher runs every check of publishers as a subtest.
func RunPublisher(t *testing.T, h PublisherHarness) {
	for name, run := range map[string]func(*testing.T, Target){
		"results by ID":        checkPublishResults,
		"order":                checkPublishOrder,
		"repeats":              checkPublishRepeats,
		"nothing after return": checkNothingAfterReturn,
		"cancel while blocked": checkPublishCancel,
	} {
		t.Run(name, func(t *testing.T) {
			if why := h.Skip[name]; why != "" {
				t.Skip(why)
			}
			run(t, h.New(t))
		})
	}
}

// outMessages are n messages with payloads "0" to "n-1".
func outMessages(n int) []sinks.OutMessage {
	list := make([]sinks.OutMessage, n)
	for i := range list {
		list[i] = sinks.OutMessage{ID: fmt.Sprintf("effect-%d", i), Data: fmt.Append(nil, i), Attributes: map[string]string{sinks.AttributeID: fmt.Sprintf("effect-%d", i)}}
	}
	return list
}

// publish publishes all; none may fail.
func publish(t *testing.T, target Target, msgs []sinks.OutMessage) []sinks.Published {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), defaultPatience)
	defer cancel()
	done, failures := target.Publisher.Publish(ctx, msgs)
	for _, f := range failures {
		t.Fatalf("%s: %v", f.ID, f.Err)
	}
	if len(done) != len(msgs) {
		t.Fatalf("%d results of %d", len(done), len(msgs))
	}
	return done
}

func checkPublishResults(t *testing.T, target Target) {
	msgs := outMessages(50)
	ids := map[string]bool{}
	for _, p := range publish(t, target, msgs) {
		if p.MessageID == "" || p.Duplicate || ids[p.ID] {
			t.Errorf("%+v", p)
		}
		ids[p.ID] = true
	}
	for _, m := range msgs {
		if !ids[m.ID] {
			t.Errorf("no result for %s", m.ID)
		}
	}
	if done, failures := target.Publisher.Publish(t.Context(), nil); len(done)+len(failures) > 0 {
		t.Errorf("of nothing: %v, %v", done, failures)
	}
}

// The messages of a call, and of calls that follow one another, are stored in order.
func checkPublishOrder(t *testing.T, target Target) {
	msgs := outMessages(200)
	for i := range msgs {
		msgs[i].Key = "one key"
	}
	publish(t, target, msgs[:120])
	publish(t, target, msgs[120:])
	if got := target.Stored(); !slices.Equal(got, numbers(0, 199)) {
		t.Errorf("stored %v", got)
	}
}

// A repeated ID is dropped where the target says so, and reported.
func checkPublishRepeats(t *testing.T, target Target) {
	msgs := outMessages(10)
	publish(t, target, msgs)
	again := publish(t, target, msgs)
	want := 10
	if !target.Publisher.Deduplicates() {
		want = 20
	}
	if got := target.Stored(); len(got) != want {
		t.Errorf("%d stored, want %d", len(got), want)
	}
	for _, p := range again {
		if p.Duplicate != target.Publisher.Deduplicates() {
			t.Errorf("%+v", p)
		}
	}
}

// A call whose context is over sends nothing.
func checkNothingAfterReturn(t *testing.T, target Target) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	done, failures := target.Publisher.Publish(ctx, outMessages(5))
	if len(done) != 0 || len(failures) != 5 {
		t.Errorf("%d done, %d failures", len(done), len(failures))
	}
	time.Sleep(100 * time.Millisecond)
	if got := target.Stored(); len(got) != 0 {
		t.Errorf("stored %v", got)
	}
}

// G12: a call that waits for the broker gives up with its context. What it had sent
// may be stored, once; with IDs that the target knows, a retry adds nothing.
func checkPublishCancel(t *testing.T, target Target) {
	if target.Stall == nil {
		t.Skip("the harness has no Stall")
	}
	msgs := outMessages(5)
	target.Stall()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	done, failures := target.Publisher.Publish(ctx, msgs)
	target.Resume()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("gave up after %v", took)
	}
	if len(done) != 0 || len(failures) != 5 {
		t.Errorf("%d done, %d failures", len(done), len(failures))
	}
	for end := time.Now().Add(defaultPatience); len(failures) > 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, failures = target.Publisher.Publish(t.Context(), msgs)
	}
	time.Sleep(100 * time.Millisecond)
	stored := target.Stored()
	for _, m := range msgs {
		n := 0
		for _, s := range stored {
			if s == string(m.Data) {
				n++
			}
		}
		if n < 1 || n > 1 && target.Publisher.Deduplicates() {
			t.Errorf("%s is stored %d times", m.ID, n)
		}
	}
}

package pubsubio

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gosluice/sluice/sinks"
)

var _ sinks.Publisher = (*Publisher)(nil)

func TestPublishConfirmsByID(t *testing.T) {
	s := newService(t)
	mine := map[string]string{"name": "west.jsonl"}
	msgs := []sinks.OutMessage{
		{ID: "a", Data: []byte("1"), Attributes: mine},
		{ID: "b", Data: nil}, // its ID is attribute enough
		{ID: "c", Data: []byte("3"), Key: "k", Subject: "not used"},
	}
	published, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), msgs)
	wantFailures(t, failures)
	if got := publishedIDs(published); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("published %v", got)
	}
	for i, p := range published {
		m := s.Message(p.MessageID)
		if m == nil || string(m.Data) != string(msgs[i].Data) || m.OrderingKey != msgs[i].Key || m.Attributes[sinks.AttributeID] != p.ID || p.Duplicate {
			t.Errorf("%+v arrived as %+v", p, m)
		}
	}
	if got := s.Message(published[0].MessageID).Attributes["name"]; got != "west.jsonl" {
		t.Errorf("attribute name is %q", got)
	}
	if !maps.Equal(mine, map[string]string{"name": "west.jsonl"}) {
		t.Errorf("the caller's attributes were changed: %v", mine)
	}
}

func TestEmptyCall(t *testing.T) {
	s := newService(t)
	published, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), nil)
	if len(published)+len(failures)+len(s.requestSizes()) != 0 {
		t.Errorf("%v, %v, %v", published, failures, s.requestSizes())
	}
}

// Messages without a key go out in the order of the call, in full requests.
func TestRequestsAreFullAndInOrder(t *testing.T) {
	s := newService(t)
	msgs := numbered(2500, "m", "")
	published, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), msgs)
	wantFailures(t, failures)
	if !slices.Equal(publishedIDs(published), idsOf(msgs)) || !slices.Equal(s.arrived(), idsOf(msgs)) {
		t.Error("not every message arrived in order")
	}
	if got := s.requestSizes(); !slices.Equal(got, []int{1000, 1000, 500}) {
		t.Errorf("requests of %v", got)
	}
}

func TestRequestsAreLimitedInBytes(t *testing.T) {
	s := newService(t)
	msgs := numbered(4, "m", "")
	for i := range msgs {
		msgs[i].Data = make([]byte, 400)
	}
	msgs[2].Data = make([]byte, 4000) // alone, over the limit of a batch
	_, failures := s.publisher(t, PublisherConfig{BatchBytes: 1000}).Publish(t.Context(), msgs)
	wantFailures(t, failures)
	if got := s.requestSizes(); !slices.Equal(got, []int{2, 1, 1}) {
		t.Errorf("requests of %v", got)
	}
}

// Each request holds one ordering key, as the service demands.
func TestOneKeyPerRequest(t *testing.T) {
	s := newService(t)
	var msgs []sinks.OutMessage
	for i := range 60 {
		key := string(rune('a' + i%20))
		msgs = append(msgs, sinks.OutMessage{ID: key + string(rune('0'+i/20)), Data: []byte("x"), Key: key})
	}
	published, failures := s.publisher(t, PublisherConfig{BatchMessages: 2, Lanes: 4}).Publish(t.Context(), msgs)
	wantFailures(t, failures)
	if !slices.Equal(publishedIDs(published), idsOf(msgs)) {
		t.Errorf("published %v", publishedIDs(published))
	}
	for _, r := range s.requests {
		for _, m := range r.Messages {
			if m.OrderingKey != r.Messages[0].OrderingKey {
				t.Errorf("keys %q and %q in one request", m.OrderingKey, r.Messages[0].OrderingKey)
			}
		}
	}
	wantOrderPerKey(t, s, msgs)
}

// wantOrderPerKey: of each key the server has the messages in the order of msgs,
// repeats not counted.
func wantOrderPerKey(t errorer, s *service, msgs []sinks.OutMessage) {
	want, got := map[string][]string{}, map[string][]string{}
	for _, m := range msgs {
		want[m.Key] = append(want[m.Key], m.ID)
	}
	for _, m := range s.Messages() {
		id := m.Attributes[sinks.AttributeID]
		if !slices.Contains(got[m.OrderingKey], id) {
			got[m.OrderingKey] = append(got[m.OrderingKey], id)
		}
	}
	for key := range want {
		if !slices.Equal(got[key], want[key]) {
			t.Errorf("key %q: the server has %v, want %v", key, got[key], want[key])
		}
	}
}

type errorer interface{ Errorf(string, ...any) }

// A small call is sent at once: the client's own publisher would wait 10 ms.
func TestSmallCallIsNotDelayed(t *testing.T) {
	s := newService(t)
	p := s.publisher(t, PublisherConfig{})
	best := time.Hour
	for range 20 {
		start := time.Now()
		_, failures := p.Publish(t.Context(), numbered(1, "m", ""))
		wantFailures(t, failures)
		best = min(best, time.Since(start))
	}
	if best > 8*time.Millisecond {
		t.Errorf("the fastest of 20 calls took %v", best)
	}
}

func TestPublishFromManyGoroutines(t *testing.T) {
	s := newService(t)
	p := s.publisher(t, PublisherConfig{BatchMessages: 3, Lanes: 2})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			prefix := string(rune('a' + g))
			msgs := append(numbered(10, prefix, ""), numbered(10, prefix+"k", prefix)...)
			if published, failures := p.Publish(t.Context(), msgs); len(published) != 20 || len(failures) > 0 {
				t.Errorf("%d published, failures %v", len(published), failures)
			}
		})
	}
	wg.Wait()
	ids := s.arrived()
	slices.Sort(ids)
	if len(ids) != 160 || len(slices.Compact(ids)) != 160 {
		t.Errorf("%d messages arrived", len(ids))
	}
}

func TestNewPublisherRefuses(t *testing.T) {
	s := newService(t)
	for _, topic := range []string{"", "a/b", "projects/p/topics/", "projects/p/subscriptions/s", "projects//topics/t"} {
		if _, err := NewPublisher(s.client, topic, PublisherConfig{}); err == nil || !strings.Contains(err.Error(), "pubsub: ") {
			t.Errorf("topic %q: %v", topic, err)
		}
	}
	if _, err := NewPublisher(nil, "t", PublisherConfig{}); err == nil {
		t.Error("no client: no error")
	}
	_, err := NewPublisher(s.client, "t", PublisherConfig{BatchMessages: 1001, BatchBytes: -1, Lanes: -1, Timeout: -1})
	for _, field := range []string{"BatchMessages", "BatchBytes", "Lanes", "Timeout", topicOf("t")} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%v does not name %s", err, field)
		}
	}
}

func topicOf(id string) string { return "projects/p/topics/" + id }

func TestTopicByFullName(t *testing.T) {
	s := newService(t)
	p, err := NewPublisher(s.client, topicName, PublisherConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	s := newService(t)
	p := s.publisher(t, PublisherConfig{})
	p.Close()
	p.Close()
	published, failures := p.Publish(context.Background(), numbered(2, "m", ""))
	wantFailures(t, failures, "m0 closed", "m1 closed")
	if len(published)+len(s.requestSizes()) != 0 {
		t.Errorf("published %v", published)
	}
	// The client is not ours: it goes on working.
	_, failures = s.publisher(t, PublisherConfig{}).Publish(t.Context(), numbered(1, "n", ""))
	wantFailures(t, failures)
}

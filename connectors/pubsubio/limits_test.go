package pubsubio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gosluice/sluice/sinks"
)

// A message over a limit fails alone and is not sent; its neighbours are.
func TestMessageOverALimit(t *testing.T) {
	many := map[string]string{}
	for i := range attributesMax + 1 {
		many[fmt.Sprint("a", i)] = "v"
	}
	for name, bad := range map[string]sinks.OutMessage{
		"data":              {Data: make([]byte, requestBytesMax)},
		"attributes":        {Attributes: many},
		"attribute key":     {Attributes: map[string]string{strings.Repeat("k", 257): "v"}},
		"empty key":         {Attributes: map[string]string{"": "v"}},
		"reserved key":      {Attributes: map[string]string{"googclient": "v"}},
		"attribute value":   {Attributes: map[string]string{"k": strings.Repeat("v", 1025)}},
		"attribute text":    {Attributes: map[string]string{"k": "\xff"}},
		"ordering key":      {Key: strings.Repeat("k", 1025)},
		"ordering key text": {Key: "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			bad.ID = "bad"
			msgs := slices.Insert(numbered(4, "m", bad.Key), 2, bad)
			for i := range msgs {
				switch {
				case bad.Key == "":
					msgs[i].Key = "k"
				case i != 2:
					msgs[i].Key = ""
				}
			}
			published, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), msgs)
			wantFailures(t, failures, "bad permanent")
			want := []string{"m0", "m1", "m2", "m3"}
			if !slices.Equal(publishedIDs(published), want) || !slices.Equal(s.arrived(), want) {
				t.Errorf("published %v, arrived %v", publishedIDs(published), s.arrived())
			}
		})
	}
}

func TestEmptyMessageWithoutID(t *testing.T) {
	s := newService(t)
	_, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), []sinks.OutMessage{{}})
	wantFailures(t, failures, " permanent")
}

// The size of a request is counted as it is on the wire, so that one at the limit
// is sent and one byte more is not. (The fake itself takes 4 MiB at most.)
func TestLargestMessage(t *testing.T) {
	s := newService(t)
	s.before = func(int, *pb.PublishRequest) error { return status.Error(codes.Unavailable, "sent") }
	p := s.publisher(t, PublisherConfig{})
	m := sinks.OutMessage{ID: "m", Data: make([]byte, requestBytesMax-100)}
	it := newItem(topicName, m)
	room := requestBytesMax - requestOverhead(topicName) - it.bytes
	m.Data = make([]byte, len(m.Data)+room)
	_, failures := p.Publish(t.Context(), []sinks.OutMessage{m})
	wantFailures(t, failures, "m transient")
	if got := proto.Size(s.requests[0]); got != requestBytesMax {
		t.Errorf("the request has %d bytes", got)
	}
	m.Data = append(m.Data, 0)
	_, failures = p.Publish(t.Context(), []sinks.OutMessage{m})
	wantFailures(t, failures, "m permanent")
	if n := len(s.requestSizes()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// The service calls a request invalid for one message (a schema, say): the others
// arrive, in order, each once; the culprits are named.
func TestInvalidMessageStandsAlone(t *testing.T) {
	for _, key := range []string{"", "k"} {
		s := newService(t)
		s.refuse = func(r *pb.PublishRequest) error {
			for _, m := range r.Messages {
				if strings.HasSuffix(string(m.Data), "m33") || strings.HasSuffix(string(m.Data), "m71") {
					return status.Error(codes.InvalidArgument, "does not match the schema")
				}
			}
			return nil
		}
		msgs := numbered(100, "m", key)
		_, failures := s.publisher(t, PublisherConfig{}).Publish(t.Context(), msgs)
		wantFailures(t, failures, "m33 permanent", "m71 permanent")
		want := idsOf(slices.Delete(slices.Delete(msgs, 71, 72), 33, 34))
		if !slices.Equal(s.arrived(), want) {
			t.Errorf("key %q: arrived %v", key, s.arrived())
		}
		if n := len(s.requestSizes()); n > 30 {
			t.Errorf("key %q: %d requests to find two of 100", key, n)
		}
	}
}

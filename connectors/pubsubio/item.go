package pubsubio

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/sinks"
)

// The service's limits of one message (Pub/Sub documentation, "Resource limits").
const (
	attributesMax          = 100
	attributeKeyBytesMax   = 256
	attributeValueBytesMax = 1024
	orderingKeyBytesMax    = 1024
)

// newItem makes the message as it is sent and checks it: what the service would
// refuse is known before it can spoil a request with others.
func newItem(topic string, m sinks.OutMessage) item {
	it := item{id: m.ID, msg: &pb.PubsubMessage{Data: m.Data, Attributes: attributes(m), OrderingKey: m.Key}}
	size := proto.Size(it.msg)
	it.bytes = protowire.SizeTag(2) + protowire.SizeBytes(size)
	if err := checkMessage(it.msg); err != nil {
		it.err = fault.Errorf(fault.Permanent, "pubsub: publish %s: message %s: %w", topic, m.ID, err)
	} else if n := requestOverhead(topic) + it.bytes; n > requestBytesMax {
		it.err = fault.Errorf(fault.Permanent, "pubsub: publish %s: message %s takes a request of %d bytes, the service's limit is %d", topic, m.ID, n, requestBytesMax)
	}
	return it
}

// attributes adds the ID to a copy.
func attributes(m sinks.OutMessage) map[string]string {
	if m.ID == "" {
		return m.Attributes
	}
	a := make(map[string]string, len(m.Attributes)+1)
	maps.Copy(a, m.Attributes)
	a[sinks.AttributeID] = m.ID
	return a
}

// requestOverhead is the size of a request without messages.
func requestOverhead(topic string) int {
	return protowire.SizeTag(1) + protowire.SizeBytes(len(topic))
}

func checkMessage(m *pb.PubsubMessage) error {
	switch {
	case len(m.Data) == 0 && len(m.Attributes) == 0:
		return fmt.Errorf("it has neither data nor attributes")
	case len(m.Attributes) > attributesMax:
		return fmt.Errorf("it has %d attributes, the limit is %d", len(m.Attributes), attributesMax)
	case len(m.OrderingKey) > orderingKeyBytesMax:
		return fmt.Errorf("its key has %d bytes, the limit is %d", len(m.OrderingKey), orderingKeyBytesMax)
	case !utf8.ValidString(m.OrderingKey):
		return fmt.Errorf("its key %q is not valid UTF-8", m.OrderingKey)
	}
	for key, value := range m.Attributes {
		if err := checkAttribute(key, value); err != nil {
			return err
		}
	}
	return nil
}

func checkAttribute(key, value string) error {
	switch {
	case key == "" || len(key) > attributeKeyBytesMax:
		return fmt.Errorf("an attribute's key has %d bytes, want 1 to %d", len(key), attributeKeyBytesMax)
	case strings.HasPrefix(key, "goog"):
		return fmt.Errorf("the attribute key %q starts with goog, which the service keeps for itself", key)
	case len(value) > attributeValueBytesMax:
		return fmt.Errorf("the attribute %q has %d bytes, the limit is %d", key, len(value), attributeValueBytesMax)
	case !utf8.ValidString(key) || !utf8.ValidString(value):
		return fmt.Errorf("the attribute %q is not valid UTF-8", key)
	}
	return nil
}

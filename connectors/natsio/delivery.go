package natsio

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/source"
)

// delivery is what the broker writes into the ack subject of a message.
type delivery struct {
	// attempt counts deliveries of the message, from 1.
	attempt uint64
	// seq is the message's sequence in the stream, its position.
	seq uint64
	// number counts the deliveries of the consumer, redeliveries included.
	number uint64
	// stored is when the stream stored it, in nanoseconds since 1970.
	stored int64
	// pending messages had not been delivered by then.
	pending uint64
}

// ack subjects, in tokens:
//
//	$JS.ACK.<stream>.<consumer>.<attempt>.<seq>.<number>.<stored>.<pending>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<the same five>[.<random>]
const (
	ackPrefix     = "$JS.ACK."
	ackDots       = 8
	ackDotsDomain = 10
)

// parseAck reads an ack subject without allocating. usual is the prefix that
// nearly all subjects of this consumer have, up to the attempt.
func parseAck(subject, usual string) (d delivery, ok bool) {
	rest, ok := strings.CutPrefix(subject, usual)
	if !ok {
		if rest, ok = cutAckPrefix(subject); !ok {
			return d, false
		}
	}
	var numbers [5]uint64
	for i := range numbers {
		if numbers[i], rest, ok = cutNumber(rest); !ok {
			return d, false
		}
	}
	d = delivery{attempt: numbers[0], seq: numbers[1], number: numbers[2], stored: int64(numbers[3]), pending: numbers[4]}
	return d, d.seq > 0
}

func cutAckPrefix(subject string) (rest string, ok bool) {
	if !strings.HasPrefix(subject, ackPrefix) {
		return "", false
	}
	skip := 4
	switch dots := strings.Count(subject, "."); {
	case dots >= ackDotsDomain:
		skip = 6
	case dots != ackDots:
		return "", false
	}
	for range skip {
		_, subject, ok = strings.Cut(subject, ".")
	}
	return subject, ok
}

// cutNumber reads digits up to a dot or the end.
func cutNumber(s string) (n uint64, rest string, ok bool) {
	for i := range len(s) {
		c := s[i] - '0'
		if c > 9 {
			return n, s[i+1:], s[i] == '.' && i > 0
		}
		n = n*10 + uint64(c)
	}
	return n, "", len(s) > 0
}

// fill makes a message of a delivery. The client allocated the data for it alone.
func fill(dst *source.Message, m *nats.Msg, d *delivery, received time.Time) {
	*dst = source.Message{
		Data:       m.Data,
		Attributes: source.Attributes(m.Header),
		Subject:    m.Subject,
		Time:       event.Time(d.stored / int64(time.Microsecond)),
		Position:   source.Position(d.seq),
		Attempt:    int(d.attempt),
		Received:   received,
		Handle:     m,
	}
}

package natsio

import (
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/gosluice/sluice/core/fault"
)

// Headers of a status message.
const (
	headerStatus      = "Status"
	headerDescription = "Description"
	headerPending     = "Nats-Pending-Messages"
)

// Status codes.
const (
	statusHeartbeat    = "100"
	statusBadRequest   = "400"
	statusNoMessages   = "404"
	statusTimeout      = "408"
	statusConflict     = "409"
	statusNoResponders = "503"
)

// statusLocked takes a message that is no delivery: the broker's word about a
// request.
func (r *reader) statusLocked(m *nats.Msg) {
	r.mu.pulls.told(r.mu.inbox.looked)
	id, _ := strconv.ParseUint(strings.TrimPrefix(m.Subject, r.mu.pulls.inbox), 10, 64)
	left, _ := strconv.Atoi(m.Header.Get(headerPending))
	description := m.Header.Get(headerDescription)
	switch m.Header.Get(headerStatus) {
	case statusHeartbeat:
	case statusNoMessages, statusTimeout:
		r.endedLocked(id, left, description)
	case statusConflict:
		r.conflictLocked(id, left, description)
	case statusNoResponders:
		// Nobody serves the consumer: it has no leader at present, or is gone.
		r.suspectLocked()
	case statusBadRequest:
		r.mu.fatal = r.errorf(fault.Permanent, "request refused: %s", description)
	default:
		r.mu.incident = r.errorf(fault.Transient, "status %q: %s", m.Header.Get(headerStatus), description)
		r.suspectLocked()
	}
}

// endedLocked: a request ran out. One that collected has collected all, unless the
// broker found others open and did not begin.
func (r *reader) endedLocked(id uint64, left int, description string) {
	p := &r.mu.pulls
	if !r.mu.order.collecting {
		p.ended(id, left)
		return
	}
	if id < p.valid {
		return
	}
	if strings.EqualFold(description, "requests pending") {
		r.restartLocked(r.mu.inbox.looked, true)
		return
	}
	p.asked = 0
	r.collectedLocked()
}

// conflictLocked: a request ended for a reason that is in its description only.
func (r *reader) conflictLocked(id uint64, left int, description string) {
	text := strings.ToLower(description)
	switch {
	case strings.Contains(text, "batch completed"):
	case strings.Contains(text, "exceeds maxbytes"):
		r.mu.pulls.ended(id, left)
		if left == r.limits.messages {
			r.limits.bytes *= 2 // the first message alone is larger
		}
	case strings.Contains(text, "consumer deleted"),
		strings.Contains(text, "leadership change"),
		strings.Contains(text, "server shutdown"):
		r.suspectLocked()
	case strings.Contains(text, "push based"):
		r.mu.fatal = r.errorf(fault.Permanent, "it is a push consumer")
	default:
		r.mu.incident = r.errorf(fault.Transient, "request ended: %s", description)
		r.suspectLocked()
	}
}

// suspectLocked gives the requests up and has the consumer looked at.
func (r *reader) suspectLocked() {
	r.restartLocked(r.mu.inbox.looked, true)
	r.mu.suspect = true
	signal(r.ask)
}

package natsio

import (
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/core/source"
)

// start is what was delivered before this reader opened, is not settled, and comes
// again. Guarded by the reader's mu.
type start struct {
	name    string
	through uint64
	// want deliveries are outstanding, seen have come again.
	want int
	seen map[uint64]struct{}
	// announced and told: what the engine knows of it.
	announced, told bool
}

func newStart(name string, info *jetstream.ConsumerInfo) start {
	s := start{name: name, want: info.NumAckPending, told: info.NumAckPending == 0}
	if s.want > 0 {
		s.through = info.Delivered.Stream
		s.seen = make(map[uint64]struct{}, s.want)
	}
	return s
}

// announce starts the channel, once.
func (s *start) announce() []source.Start {
	if s.announced {
		return nil
	}
	s.announced = true
	return []source.Start{{Name: s.name, Through: source.Position(s.through), Outstanding: s.want}}
}

// observe notes a delivery that is handed over.
func (s *start) observe(d *delivery) {
	if s.seen == nil || d.seq > s.through {
		return
	}
	s.seen[d.seq] = struct{}{}
	if len(s.seen) >= s.want {
		s.resolve()
	}
}

// inform resolves by what the broker says: all up to there is settled, by whomever.
func (s *start) inform(info *jetstream.ConsumerInfo) (news bool) {
	if s.resolved() || info.AckFloor.Stream < s.through && info.NumAckPending > 0 {
		return false
	}
	s.resolve()
	return true
}

func (s *start) resolve() { s.want, s.seen = 0, nil }

func (s *start) resolved() bool { return s.want == 0 }

// announceResolved says once that nothing is outstanding any more.
func (s *start) announceResolved() bool {
	if s.told || !s.announced || !s.resolved() {
		return false
	}
	s.told = true
	return true
}

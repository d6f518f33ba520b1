package engine

import (
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/source"
)

// kept is what the ledger holds of a delivery: where its message stands, and what
// the region needs to settle it. Only the task that polls follows the pointer.
type kept struct {
	message *source.Message
	handle  any
}

// pages are where a reader's messages stand from the poll until they are settled, so
// that they are written once and a steady flow allocates nothing.
//
// The simple version: every poll fills a new page, and the garbage collector frees
// it. What makes it cheaper: pages are filled, and their deliveries received by the
// ledger, one after another; so where the delivery that the ledger received first is
// newer than all of a page, nothing of that page is held any more, and it is filled
// again. What is held for long does not stop this for ever: the pages behind it are
// given up to the garbage collector, which frees them when they are settled.
type pages struct {
	// all pages that may be filled again, in the order they were filled; the last is
	// being filled.
	all []*page
	// latest is the latest receipt of a message of any page.
	latest time.Time
}

type page struct {
	messages []source.Message
	used     int
	// stale messages from there on are of an earlier use.
	stale int
	bytes int
	// latest is that of all pages up to this one when it was full.
	latest time.Time
}

const (
	// pageBytesMax is the payload after which a page takes no more: a delivery that is
	// held for long keeps its neighbours in memory.
	pageBytesMax = 256 << 10
	pagesMax     = 64
)

// room is where the next poll may put messages; s are the ledger's counts now.
func (p *pages) room(s *acks.Stats) []source.Message {
	if s.Unsettled == 0 {
		p.clear()
	}
	if n := len(p.all); n > 0 {
		if last := p.all[n-1]; last.used < len(last.messages) && last.bytes < pageBytesMax {
			return last.messages[last.used:]
		}
		p.all[n-1].latest = p.latest
	}
	return p.next(s).messages
}

// next is an empty page, the last from now on.
func (p *pages) next(s *acks.Stats) *page {
	if len(p.all) > 1 {
		first := p.all[0]
		free := s.Oldest.After(first.latest)
		if free || len(p.all) >= pagesMax {
			p.all = append(p.all[:0], p.all[1:]...)
		}
		if free {
			first.stale, first.used, first.bytes = max(first.stale, first.used), 0, 0
			p.all = append(p.all, first)
			return first
		}
	}
	q := &page{messages: make([]source.Message, pollMessages)}
	p.all = append(p.all, q)
	return q
}

// took notes that n messages of the last page are in use.
func (p *pages) took(n int) []source.Message {
	last := p.all[len(p.all)-1]
	from := last.used
	last.used += n
	return last.messages[from:last.used:last.used]
}

// note counts a message that the ledger is given.
func (p *pages) note(bytes int, received time.Time) {
	p.all[len(p.all)-1].bytes += bytes
	if received.After(p.latest) {
		p.latest = received
	}
}

// clear empties all pages: nothing of them is held.
func (p *pages) clear() {
	for _, q := range p.all {
		q.clear()
	}
}

func (q *page) clear() {
	clear(q.messages[:max(q.used, q.stale)])
	q.used, q.stale, q.bytes = 0, 0, 0
}

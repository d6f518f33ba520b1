package engine

import (
	"sync"
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/source"
)

// channelBits is where the channel begins in a delivery reference.
const channelBits = 48

// directory finds the reader of a delivery reference: channels are numbered over
// the whole region, so that an element can cross stages and still be refused.
type directory struct {
	mu sync.RWMutex
	// entries are guarded by mu; they are only appended.
	entries []channelEntry
}

type channelEntry struct {
	reader *reader
	local  source.Channel
	name   string
}

func (d *directory) add(rd *reader, local source.Channel, name string) uint16 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, channelEntry{rd, local, rd.stage.Name + "/" + name})
	return uint16(len(d.entries) - 1)
}

func (d *directory) find(ref element.Ref) channelEntry {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.entries[ref>>channelBits]
}

// ledgerRef translates a region-wide reference to the ledger's.
func (e channelEntry) ledgerRef(ref element.Ref) acks.Ref {
	return acks.MakeRef(acks.Channel(e.local), acks.Position(ref&(1<<channelBits-1)))
}

// CanReject says whether the message behind ref can be given back on its own.
func (t *Task) CanReject(ref element.Ref) bool {
	return t.region.directory.find(ref).reader.stage.Source.Caps.Reject
}

// Origin names the source and channel of ref: the same in every run.
func (t *Task) Origin(ref element.Ref) string { return t.region.directory.find(ref).name }

// Verdict has the message behind ref nacked or terminated once the bundle is
// committed.
func (t *Task) Verdict(ref element.Ref, v source.Verdict, reason string) {
	if v == source.Terminate {
		t.decide(ref, acks.Terminate(reason))
	} else {
		t.decide(ref, acks.Reject(rejectDelay, reason))
	}
}

// rejectDelay is how long the broker waits before it delivers a rejected message
// again.
const rejectDelay = 5 * time.Second

// Block leaves the message behind ref unsettled.
func (t *Task) Block(ref element.Ref, reason string) { t.decide(ref, acks.Block(reason)) }

func (t *Task) decide(ref element.Ref, v acks.Verdict) {
	e := t.region.directory.find(ref)
	if err := e.reader.ledger.Verdict(e.ledgerRef(ref), v); err != nil {
		t.Fail(err)
	}
}

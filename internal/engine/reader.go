package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gosluice/sluice/acks"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store"
)

// reader is one reader of a source with its ledger. It belongs to the region and
// outlives aborts: what was not settled is fed again from here.
//
// The task polls it and takes deliveries into bundles; the region commits and
// settles. The ledger is safe for both; the rest of the fields say who uses them.
type reader struct {
	stage  *Stage
	index  int
	region *Region
	ledger *acks.Ledger[kept]
	leases *acks.LeaseKeeper[kept]

	// Set once by the region before a task is told.
	ready atomic.Bool
	conn  source.Reader
	task  atomic.Pointer[Task] // that polls

	// Of the task that polls; handed from one task to the next while halted.
	channels []*channel
	pages    pages
	finished bool
	told     bool // it announces its own watermark

	// Of the region.
	opening, settling, extending bool
	retry                        *retry
	openAt, settleAt             time.Time
	leaseAt                      time.Time
	due                          []acks.Settlement[kept]
	telling                      []source.Settlement // due, in the connector's terms

	// drain and stop are set by the region, read by the task; ended the other way.
	drain, stop, ended atomic.Bool
	counts             SourceCounts
}

// SourceCounts are totals of a reader since the run began.
type SourceCounts struct {
	Read, Replayed, Duplicates, Acked, Nacked, Terminated, Lost atomic.Int64
}

// channel is one unit of order of a reader.
type channel struct {
	name string
	key  []byte
	// base is its number over the whole region, in place of a delivery reference.
	base element.Ref
	// committed is the watermark of the last commit, an event.Time. The region sets
	// it, the task reads it.
	committed atomic.Int64
}

func newChannel(name string, number uint16, wm event.Time) *channel {
	c := &channel{name: name, key: []byte(name), base: element.Ref(number) << channelBits}
	c.committed.Store(int64(wm))
	return c
}

func (c *channel) watermark() event.Time { return event.Time(c.committed.Load()) }

func newReader(r *Region, s *Stage, index int) *reader {
	mode := acks.Individual
	if s.Source.Caps.Contiguous {
		mode = acks.Contiguous
	}
	rd := &reader{
		stage: s, index: index, region: r,
		ledger: acks.NewLedger[kept](mode),
		retry:  newRetry(r.ports),
	}
	if lease := s.Source.Caps.Lease; lease > 0 {
		rd.leases = acks.NewLeaseKeeper(rd.ledger, acks.Lease{Duration: lease}, r.ports.Jitter)
	}
	return rd
}

func (rd *reader) name() string { return fmt.Sprintf("%s/%d", rd.stage.Name, rd.index) }

// step opens, settles and extends; it returns when to be asked again.
func (rd *reader) step(now time.Time) (next time.Time) {
	if !rd.ready.Load() {
		return rd.maybeOpen(now)
	}
	return earliest(rd.maybeSettle(now), rd.maybeExtend(now))
}

func (rd *reader) maybeOpen(now time.Time) time.Time {
	if rd.opening || rd.region.ending() || rd.drain.Load() {
		return time.Time{}
	}
	if rd.openAt.After(now) {
		return rd.openAt
	}
	rd.opening = true
	o := source.Options{
		Index: rd.index, Count: rd.stage.Workers,
		Wake:   func() { rd.region.wakeReader(rd) },
		Claim:  rd.region.claim(),
		Logger: rd.region.log,
	}
	rd.region.ports.Call(Call{
		Name: rd.name() + ": open", Kind: CallOpen,
		Run: func(ctx context.Context) (any, error) { return rd.stage.Source.Source.Open(ctx, o) },
		Complete: func(v any, err error) {
			rd.region.mail.post(func() { rd.opened(v, err) })
		},
	})
	return time.Time{}
}

func (rd *reader) opened(v any, err error) {
	rd.opening = false
	key := "source " + rd.name()
	if err != nil {
		switch fault.Of(err) {
		case fault.Permanent, fault.Lost:
			rd.region.kill(fmt.Errorf("%s: open: %w", rd.name(), err))
		case fault.Closed:
		default:
			rd.openAt = rd.region.now.Add(rd.retry.next())
			rd.region.degraded(key, fmt.Errorf("%s: open: %w", rd.name(), err))
		}
		return
	}
	rd.retry.reset()
	rd.region.healthy(key)
	rd.conn = v.(source.Reader)
	rd.ready.Store(true)
	rd.region.wakeReader(rd)
}

const settleBatchMax = 8192

// maybeSettle tells the broker what has become due, one call at a time, so that
// while a confirmation is awaited the next call gathers.
func (rd *reader) maybeSettle(now time.Time) time.Time {
	if rd.settling {
		return time.Time{}
	}
	if rd.settleAt.After(now) {
		return rd.settleAt
	}
	rd.due = rd.ledger.Due(rd.due[:0], settleBatchMax)
	if len(rd.due) == 0 {
		return time.Time{}
	}
	list := rd.telling[:0]
	for i := range rd.due {
		list = append(list, settlementOf(&rd.due[i]))
	}
	rd.settling, rd.telling = true, list
	rd.region.ports.Call(Call{
		Name: rd.name() + ": settle", Kind: CallSettle,
		Run: func(ctx context.Context) (any, error) { return rd.conn.Settle(ctx, list), nil },
		Complete: func(v any, err error) {
			rd.region.mail.post(func() {
				failures, _ := v.([]source.Failure)
				rd.settled(list, failures, err)
			})
		},
	})
	return time.Time{}
}

// verdicts are the ledger's actions in the connector's terms; what is blocked is
// never told.
var verdicts = [...]source.Verdict{acks.Acked: source.Ack, acks.Rejected: source.Nack, acks.Terminated: source.Terminate}

func settlementOf(d *acks.Settlement[kept]) source.Settlement {
	return source.Settlement{
		Ref: uint64(d.Ref), Channel: source.Channel(d.Ref.Channel()), Position: source.Position(d.Ref.Position()),
		Verdict: verdicts[d.Verdict.Action], Delay: d.Verdict.Delay, Reason: d.Verdict.Reason, Handle: d.Payload.handle,
	}
}

// settled takes the outcome of one settle call. err is a call that never ran.
func (rd *reader) settled(list []source.Settlement, failures []source.Failure, err error) {
	rd.settling = false
	undone, first := rd.undone(list, failures, err)
	rd.ledger.Settled(rd.due, undone...)
	clear(rd.due)
	clear(list)
	rd.region.wakeReader(rd) // the quota may allow more now
	key := "settle " + rd.name()
	if first == nil {
		rd.retry.reset()
		rd.region.healthy(key)
		return
	}
	rd.settleAt = rd.region.now.Add(rd.retry.next())
	rd.region.degraded(key, fmt.Errorf("%s: settle: %w", rd.name(), first))
}

// undone counts what is done, lists what is not, and says why the last of that
// which is to be tried again was not.
func (rd *reader) undone(list []source.Settlement, failures []source.Failure, err error) (undone []acks.Failure, cause error) {
	var failed map[uint64]error
	if len(failures) > 0 {
		failed = make(map[uint64]error, len(failures))
	}
	for _, f := range failures {
		failed[f.Ref] = f.Err
	}
	var done [source.Terminate + 1]int64
	for i := range list {
		why, bad := err, err != nil
		if !bad && failed != nil {
			why, bad = failed[list[i].Ref]
		}
		if !bad {
			done[list[i].Verdict]++
			continue
		}
		lost := fault.Of(why) == fault.Lost
		undone = append(undone, acks.Failure{Ref: acks.Ref(list[i].Ref), Lost: lost})
		if lost {
			rd.counts.Lost.Add(1)
		} else {
			cause = why
		}
	}
	rd.counts.Acked.Add(done[source.Ack])
	rd.counts.Nacked.Add(done[source.Nack])
	rd.counts.Terminated.Add(done[source.Terminate])
	return undone, cause
}

// settledAll says whether nothing is left to tell the broker.
func (rd *reader) settledAll() bool {
	if !rd.ready.Load() {
		return !rd.opening
	}
	s := rd.ledger.Stats()
	return !rd.settling && s.Due == 0 && s.Settling == 0
}

// close gives the reader up; Settle is over by then.
func (rd *reader) close(done func()) {
	if rd.conn == nil {
		done()
		return
	}
	rd.region.ports.Call(Call{
		Name: rd.name() + ": close", Kind: CallClose,
		Run: func(ctx context.Context) (any, error) { return nil, rd.conn.Close(ctx) },
		Complete: func(_ any, err error) {
			if err != nil && fault.Of(err) != fault.Closed {
				rd.region.log.Warn("closing a reader failed", "reader", rd.name(), "error", err)
			}
			rd.region.mail.post(done)
		},
	})
}

// Mark rows: the ledger's mark and the channel's watermark.

func encodeMark(m acks.Mark, wm event.Time) ([]byte, error) {
	return m.AppendBinary(binary.BigEndian.AppendUint64(nil, uint64(wm)))
}

func decodeMark(b []byte) (acks.Mark, event.Time, error) {
	if len(b) < 8 {
		return acks.Mark{}, 0, errors.New("source mark is cut short")
	}
	m, err := acks.ParseMark(b[8:])
	return m, event.Time(binary.BigEndian.Uint64(b)), err
}

// loadMark reads what an earlier run committed of a channel.
func (rd *reader) loadMark(name string) (acks.Mark, event.Time, error) {
	st := rd.region.store
	if st == nil {
		return acks.Mark{}, event.Min, nil
	}
	space := store.Space{Region: rd.region.spec.ID, Kind: store.Mark, Transform: rd.stage.Transform}
	r := store.Range{Space: space, From: []byte(name), Below: append([]byte(name), 0)}
	mark, wm := acks.Mark{}, event.Min
	var failed error
	err := st.Scan(r, func(row store.Row) bool {
		mark, wm, failed = decodeMark(row.Value)
		return false
	})
	if err == nil {
		err = failed
	}
	return mark, wm, err
}

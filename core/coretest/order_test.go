package coretest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
)

// order is what the crash suite sends through its pipelines.
type order struct {
	ID     int
	AtMS   int64
	Amount int
	// Behind: it was made to lie far behind the others, so that it may be late.
	Behind bool `json:",omitempty"`
}

// minute is the size of the suite's windows; disorder is how far event times lie
// behind the largest before them in their channel.
const (
	minute   = 60 * time.Second
	disorder = 10 * time.Second
)

var minutes = window.Fixed(minute)

func (o order) time() event.Time { return event.Millis(o.AtMS) }

func (o order) window() window.Window { return minutes.Assign(nil, o.time())[0] }

// key is what the suite aggregates by.
func (o order) key() int { return o.ID % 7 }

var day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func decodeOrder(m core.Message) (o order, err error) {
	err = json.Unmarshal(m.Data, &o)
	return o, err
}

func readOptions() core.ReadOptions[order] {
	return core.ReadOptions[order]{
		EventTime:  func(o order) time.Time { return o.time().Time() },
		OutOfOrder: disorder,
	}
}

// stream makes n orders of one channel: in order but for the allowed disorder, so
// that none of them may ever be late; and, one in behindEvery, some that lie three
// windows behind.
func stream(r *rand.Rand, n, firstID, behindEvery int) []order {
	at := day.UnixMilli()
	list := make([]order, n)
	for i := range list {
		at += r.Int64N(12_000)
		o := order{ID: firstID + i, AtMS: at - r.Int64N(disorder.Milliseconds()), Amount: 1 + r.IntN(100)}
		if behindEvery > 0 && i > n/3 && r.IntN(behindEvery) == 0 {
			o.Behind = true
			o.AtMS = at - 3*minute.Milliseconds()
		}
		list[i] = o
	}
	return list
}

func (o order) encode() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("encode order: %v", err))
	}
	return b
}

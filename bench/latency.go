package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// ackWatch sees acknowledgements as the broker does: they are messages on subjects
// that any client of the account may subscribe to.
type ackWatch struct {
	nc  *nats.Conn
	sub *nats.Subscription
	mu  struct {
		sync.Mutex
		at map[uint64]time.Time // by stream sequence
	}
	news chan struct{}
}

func watchAcks(url, consumer string) (*ackWatch, error) {
	nc, err := nats.Connect(url)
	if err != nil {
		return nil, err
	}
	w := &ackWatch{nc: nc, news: make(chan struct{}, 1)}
	w.mu.at = map[uint64]time.Time{}
	w.sub, err = nc.Subscribe("$JS.ACK."+streamName+"."+consumer+".>", w.take)
	if err == nil {
		err = nc.Flush()
	}
	return w, err
}

// take notes the first acknowledgement of a message.
func (w *ackWatch) take(m *nats.Msg) {
	now := time.Now()
	const sequenceToken = 5
	tokens := strings.Split(m.Subject, ".")
	if len(tokens) <= sequenceToken {
		return
	}
	seq, err := strconv.ParseUint(tokens[sequenceToken], 10, 64)
	if err != nil {
		return
	}
	w.mu.Lock()
	if _, again := w.mu.at[seq]; !again {
		w.mu.at[seq] = now
	}
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// wait returns when seq was acknowledged.
func (w *ackWatch) wait(seq uint64) (time.Time, error) {
	late := time.After(10 * time.Second)
	for {
		w.mu.Lock()
		at, ok := w.mu.at[seq]
		w.mu.Unlock()
		if ok {
			return at, nil
		}
		select {
		case <-w.news:
		case <-late:
			return at, fmt.Errorf("message %d is not acknowledged", seq)
		}
	}
}

func (w *ackWatch) close() { w.nc.Close() }

// latencies as milliseconds, summed up.
func latencies(list []time.Duration) sample {
	ms := make([]float64, len(list))
	for i, d := range list {
		ms[i] = float64(d.Microseconds()) / 1000
	}
	return sample{p50: median(ms), p99: quantile(ms, 0.99)}
}

const (
	p50 = "p50 ms"
	p99 = "p99 ms"
)

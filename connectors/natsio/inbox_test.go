package natsio

import (
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"
)

// TestInboxKeepsOrderAndNeverFlattersTheLease drives the inbox as the client, Poll
// and the goroutines do, in any order, with a model beside it.
func TestInboxKeepsOrderAndNeverFlattersTheLease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := inbox{ch: make(chan *nats.Msg, 64)}
		now := time.Unix(1000, 0)
		b.looked = now
		var arrivals []time.Time // of every message
		popped := 0
		check := func(h held) {
			if want := strconv.Itoa(popped); h.msg.Subject != want {
				t.Fatalf("popped %s, want %s", h.msg.Subject, want)
			}
			if at := arrivals[popped]; h.received.After(at) {
				t.Fatalf("message %d arrived at %v and claims %v", popped, at, h.received)
			}
			popped++
		}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) { now = now.Add(time.Second) },
			"arrive": func(t *rapid.T) {
				if len(b.ch) < cap(b.ch) {
					b.ch <- &nats.Msg{Subject: strconv.Itoa(len(arrivals))}
					arrivals = append(arrivals, now)
				}
			},
			"look": func(t *rapid.T) { b.look(now) },
			"pop": func(t *rapid.T) {
				b.look(now)
				if h, ok := b.pop(); ok {
					check(h)
				}
			},
			"arm": func(t *rapid.T) { b.armed = b.armed || b.empty() },
			"the receiving goroutine takes one": func(t *rapid.T) {
				if b.armed && len(b.ch) > 0 {
					for i := range len(b.ch) { // what came while it slept counts from now
						arrivals[len(arrivals)-1-i] = now
					}
					b.looked = now
					b.held = append(b.held, held{msg: <-b.ch, received: arrivals[popped+len(b.held)]})
					b.armed = false
				}
			},
			"hold": func(t *rapid.T) {
				b.look(now)
				b.hold()
			},
		})
	})
}

func TestInboxNotesWhenMessagesCame(t *testing.T) {
	b := inbox{ch: make(chan *nats.Msg, 8)}
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	b.look(at(1))
	b.ch <- &nats.Msg{}
	b.look(at(2)) // came after 1
	b.ch <- &nats.Msg{}
	b.ch <- &nats.Msg{}
	b.look(at(3)) // came after 2
	b.ch <- &nats.Msg{}
	for i, want := range []int{1, 2, 2, 3} {
		if h, _ := b.pop(); !h.received.Equal(at(want)) {
			t.Errorf("message %d: received after %v, want %v", i, h.received, at(want))
		}
	}
}

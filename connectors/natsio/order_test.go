package natsio

import (
	"slices"
	"testing"

	"github.com/nats-io/nats.go"
)

// lane feeds deliveries to an order and notes what is handed over.
type lane struct {
	o    order
	over []uint64
}

func (l *lane) deliver(number, seq, attempt uint64) {
	h := held{msg: &nats.Msg{}}
	if l.o.admit(&h, &delivery{number: number, seq: seq, attempt: attempt}) {
		l.over = append(l.over, seq)
	}
	l.follow()
}

func (l *lane) follow() {
	if g := l.o.gap; g != nil && g.filled() {
		var seqs []uint64
		for seq := range g.places {
			seqs = append(seqs, seq)
		}
		slices.SortFunc(seqs, func(a, b uint64) int { return g.places[a] - g.places[b] })
		l.o.close()
		l.over = append(l.over, seqs...)
	}
}

func (l *lane) want(t *testing.T, seqs ...uint64) {
	t.Helper()
	if !slices.Equal(l.over, seqs) {
		t.Errorf("handed over %v, want %v", l.over, seqs)
	}
}

func TestOrderWithholdsWhatIsBehindAHole(t *testing.T) {
	l := lane{o: order{exclusive: true, next: 1}}
	l.deliver(1, 10, 1)
	l.deliver(4, 40, 1) // numbers 2 and 3 were lost
	l.deliver(5, 50, 1)
	l.want(t, 10)
	l.deliver(6, 20, 2)
	l.want(t, 10, 20)
	l.deliver(7, 20, 3) // once more: counts once
	l.want(t, 10, 20, 20)
	l.deliver(8, 40, 2) // withheld already
	l.deliver(9, 30, 2)
	l.want(t, 10, 20, 20, 30, 40, 50)
	l.deliver(10, 60, 1)
	l.want(t, 10, 20, 20, 30, 40, 50, 60)
}

func TestOrderGivesUpOnLostRedeliveries(t *testing.T) {
	l := lane{o: order{exclusive: true, next: 1}}
	l.deliver(1, 10, 1)
	l.deliver(3, 20, 1) // number 2 was a redelivery of 10
	l.o.gap.round()
	l.follow()
	l.want(t, 10)
	l.o.gap.round()
	l.follow()
	l.want(t, 10, 20)
}

func TestOrderFindsALostTail(t *testing.T) {
	o := order{exclusive: true, next: 8}
	if o.tail(7); o.gap != nil {
		t.Error("all has arrived, and there is a hole")
	}
	if !o.tail(9) || o.gap != nil {
		t.Error("seen once it may be on its way")
	}
	if o.tail(9); o.gap == nil || o.gap.lost != 2 || o.next != 10 {
		t.Errorf("seen twice: gap %+v, next %d", o.gap, o.next)
	}
}

func TestOrderOfASharedConsumerKnowsNoHoles(t *testing.T) {
	l := lane{o: order{next: 1}}
	l.deliver(1, 10, 1)
	l.deliver(9, 90, 1)
	l.want(t, 10, 90)
	if l.o.tail(20); l.o.gap != nil {
		t.Error("found a hole")
	}
}

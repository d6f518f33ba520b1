package natsio

import "testing"

func TestOrderFindsHoles(t *testing.T) {
	o := order{exclusive: true, next: 1}
	for i, c := range []struct {
		number, seq uint64
		want        place
	}{
		{1, 10, inOrder},
		{2, 5, inOrder}, // a redelivery
		{4, 40, beyondHole},
		{5, 50, beyondHole},
		{1, 10, stale},
	} {
		if got := o.place(&delivery{number: c.number, seq: c.seq}); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
	if o.hole == "" || o.next != 3 {
		t.Errorf("%+v", o)
	}
	o.first = 10
	o.resumed(9, true)
	if got := o.place(&delivery{number: 10, seq: 20}); got != inOrder || o.hole != "" {
		t.Errorf("after the rewind: %v, %+v", got, o)
	}
	o.back = []held{{seq: 30}, {seq: 20}}
	if o.whole() {
		t.Error("whole while collecting")
	}
	if back := o.collected(); back[0].seq != 20 || !o.whole() {
		t.Errorf("%+v, %+v", back, o)
	}
}

func TestOrderFindsALostTail(t *testing.T) {
	o := order{exclusive: true, next: 8}
	if o.tail(7) || o.hole != "" {
		t.Error("all has arrived")
	}
	if !o.tail(9) || o.hole != "" {
		t.Error("seen once it may be on its way")
	}
	if !o.tail(10) || o.hole != "" {
		t.Error("another was sent since")
	}
	if o.tail(10); o.hole == "" {
		t.Error("seen twice it is lost")
	}
}

func TestOrderOfASharedConsumerKnowsNoHoles(t *testing.T) {
	o := order{next: 1}
	for _, number := range []uint64{1, 9, 3} {
		if got := o.place(&delivery{number: number, seq: number}); got != inOrder {
			t.Errorf("%d: %v", number, got)
		}
	}
	o.tail(20)
	if o.tail(20); o.hole != "" {
		t.Error("found a hole")
	}
}

package natsio_test

import (
	"testing"
)

func TestSmoke(t *testing.T) {
	r := newRig(t)
	r.publish(1000)
	p := r.open(config())
	msgs := p.read(1000)
	for i, m := range msgs {
		if int(m.Position) != i+1 || m.Attempt != 1 {
			t.Fatal(i, m.Position, m.Attempt)
		}
	}
	p.ack(msgs...)
	if i := r.info("worker"); i.NumAckPending != 0 {
		t.Fatal(i.NumAckPending)
	}
	t.Logf("%+v %+v", p.last, p.src.Stats())
}

package natsio

import (
	"testing"
)

func TestParseAck(t *testing.T) {
	const usual = "$JS.ACK.ORDERS.worker."
	want := delivery{attempt: 2, seq: 918, number: 1004, stored: 1764547200123456789, pending: 7}
	numbers := "2.918.1004.1764547200123456789.7"
	for _, subject := range []string{
		usual + numbers,
		"$JS.ACK.OTHER.name." + numbers,
		"$JS.ACK.hub.ACCHASH.ORDERS.worker." + numbers,
		"$JS.ACK._.ACCHASH.ORDERS.worker." + numbers + ".random",
	} {
		if got, ok := parseAck(subject, usual); !ok || got != want {
			t.Errorf("%s: %+v, %v", subject, got, ok)
		}
	}
	for _, subject := range []string{
		"", "x", "_INBOX.1.2", "$JS.ACK.", usual, usual + "1.2.3.4", usual + "1.2.3.4.x",
		usual + "1..3.4.5", usual + "1.0.3.4.5", "$JS.ACK.a.b.c.1.2.3.4.5", "$JS.API.ORDERS.worker.1.2.3.4.5",
	} {
		if got, ok := parseAck(subject, usual); ok {
			t.Errorf("%q: taken for %+v", subject, got)
		}
	}
}

func FuzzParseAck(f *testing.F) {
	f.Add("$JS.ACK.ORDERS.worker.1.2.3.4.5")
	f.Add("$JS.ACK.d.h.ORDERS.worker.1.2.3.4.5.r")
	f.Fuzz(func(t *testing.T, subject string) {
		if d, ok := parseAck(subject, "$JS.ACK.ORDERS.worker."); ok && d.seq == 0 {
			t.Errorf("%q: position zero", subject)
		}
	})
}

func TestParseAckDoesNotAllocate(t *testing.T) {
	const subject = "$JS.ACK.ORDERS.worker.2.918.1004.1764547200123456789.7"
	if n := testing.AllocsPerRun(100, func() { parseAck(subject, "$JS.ACK.ORDERS.worker.") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkParseAck(b *testing.B) {
	const subject = "$JS.ACK.ORDERS.worker.2.918.1004.1764547200123456789.7"
	for b.Loop() {
		if _, ok := parseAck(subject, "$JS.ACK.ORDERS.worker."); !ok {
			b.Fatal("not parsed")
		}
	}
}

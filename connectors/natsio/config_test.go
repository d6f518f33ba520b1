package natsio_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/fault"
)

func TestValidateListsEverythingByField(t *testing.T) {
	cfg := natsio.Config{
		Stream: "", Consumer: "a.b", Subjects: []string{"ok.>", "not ok"},
		StartSequence: 1, StartTime: time.Unix(1, 0), AckWait: -1, Heartbeat: time.Millisecond,
		MaxAckPending: -1, MaxDeliver: -2, FetchMessages: 1 << 30, FetchBytes: -1,
		AckPolicy: 9, Confirm: 9, StopAt: 1, StopWhenCaughtUp: true, ConfirmWait: -1, InfoEvery: -1,
	}
	err := cfg.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, field := range []string{
		"Stream", "Consumer", "Subjects", "StartSequence", "AckWait", "Heartbeat", "MaxAckPending", "MaxDeliver",
		"FetchMessages", "FetchBytes", "AckPolicy", "Confirm", "StopAt", "ConfirmWait", "InfoEvery",
	} {
		if !strings.Contains(err.Error(), "Config."+field+":") {
			t.Errorf("no word about %s in\n%v", field, err)
		}
	}
	if err := config().Validate(); err != nil {
		t.Error(err)
	}
	if err := (natsio.Config{Stream: "S", Consumer: "c", Deliver: jetstream.DeliverByStartTimePolicy}).Validate(); err == nil {
		t.Error("a start time is missing")
	}
	p := natsio.PublisherConfig{Subject: "a.>", Stream: "a b", MaxPending: -1, ConfirmWait: -1}
	for _, field := range []string{"Subject", "Stream", "MaxPending", "ConfirmWait"} {
		if err := p.Validate(); !strings.Contains(err.Error(), "PublisherConfig."+field+":") {
			t.Errorf("no word about %s in\n%v", field, err)
		}
	}
}

func TestOpenRefusesWithoutConnecting(t *testing.T) {
	r := newRig(t)
	_, err := natsio.NewSource(r.js, natsio.Config{Stream: "ORDERS"}).Open(t.Context(), options())
	if fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), "Config.Consumer") {
		t.Error(err)
	}
}

// G23: the lease that counts is the one that was configured, and it is told.
func TestCapabilities(t *testing.T) {
	c := natsio.NewSource(nil, config()).Capabilities()
	if c.Lease != 30*time.Second || c.Quota != 20_000 || !c.Reject || !c.Terminate || c.Contiguous || !c.Confirmed || !c.Positions || c.Readers != 1 {
		t.Errorf("%+v", c)
	}
	c = natsio.NewSource(nil, natsio.Config{AckPolicy: natsio.AckAll, AckWait: time.Minute, MaxAckPending: 7}).Capabilities()
	if c.Lease != time.Minute || c.Quota != 7 || c.Reject || c.Terminate || !c.Contiguous {
		t.Errorf("AckAll: %+v", c)
	}
}

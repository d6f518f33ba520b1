package natsio_test

import (
	"strings"
	"testing"

	"github.com/gosluice/sluice/connectors/natsio"
	"github.com/gosluice/sluice/core/fault"
)

// Another state directory is refused, and both are named; the claim is in the
// consumer's metadata, where it can be read and removed.
func TestClaim(t *testing.T) {
	r := newRig(t)
	try := func(cfg natsio.Config, claim string) error {
		o := options()
		o.Claim = claim
		rd, err := natsio.NewSource(r.js, cfg).Open(r.ctx(), o)
		if err != nil {
			return err
		}
		return rd.Close(r.ctx())
	}
	r.must(try(config(), "")) // there is a consumer, unclaimed
	r.must(try(config(), "dir-a"))
	r.must(try(config(), "dir-a"))
	if got := r.info("worker").Config.Metadata[natsio.MetadataClaim]; got != "dir-a" {
		t.Errorf("claimed by %q", got)
	}
	err := try(config(), "dir-b")
	if fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), "dir-a") || !strings.Contains(err.Error(), "dir-b") {
		t.Errorf("another claim: %v", err)
	}
	if err = try(config(), ""); fault.Of(err) != fault.Permanent || !strings.Contains(err.Error(), "dir-a") {
		t.Errorf("no claim: %v", err)
	}
	existing := config()
	existing.Existing = true
	if err = try(existing, "dir-b"); fault.Of(err) != fault.Permanent {
		t.Errorf("existing: %v", err)
	}
	r.must(try(existing, "dir-a"))
	take := config()
	take.TakeClaim = true
	r.must(try(take, "dir-b"))
	r.must(try(config(), "dir-b"))
	r.must(try(take, ""))
	r.must(try(config(), ""))
	fresh := config()
	fresh.Consumer = "fresh"
	r.must(try(fresh, "dir-c"))
	if got := r.info("fresh").Config.Metadata[natsio.MetadataClaim]; got != "dir-c" {
		t.Errorf("a new consumer is claimed by %q", got)
	}
}

func TestConsumerIsUpdated(t *testing.T) {
	r := newRig(t)
	r.open(config()).close()
	cfg := config()
	cfg.MaxAckPending, cfg.Subjects = 7, []string{"orders.a"}
	r.open(cfg)
	if c := r.info("worker").Config; c.MaxAckPending != 7 || c.FilterSubject != "orders.a" || c.MaxDeliver != -1 {
		t.Errorf("%+v", c)
	}
}

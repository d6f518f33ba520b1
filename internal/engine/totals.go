package engine

import "sync/atomic"

// RegionCounts are totals since the run began. Written by steps, read anywhere.
type RegionCounts struct {
	Epochs, Aborts, Quarantined, DroppedLate, PendingEffects atomic.Int64
}

// Totals are a region's counts at one moment.
type Totals struct {
	Read, Replayed, Duplicates      int64
	Acked, Nacked, Terminated, Lost int64
	Unsettled                       int64
	Epochs, Aborts                  int64
	Quarantined, DroppedLate        int64
	PendingEffects                  int64
}

// Totals may be called from anywhere.
func (r *Region) Totals() Totals {
	t := Totals{
		Epochs: r.counts.Epochs.Load(), Aborts: r.counts.Aborts.Load(),
		Quarantined: r.counts.Quarantined.Load(), DroppedLate: r.counts.DroppedLate.Load(),
		PendingEffects: r.counts.PendingEffects.Load(),
	}
	for _, rd := range r.readers {
		c := &rd.counts
		t.Read += c.Read.Load()
		t.Replayed += c.Replayed.Load()
		t.Duplicates += c.Duplicates.Load()
		t.Acked += c.Acked.Load()
		t.Nacked += c.Nacked.Load()
		t.Terminated += c.Terminated.Load()
		t.Lost += c.Lost.Load()
		t.Unsettled += int64(rd.ledger.Stats().Unsettled)
	}
	return t
}

// Views lists the region's tasks as they stand. From anywhere.
func (r *Region) Views() []TaskView {
	tasks := r.current.Load()
	if tasks == nil {
		return nil
	}
	views := make([]TaskView, len(*tasks))
	for i, t := range *tasks {
		views[i] = t.View()
	}
	return views
}

// CountQuarantined and CountDroppedLate add to the region's totals.
func (t *Task) CountQuarantined(n int) { t.region.counts.Quarantined.Add(int64(n)) }
func (t *Task) CountDroppedLate(n int) { t.region.counts.DroppedLate.Add(int64(n)) }

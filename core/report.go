package core

import (
	"time"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/internal/engine"
)

// Report counts what a run did.
type Report struct {
	// Read counts deliveries, Replayed those fed again after an abandoned epoch,
	// Duplicates copies that were dropped.
	Read, Replayed, Duplicates int64
	// Acked, Nacked, Terminated are verdicts the broker has; Lost are deliveries
	// whose lease went to someone else.
	Acked, Nacked, Terminated, Lost int64
	// Unsettled deliveries were read and go back to the broker.
	Unsettled int64
	// Epochs were committed, Aborts abandoned.
	Epochs, Aborts int64
	// Quarantined elements were set aside by this run; DroppedLate came after their
	// window had expired.
	Quarantined, DroppedLate int64
	// PendingEffects are committed writes that the next run has to finish.
	PendingEffects int64
}

// Status is how a run stands.
type Status struct {
	Report
	// Stages as they were built, one entry a worker.
	Stages []StageStatus
	// Problems the run tries to get past; empty when healthy.
	Problems []Problem
}

// StageStatus is how far one worker of a stage has come.
type StageStatus struct {
	Name   string
	Worker int
	// Input and Output are watermarks, Hold what bounds Output.
	Input, Output, Hold event.Time
	// Keeps counts what the stage keeps: open windows, batches on their way, windows
	// held back.
	Keeps int
}

// Problem is something that does not work at the moment.
type Problem struct {
	What  string
	Err   error
	Since time.Time
	Count int
}

// Status says how the run stands.
func (r *Running) Status() Status {
	s := Status{Report: reportOf(r.driver.Regions())}
	for _, region := range r.driver.Regions() {
		for _, v := range region.Views() {
			s.Stages = append(s.Stages, StageStatus{Name: v.Stage, Worker: v.Worker, Input: v.In, Output: v.Out, Hold: v.Hold, Keeps: v.Keeps})
		}
		for _, h := range region.Health() {
			s.Problems = append(s.Problems, Problem{What: h.What, Err: h.Err, Since: h.Since, Count: h.Count})
		}
	}
	return s
}

func reportOf(regions []*engine.Region) Report {
	var sum Report
	for _, region := range regions {
		t := region.Totals()
		sum.Read += t.Read
		sum.Replayed += t.Replayed
		sum.Duplicates += t.Duplicates
		sum.Acked += t.Acked
		sum.Nacked += t.Nacked
		sum.Terminated += t.Terminated
		sum.Lost += t.Lost
		sum.Unsettled += t.Unsettled
		sum.Epochs += t.Epochs
		sum.Aborts += t.Aborts
		sum.Quarantined += t.Quarantined
		sum.DroppedLate += t.DroppedLate
		sum.PendingEffects += t.PendingEffects
	}
	return sum
}

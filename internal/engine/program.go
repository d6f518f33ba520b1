package engine

import (
	"github.com/gosluice/sluice/core/source"
	"github.com/gosluice/sluice/core/store"
)

// Program is a compiled pipeline: what core hands to a driver.
type Program struct {
	Name    string
	Regions []*RegionSpec
}

// RegionSpec is a set of connected stages with one coordinator.
type RegionSpec struct {
	ID     store.RegionID
	Name   string
	Stages []*Stage // upstream before downstream
}

// Stage is a head and the stateless transforms fused behind it.
type Stage struct {
	// Name is that of the transform at its head; Transform its id on disk.
	Name      string
	Transform store.TransformID
	// Workers is how many tasks run it.
	Workers int
	// Source is set where the head reads a source.
	Source *SourceSpec
	// Outputs are the edges to other stages, in the order Build numbers them.
	Outputs []*Edge
	// Inputs counts the inputs of the head.
	Inputs int
	// Signalled says that a gate derives a signal from this stage: what it
	// quarantines then holds its watermark.
	Signalled bool
	// Build makes the head and the chain of one worker.
	Build func(t *Task) (Head, error)
}

// Edge leads from a stage to input Input of stage To.
type Edge struct {
	To    *Stage
	Input int
	Route Route
}

// Route says which workers of the receiving stage an edge leads to.
type Route uint8

const (
	// Forward: worker i to worker i, modulo the receiver's count.
	Forward Route = iota
	// Keyed: by the key group of the element.
	Keyed
	// Signal: watermarks and barriers only, to every worker.
	Signal
)

// SourceSpec is a source and its transform.
type SourceSpec struct {
	Source source.Source
	// Caps are the source's capabilities.
	Caps source.Capabilities
}

func (r Route) receivers(sender int, to *Stage) []int {
	if r == Forward {
		return []int{sender % to.Workers}
	}
	all := make([]int, to.Workers)
	for i := range all {
		all[i] = i
	}
	return all
}

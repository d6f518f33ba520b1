package core

import (
	"context"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/source"
)

// noSource stands in for a nil source until Validate reports it.
type noSource struct{}

func (noSource) Capabilities() source.Capabilities { return source.Capabilities{Readers: 1} }
func (noSource) Open(context.Context, source.Options) (source.Reader, error) {
	return nil, fault.Errorf(fault.Bug, "a nil source cannot be opened")
}

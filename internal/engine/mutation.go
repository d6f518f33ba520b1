package engine

// Mutation plants a bug, so that a test can see whether the checks of the crash
// suite find it. Zero in production; what cannot be planted here can be planted
// by wrapping ports, stores and readers.
type Mutation uint8

// The mutations.
const (
	// BarrierNotAligned finishes a bundle at the first barrier.
	BarrierNotAligned Mutation = iota + 1
	// LedgerForgetsAbort does not give the deliveries of an abandoned epoch out again.
	LedgerForgetsAbort
	// GateUncommitted opens gates on watermarks that are not committed.
	GateUncommitted
)

// Mutated says whether m is planted.
func (t *Task) Mutated(m Mutation) bool { return t.region.mutate == m }

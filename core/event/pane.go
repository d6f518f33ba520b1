package event

// Timing says when a pane fired relative to the watermark.
type Timing uint8

// The timings of a pane. The zero value belongs to elements that no trigger
// has fired.
const (
	Unknown Timing = iota
	Early
	OnTime
	Late
)

// Pane identifies one firing of a window. The zero value is not a valid pane:
// use [NoFiring].
type Pane struct {
	// Index counts the firings of the window from 0.
	Index int32
	// NonSpeculativeIndex counts firings that are not early; -1 for an early one.
	NonSpeculativeIndex int32
	// Timing is the relation to the watermark.
	Timing Timing
	// First and Last say whether the window fired before, or can fire again.
	First, Last bool
}

// NoFiring is the pane of elements that no trigger produced: the only pane,
// first and last at once.
var NoFiring = Pane{First: true, Last: true}

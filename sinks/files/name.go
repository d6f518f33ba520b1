package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
)

// NameInfo is what the name of a file is made of.
type NameInfo struct {
	Destination string
	Window      window.Window
	// Effect has the durable epoch that closed the batch and the batch's number.
	Effect sinks.EffectID
}

// Tag is eight characters that stand for the state store and the transform: a
// fresh state directory counts epochs from the start again, and two transforms
// close batches in the same epoch.
func (n NameInfo) Tag() string {
	sum := sha256.Sum256([]byte(n.Effect.Store + "\x00" + n.Effect.Transform))
	return hex.EncodeToString(sum[:4])
}

// DefaultName is destination-start-end-epoch-batch-tag, such as
// late/west-20260102T150400Z-20260102T150500Z-e00000042-b000-1a2b3c4d. All files
// of a window are together in a sorted listing.
func DefaultName(n NameInfo) string {
	name := fmt.Sprintf("%s-e%08d-b%03d-%s", WindowName(n.Window), n.Effect.Epoch, n.Effect.Batch, n.Tag())
	if n.Destination == "" {
		return name
	}
	return n.Destination + "-" + name
}

// WindowName spells w with letters, digits, dots and dashes: start-end in UTC,
// with microseconds where they are not zero, or "global".
func WindowName(w window.Window) string {
	if w == window.GlobalWindow {
		return "global"
	}
	return timeName(w.Start) + "-" + timeName(w.End)
}

func timeName(t event.Time) string {
	if t == event.Min || t == event.Max || t == event.EndOfGlobalWindow {
		return t.String()
	}
	return t.Time().Format("20060102T150405.999999Z")
}

// widest is an effect ID whose printed numbers are as long as they can become.
var widest = sinks.EffectID{Epoch: math.MaxUint64, Batch: math.MaxUint32}

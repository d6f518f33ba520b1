package coder_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/element"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
)

func anyPane() *rapid.Generator[event.Pane] {
	pane := rapid.Custom(func(t *rapid.T) event.Pane {
		return event.Pane{
			Index:               rapid.Int32().Draw(t, "index"),
			NonSpeculativeIndex: rapid.Int32Min(-1).Draw(t, "nonspeculative"),
			Timing:              rapid.SampledFrom([]event.Timing{event.Unknown, event.Early, event.OnTime, event.Late}).Draw(t, "timing"),
			First:               rapid.Bool().Draw(t, "first"), Last: rapid.Bool().Draw(t, "last"),
		}
	})
	return rapid.OneOf(rapid.Just(event.NoFiring), pane)
}

func TestElementComesBack(t *testing.T) {
	comesBack(t, coder.Element(coder.String()), rapid.Custom(func(t *rapid.T) element.Element[string] {
		return element.Element[string]{
			Value:  rapid.String().Draw(t, "value"),
			Time:   event.Time(rapid.Int64().Draw(t, "time")),
			Window: anyWindow().Draw(t, "window"),
			Pane:   anyPane().Draw(t, "pane"),
		}
	}))
}

func TestElementDropsTheDeliveryReference(t *testing.T) {
	c := coder.Element(coder.String())
	e := anyElement("v")
	e.Ref = 7
	b, _ := c.Append(nil, e)
	if got, err := c.Read(b); err != nil || got.Ref != 0 || got.Value != "v" {
		t.Errorf("read %+v, %v", got, err)
	}
}

// TestElementIsCompact holds the sizes that the documentation states.
func TestElementIsCompact(t *testing.T) {
	fixed := window.Window{Start: 0, End: 60_000_000}
	for _, c := range []struct {
		name string
		w    window.Window
		pane event.Pane
		want int // bytes above the value
	}{
		{"no firing, global window", window.GlobalWindow, event.NoFiring, 9},
		{"no firing", fixed, event.NoFiring, 25},
		{"the only on-time pane", fixed, event.Pane{Timing: event.OnTime, First: true, Last: true}, 25},
		{"first early pane", fixed, event.Pane{Timing: event.Early, First: true, NonSpeculativeIndex: -1}, 27},
		{"longest", fixed, event.Pane{Timing: event.Late, Index: math.MinInt32, NonSpeculativeIndex: math.MinInt32}, 35},
	} {
		e := element.Element[string]{Value: "value", Window: c.w, Pane: c.pane}
		b, err := coder.Element(coder.String()).Append(nil, e)
		if got := len(b) - len(e.Value); err != nil || got != c.want {
			t.Errorf("%s: %d bytes above the value, %v, want %d", c.name, got, err, c.want)
		}
	}
}

func TestElementTakesNameAndDeterminismOfItsValue(t *testing.T) {
	if c := coder.Element(coder.String()); c.Name != "element(string)" || !c.Deterministic {
		t.Errorf("%s, deterministic %v", c.Name, c.Deterministic)
	}
	if coder.Element(mustFor[float64](t)).Deterministic {
		t.Error("an element with a float is deterministic")
	}
}

func TestElementRefuses(t *testing.T) {
	c := coder.Element(coder.Int64())
	e := element.Element[int64]{Value: 1, Window: window.Window{Start: 1, End: 2}, Pane: event.Pane{Index: 300}}
	whole, err := c.Append(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		_, err := c.Read(whole[:n])
		wantMalformed(t, err)
	}
	_, err = c.Read(append([]byte{whole[0] | 0x80}, whole[1:]...)) // a header of the future
	wantMalformed(t, err)
	tooLarge := strings.Repeat("\xff", 9) + "\x01" // of 64 bits, in the place of index 300
	_, err = c.Read([]byte(string(whole[:25]) + tooLarge + string(whole[27:])))
	wantMalformed(t, err)

	e.Pane.Timing = event.Late + 1
	if _, err := c.Append(nil, e); fault.Of(err) != fault.Bug {
		t.Errorf("unknown timing: error %v", err)
	}
}

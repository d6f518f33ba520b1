package element_test

import (
	"testing"
	"unsafe"

	"github.com/gosluice/sluice/core/element"
)

// TestElementStaysSmall guards the cost of a keyed exchange, which copies elements:
// one word more on each is felt there.
func TestElementStaysSmall(t *testing.T) {
	const aboveValueMax = 48
	if above := unsafe.Sizeof(element.Element[int64]{}) - 8; above > aboveValueMax {
		t.Errorf("an element is %d bytes above its value, want at most %d", above, aboveValueMax)
	}
}

// TestZeroElementStandsForNoDelivery holds what aggregations rely on: an element
// made anew has no delivery to settle.
func TestZeroElementStandsForNoDelivery(t *testing.T) {
	e := element.Element[element.KV[string, int]]{Value: element.KV[string, int]{Key: "k", Value: 1}}
	if e.Ref != 0 {
		t.Errorf("Ref = %d, want 0", e.Ref)
	}
}

// TestKVIsComparable: pairs of comparable parts are map keys and compare with ==.
func TestKVIsComparable(t *testing.T) {
	seen := map[element.KV[string, int]]int{}
	for range 2 {
		seen[element.KV[string, int]{Key: "k", Value: 1}]++
	}
	if len(seen) != 1 {
		t.Errorf("%d entries for equal pairs, want 1", len(seen))
	}
}

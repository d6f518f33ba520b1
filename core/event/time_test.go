package event_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gosluice/sluice/core/event"
)

const unit = time.Microsecond

// anyTime draws an instant in [Min, Max], often near an end or near 0.
func anyTime() *rapid.Generator[event.Time] {
	near := func(from, to event.Time) *rapid.Generator[event.Time] {
		return rapid.Map(rapid.Int64Range(int64(from), int64(to)), func(v int64) event.Time { return event.Time(v) })
	}
	return rapid.OneOf(near(event.Min, event.Max), near(event.Min, event.Min+1000),
		near(event.Max-1000, event.Max), near(-1000, 1000))
}

func TestLimitsAreBeams(t *testing.T) {
	if event.Min != math.MinInt64/1000*1000 || event.Max != math.MaxInt64/1000*1000 {
		t.Errorf("range [%d, %d]", event.Min, event.Max)
	}
	if d := event.Max.Sub(event.EndOfGlobalWindow); d != 24*time.Hour { // L4
		t.Errorf("Max lies %v after the end of the global window, want one day", d)
	}
}

func TestAtTruncatesToTheUnitAndCutsToTheRange(t *testing.T) {
	for _, c := range []struct {
		in   time.Time
		want event.Time
	}{
		{time.Unix(0, 0), 0},
		{time.Unix(0, 1999), 1},
		{time.Unix(0, -1), -1}, // towards the past, on both sides of 1970
		{time.Unix(0, -1000), -1},
		{event.Min.Time(), event.Min},
		{event.Min.Time().Add(-1), event.Min},
		{event.Max.Time(), event.Max},
		{event.Max.Time().Add(unit), event.Max},
		{time.Unix(1<<55, 0), event.Max},  // its microseconds do not fit int64
		{time.Unix(-1<<55, 0), event.Min}, // as here
		{time.Time{}, -62135596800_000000},
	} {
		if got := event.At(c.in); got != c.want {
			t.Errorf("At(%v) = %d, want %d", c.in, got, c.want)
		}
	}
}

func TestFromTimeRefusesWhatAtCuts(t *testing.T) {
	for _, in := range []time.Time{
		event.Min.Time().Add(-1), event.Max.Time().Add(unit), time.Unix(1<<55, 0), time.Unix(-1<<55, 0),
	} {
		if got, err := event.FromTime(in); err == nil {
			t.Errorf("FromTime(%v) = %v, want an error", in, got)
		}
	}
	for _, in := range []time.Time{
		event.Min.Time(), event.Min.Time().Add(unit), event.Max.Time().Add(unit - 1), time.Unix(0, -1), {},
	} {
		if got, err := event.FromTime(in); err != nil || got != event.At(in) {
			t.Errorf("FromTime(%v) = %v, %v, want %v", in, got, err, event.At(in))
		}
	}
}

func TestMillisCutsToTheRange(t *testing.T) {
	for ms, want := range map[int64]event.Time{
		0: 0, -1: -1000, 1500: 1500000,
		math.MaxInt64 / 1000: event.Max, math.MaxInt64: event.Max, math.MinInt64: event.Min,
	} {
		if got := event.Millis(ms); got != want {
			t.Errorf("Millis(%d) = %d, want %d", ms, got, want)
		}
	}
}

// TestAddAndSubSaturate compares both with exact arithmetic.
func TestAddAndSubSaturate(t *testing.T) {
	cut := func(v *big.Int, lo, hi int64) int64 {
		switch {
		case v.Cmp(big.NewInt(lo)) < 0:
			return lo
		case v.Cmp(big.NewInt(hi)) > 0:
			return hi
		}
		return v.Int64()
	}
	rapid.Check(t, func(t *rapid.T) {
		at, other := anyTime().Draw(t, "t"), anyTime().Draw(t, "o")
		d := time.Duration(rapid.Int64().Draw(t, "d"))

		sum := new(big.Int).Add(big.NewInt(int64(at)), big.NewInt(d.Microseconds()))
		if got, want := at.Add(d), cut(sum, int64(event.Min), int64(event.Max)); int64(got) != want {
			t.Fatalf("%d.Add(%v) = %d, want %d", at, d, got, want)
		}
		diff := new(big.Int).Sub(big.NewInt(int64(at)), big.NewInt(int64(other)))
		diff.Mul(diff, big.NewInt(1000))
		if got, want := at.Sub(other), cut(diff, math.MinInt64, math.MaxInt64); int64(got) != want {
			t.Fatalf("%d.Sub(%d) = %d, want %d", at, other, got, want)
		}
	})
}

func TestTimeComesBackFromTheWallClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := anyTime().Draw(t, "t")
		if got, err := event.FromTime(at.Time()); err != nil || got != at {
			t.Fatalf("FromTime(%v) = %d, %v, want %d", at.Time(), got, err, at)
		}
	})
}

func TestTimeString(t *testing.T) {
	for at, want := range map[event.Time]string{
		event.Min: "MIN", event.Max: "MAX", event.EndOfGlobalWindow: "GWMAX",
		0: "1970-01-01T00:00:00Z", 1: "1970-01-01T00:00:00.000001Z", -1: "1969-12-31T23:59:59.999999Z",
	} {
		if got := at.String(); got != want {
			t.Errorf("%d prints %q, want %q", int64(at), got, want)
		}
	}
}

func TestNoFiringIsFirstAndLast(t *testing.T) { // P9
	if want := (event.Pane{First: true, Last: true, Timing: event.Unknown}); event.NoFiring != want {
		t.Errorf("NoFiring = %+v, want %+v", event.NoFiring, want)
	}
}

package stateful

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gosluice/sluice/core/coder"
)

// MeanAccumulator is what [Mean] gathers.
type MeanAccumulator struct {
	Sum   float64
	Count int64
}

// Mean is the mean of numbers; of nothing it is NaN.
func Mean[N Number]() CombineFn[N, MeanAccumulator, float64] {
	return CombineFn[N, MeanAccumulator, float64]{
		Zero: func() MeanAccumulator { return MeanAccumulator{} },
		Add: func(a *MeanAccumulator, v N) {
			a.Sum += float64(v)
			a.Count++
		},
		Merge: func(a *MeanAccumulator, b MeanAccumulator) {
			a.Sum += b.Sum
			a.Count += b.Count
		},
		Out:   func(a MeanAccumulator) float64 { return a.Sum / float64(a.Count) },
		Coder: meanCoder(),
	}
}

// meanCoder writes the sum's bits, then the count: JSON has no NaN and no infinity.
func meanCoder() coder.Coder[MeanAccumulator] {
	return coder.Coder[MeanAccumulator]{
		Name: "mean",
		Append: func(dst []byte, v MeanAccumulator) ([]byte, error) {
			dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Sum))
			return binary.BigEndian.AppendUint64(dst, uint64(v.Count)), nil
		},
		Read: func(b []byte) (a MeanAccumulator, err error) {
			if len(b) != 16 {
				return a, fmt.Errorf("mean: %d bytes, want 16: %w", len(b), coder.ErrMalformed)
			}
			a.Sum = math.Float64frombits(binary.BigEndian.Uint64(b))
			a.Count = int64(binary.BigEndian.Uint64(b[8:]))
			return a, nil
		},
	}
}

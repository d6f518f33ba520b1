package stateful

import "github.com/gosluice/sluice/core/coder"

// CombineFn describes an aggregation of values V by an accumulator A into O.
type CombineFn[V, A, O any] struct {
	// Zero makes an empty accumulator.
	Zero func() A
	// Add takes v into a. It may change *a in place.
	Add func(a *A, v V)
	// Merge takes b into a. It may change *a, not b.
	Merge func(a *A, b A)
	// Out is the result of a. It must not change what a refers to.
	Out func(a A) O
	// Coder stores accumulators; the zero value: inferred from A.
	Coder coder.Coder[A]
}

// coded returns fn with its coder filled in.
func (fn CombineFn[V, A, O]) coded() (CombineFn[V, A, O], error) {
	if fn.Coder.Append != nil {
		return fn, nil
	}
	c, err := coder.For[A]()
	fn.Coder = c
	return fn, err
}

// missing names the fields that must be set and are not.
func (fn CombineFn[V, A, O]) missing() []string {
	var names []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"Zero", fn.Zero != nil}, {"Add", fn.Add != nil}, {"Merge", fn.Merge != nil}, {"Out", fn.Out != nil}} {
		if !f.set {
			names = append(names, f.name)
		}
	}
	return names
}

// Number is what Sum, Min and Max take.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Sum adds numbers; of nothing it is 0.
func Sum[N Number]() CombineFn[N, N, N] {
	return CombineFn[N, N, N]{
		Zero:  func() N { return 0 },
		Add:   func(a *N, v N) { *a += v },
		Merge: func(a *N, b N) { *a += b },
		Out:   func(a N) N { return a },
	}
}

// Count counts values.
func Count[V any]() CombineFn[V, int64, int64] {
	return CombineFn[V, int64, int64]{
		Zero:  func() int64 { return 0 },
		Add:   func(a *int64, _ V) { *a++ },
		Merge: func(a *int64, b int64) { *a += b },
		Out:   func(a int64) int64 { return a },
	}
}

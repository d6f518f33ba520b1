package stateful

import "github.com/gosluice/sluice/core"

// Distinct passes on the first element of each id and window, as it is, and drops
// the others. What it remembers of a window goes with the window: in the global
// window nothing is ever forgotten.
func Distinct[T, ID any](c core.PCollection[T], name string, id func(T) ID, opts ...core.Option) core.PCollection[T] {
	keyed := core.Map(c, name+"/key", func(v T) core.KV[ID, T] { return core.KV[ID, T]{Key: id(v), Value: v} }, opts...)
	return ParDo(keyed, name, func(d *Decl[ID, T, T]) DoFn[ID, T, T] {
		seen := Value[struct{}](d, "seen")
		return DoFn[ID, T, T]{Process: func(_ Context[ID], e *core.Element[core.KV[ID, T]], out *core.Out[T]) error {
			if _, again := seen.Read(); !again {
				seen.Write(struct{}{})
				out.Emit(e.Value.Value)
			}
			return nil
		}}
	}, opts...)
}

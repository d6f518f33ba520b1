package coretest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gosluice/sluice/core"
)

// Output collects what a collection has produced, of committed bundles only.
type Output[T any] struct {
	c    *Case
	name string
	mu   sync.Mutex
	// all is guarded by mu.
	all []core.Element[T]
}

// Collect adds a transform that collects.
func Collect[T any](c *Case, in core.PCollection[T], name string) *Output[T] {
	o := &Output[T]{c: c, name: name}
	core.ParDo(in, name, func(ctx core.Context, e *core.Element[T], _ *core.Out[struct{}]) error {
		kept := *e
		ctx.AfterBundleCommit(time.Hour, func(context.Context) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.all = append(o.all, kept)
			return nil
		})
		return nil
	})
	return o
}

// Elements are those collected so far, in the order of their commits.
func (o *Output[T]) Elements() []core.Element[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.all)
}

// Expect expects exactly these values by now, in any order.
func (o *Output[T]) Expect(values ...T) {
	expect(o, "values", values, func(e core.Element[T]) T { return e.Value })
}

// ExpectTimed expects exactly these values at these event times by now, in any order.
func (o *Output[T]) ExpectTimed(want ...Timed[T]) {
	expect(o, "timed values", want, func(e core.Element[T]) Timed[T] { return Timed[T]{e.Value, e.Time} })
}

// ExpectElements expects exactly these elements by now, in any order; delivery
// references are not compared.
func (o *Output[T]) ExpectElements(want ...core.Element[T]) {
	expect(o, "elements", want, func(e core.Element[T]) core.Element[T] { e.Ref = 0; return e })
}

func expect[T, V any](o *Output[T], what string, want []V, of func(core.Element[T]) V) {
	o.c.Check(fmt.Sprintf("%s: expect the %s %v", o.name, what, want), func() error {
		var got []V
		for _, e := range o.Elements() {
			got = append(got, of(e))
		}
		if a, b := printed(got), printed(want); !slices.Equal(a, b) {
			return fmt.Errorf("%s has the %s\n\t%s\nwant\n\t%s", o.name, what, strings.Join(a, "\n\t"), strings.Join(b, "\n\t"))
		}
		return nil
	})
}

// printed compares values of any type as multisets.
func printed[V any](list []V) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf("%+v", v)
	}
	slices.Sort(out)
	return out
}

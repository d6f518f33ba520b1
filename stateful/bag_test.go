package stateful_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gosluice/sluice/stateful"
)

func TestBagReadsAreSnapshots(t *testing.T) { // S-07, S6, S7, S13
	scenario[words, string]{steps: hello(0, 97, 42, 84, 12), build: lines(func(d *decl) doFn {
		bag := stateful.Bag[int](d, "bag")
		return doFn{Process: func(_ ctx, e elem, out out) error {
			empty := bag.IsEmpty()
			bag.Add(e.Value.Value)
			if empty.Read() {
				out.Emit("empty after an add")
			}
			r := bag.Read()
			if len(r) < 4 {
				return nil
			}
			bag.Add(-1)
			out.Emit(fmt.Sprint(len(r), len(bag.ReadLater().Read())))
			slices.Sort(r)
			out.Emit(fmt.Sprint(r))
			return nil
		}}
	})}.inOrder(t, "4 5", "[12 42 84 97]")
}

func TestBagIsEmpty(t *testing.T) { // S-08, S13
	scenario[words, string]{steps: hello(0, 1), build: lines(func(d *decl) doFn {
		bag := stateful.Bag[string](d, "bag")
		return doFn{Process: func(_ ctx, _ elem, out out) error {
			f := bag.IsEmpty()
			say := func() { out.Emit(fmt.Sprint(f.Read(), f.ReadLater().Read(), bag.Read())) }
			say()
			bag.Add("a")
			bag.Add("a")
			bag.Add("")
			say()
			bag.Clear()
			say()
			bag.Add("b")
			say()
			return nil
		}}
	})}.inOrder(t, "true true []", "false false [a a ]", "true true []", "false false [b]")
}

func TestBagCopiesWhatIsAdded(t *testing.T) { // S6
	scenario[words, string]{steps: hello(0, 1, 2), build: lines(func(d *decl) doFn {
		bag := stateful.Bag[[]byte](d, "bag")
		return doFn{Process: func(_ ctx, _ elem, out out) error {
			b := []byte("x")
			bag.Add(b)
			b[0] = 'y'
			r := bag.Read()
			out.Emit(fmt.Sprintf("%s", r))
			r[0][0] = 'z'
			return nil
		}}
	})}.inOrder(t, "[x]", "[x x]")
}

func TestBagIsRead(t *testing.T) { // S19: under the type that a bag and a combining cell share
	scenario[words, string]{steps: hello(0, 1, 2), build: lines(func(d *decl) doFn {
		var group stateful.Grouping[int, []int] = stateful.Bag[int](d, "bag")
		return doFn{Process: func(_ ctx, e elem, out out) error {
			group.Add(e.Value.Value)
			out.Emit(fmt.Sprint(group.Read(), group.IsEmpty().Read()))
			return nil
		}}
	})}.inOrder(t, "[1] false", "[1 2] false")
}

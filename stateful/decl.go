package stateful

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/coder"
	"github.com/gosluice/sluice/core/store"
)

// Decl takes the declarations of one DoFn on one worker. It is of use in the
// declaring function of [ParDo] only.
type Decl[K, V, O any] struct {
	declarations
	ctx *callContext[K]
	out *core.Out[O]
}

// Declarer is a [Decl] of any types: where a cell can be declared.
type Declarer interface{ declared() *declarations }

// declarations are the cells and timers of a DoFn, in the order they were declared.
type declarations struct {
	scope    *scope
	timers   *schedule
	cells    []cell
	byName   map[string]cell
	problems []error
	// over: the declaring function has returned.
	over bool
}

// cell is a declared cell or timer as the head sees it.
type cell interface {
	// format names the cell's kind and coder: another format cannot read its rows.
	format() string
	// load takes a row of e in; sub is the rest of its key.
	load(e *entry, sub string, r store.Row) error
}

// place is a cell's name and the number of its slots.
type place struct {
	scope *scope
	name  string
	slot  int
	// prefix begins what a row's key has after window and key.
	prefix []byte
}

func newDecl[K, V, O any](ctx *callContext[K]) *Decl[K, V, O] {
	d := &Decl[K, V, O]{ctx: ctx, out: &core.Out[O]{}}
	d.scope, d.byName, d.timers = ctx.scope, map[string]cell{}, &schedule{}
	return d
}

func (d *declarations) declared() *declarations { return d }

// add takes the cell that make makes in under name.
func (d *declarations) add(name string, make func(place) cell) {
	if d.over {
		panic(fmt.Sprintf("stateful: cell %q is declared after the declaring function has returned", name))
	}
	if problem := judgeName(name); problem != "" {
		d.problem("cell %q: %s", name, problem)
	}
	if d.byName[name] != nil {
		d.problem("cell %q is declared twice", name)
	}
	c := make(place{scope: d.scope, name: name, slot: len(d.cells), prefix: coder.AppendSized(nil, []byte(name))})
	d.cells = append(d.cells, c)
	d.byName[name] = c
}

func (d *declarations) problem(format string, args ...any) {
	d.problems = append(d.problems, fmt.Errorf(format, args...))
}

// judgeName says what is wrong with a cell's name, "" if nothing. It is part of
// what is stored, and of messages.
func judgeName(name string) string {
	const most = 100
	switch {
	case name == "":
		return "a cell needs a name"
	case len(name) > most:
		return fmt.Sprintf("a name has at most %d bytes", most)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }):
		return "a name is printable UTF-8"
	}
	return ""
}

// format lists the cells, sorted by name: the order of declarations may change.
func (d *declarations) format() string {
	parts := make([]string, 0, len(d.cells))
	for name, c := range d.byName {
		if strings.ContainsAny(name, `",;=()`) {
			name = strconv.Quote(name)
		}
		parts = append(parts, name+"="+c.format())
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// declareCoder is the coder given for a cell, or the one inferred from T.
func declareCoder[T any](d *declarations, name string, given []coder.Coder[T]) coder.Coder[T] {
	if len(given) > 1 {
		d.problem("cell %q: %d coders", name, len(given))
	}
	if len(given) > 0 {
		if err := given[0].Validate(); err != nil {
			d.problem("cell %q: %w", name, err)
		}
		return given[0]
	}
	c, err := coder.For[T]()
	if err != nil {
		d.problem("cell %q: %w", name, err)
	}
	return c
}

package coretest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gosluice/sluice/core/fault"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/sinks"
)

// files is a store of objects: temporary ones that nobody looks at, and published
// ones. It implements [sinks.Stager] and survives crashes.
type files struct {
	r     *rig
	name  string
	temps map[string][]order
	final map[string]file
	names []string // of final, in the order they appeared
	next  int
	// mayLeave: a crash, or a call whose outcome was lost, may have left temporary
	// objects that only the next start removes.
	mayLeave bool
}

// file is a published object.
type file struct {
	window window.Window
	temp   string
	orders []order
}

// written is the result of one file.
type written struct {
	Name   string
	Window window.Window
	Orders int
}

// fileToken is what Stage leaves for Publish.
type fileToken struct {
	Store, Temp string
	Window      window.Window
	Orders      int
}

func newFiles(r *rig, name string) *files {
	return &files{r: r, name: name, temps: map[string][]order{}, final: map[string]file{}}
}

func (f *files) Stage(ctx context.Context, b sinks.Batch[order]) (sinks.Staged, error) {
	f.next++
	t := fileToken{Store: f.name, Temp: fmt.Sprintf("temp-%d", f.next), Window: b.Window, Orders: b.Len}
	var list []order
	for rec, err := range b.All {
		if err != nil {
			return sinks.Staged{}, err
		}
		list = append(list, rec.Value)
	}
	if len(list) != b.Len && ctx.Err() == nil {
		f.r.fail("%s: a batch of %d records yields %d", f.name, b.Len, len(list))
	}
	f.temps[t.Temp] = list
	token, err := json.Marshal(t)
	return sinks.Staged{Token: token}, err
}

// Publish renames the temporary object: once, after the commit of its token.
func (f *files) Publish(_ context.Context, id sinks.EffectID, token sinks.Token) (out sinks.Outcome[written], err error) {
	var t fileToken
	if err := json.Unmarshal(token, &t); err != nil {
		return out, err
	}
	name := id.String()
	if old, ok := f.final[name]; ok {
		if old.temp != t.Temp {
			f.r.fail("%s: %s is published again with other content", f.name, name)
		}
		return f.result(name), nil
	}
	list, ok := f.temps[t.Temp]
	if !ok {
		return out, fault.Errorf(fault.Permanent, "%s: %s is gone before it was published", f.name, t.Temp)
	}
	if !f.r.pendingEffect(token) {
		f.r.fail("%s: %s is published before its commit", f.name, name)
	}
	if len(list) != t.Orders {
		f.r.fail("%s: %s has %d of %d orders", f.name, name, len(list), t.Orders)
	}
	delete(f.temps, t.Temp)
	f.final[name] = file{t.Window, t.Temp, list}
	f.names = append(f.names, name)
	return f.result(name), nil
}

func (f *files) result(name string) sinks.Outcome[written] {
	x := f.final[name]
	return sinks.Outcome[written]{Results: []written{{name, x.window, len(x.orders)}}}
}

func (f *files) Discard(_ context.Context, token sinks.Token) error {
	var t fileToken
	if err := json.Unmarshal(token, &t); err != nil {
		return err
	}
	if f.r.store != nil && f.r.pendingEffect(token) {
		f.r.fail("%s: %s is discarded and pending", f.name, t.Temp)
	}
	delete(f.temps, t.Temp)
	return nil
}

func (f *files) Recover(_ context.Context, pending []sinks.Token) error {
	var keep []string
	for _, token := range pending {
		var t fileToken
		if err := json.Unmarshal(token, &t); err != nil {
			return err
		}
		keep = append(keep, t.Temp)
	}
	for temp := range f.temps {
		if !slices.Contains(keep, temp) {
			delete(f.temps, temp)
		}
	}
	f.mayLeave = false
	return nil
}

// lost: what a process had staged and not committed is left to the next.
func (f *files) lost(bool) { f.mayLeave = true }

// in lists the orders in the published files of w.
func (f *files) in(w window.Window) (list []order) {
	for _, name := range f.names {
		if f.final[name].window == w {
			list = append(list, f.final[name].orders...)
		}
	}
	return list
}

// all lists the orders in published files.
func (f *files) all() (list []order) {
	for _, name := range f.names {
		list = append(list, f.final[name].orders...)
	}
	return list
}

// count counts every order in published files.
func (f *files) count(n map[int]int) {
	for _, name := range f.names {
		for _, o := range f.final[name].orders {
			n[o.ID]++
		}
	}
}

// clean: no temporary object is left.
func (f *files) clean() error {
	if len(f.temps) > 0 {
		return fmt.Errorf("%s: %d temporary objects are left", f.name, len(f.temps))
	}
	return nil
}

package coretest_test

import (
	"fmt"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/gating"
	"github.com/gosluice/sluice/sinks"
	"github.com/gosluice/sluice/stateful"
)

// shapes are the pipelines of the suite, from simple to the main job.
var shapes = []shape{
	{name: "stateless", storeless: true, build: stateless, check: checkRecords(1)},                    // G5, G33
	{name: "stored", build: stateless, check: checkRecords(1)},                                        // F2-F6, F14
	{name: "flatten", sources: 2, build: flatten, check: checkRecords(1)},                             // H4
	{name: "regions", sources: 2, build: regions, check: checkRecords(1)},                             //
	{name: "combine", build: combine(1), check: checkTotals},                                          // L5-L7, H1-H3
	{name: "combine-publish", build: combine(0), check: checkNotes},                                   // G35
	{name: "combine-behind", behind: true, sources: 2, build: combine(0), check: checkOnce},           // L6
	{name: "files", behind: true, build: afterWrite(false), check: checkFiles},                        // G46
	{name: "after-write", behind: true, build: afterWrite(true), check: checkAfterWrite},              // W2, W9, G83, G85, G86
	{name: "announce-in-bundle", behind: true, build: announceInBundle, check: checkAnnounced},        // W13
	{name: "after-write-flatten", sources: 2, build: afterWriteFlatten, check: checkAfterWriteInTime}, // W10, W15
}

// stateless: source, map, in-bundle sink.
func stateless(r *rig, p *core.Pipeline) {
	orders, _ := core.Read(p, "orders", r.brokers[0], decodeOrder, readOptions())
	called := core.ParDo(orders, "callback", r.calls.register)
	sinks.Write[order, int](called, "records", r.records, sinks.Config[order]{Records: 7})
}

// checkRecords: every order is written copies times.
func checkRecords(copies int) func(r *rig) {
	return func(r *rig) { r.atEnd = append(r.atEnd, r.records.complete(copies), r.calls.complete) }
}

// flatten: two sources into one sink.
func flatten(r *rig, p *core.Pipeline) {
	orders, _ := core.Read(p, "orders", r.brokers[0], decodeOrder, readOptions())
	returns, _ := core.Read(p, "returns", r.brokers[1], decodeOrder, readOptions())
	both := core.ParDo(core.Flatten("both", orders, returns), "callback", r.calls.register)
	sinks.Write[order, int](both, "records", r.records, sinks.Config[order]{Records: 5})
}

// regions: two pipelines that have nothing to do with one another.
func regions(r *rig, p *core.Pipeline) {
	for i, name := range []string{"orders", "returns"} {
		list, _ := core.Read(p, name, r.brokers[i], decodeOrder, readOptions())
		called := core.ParDo(list, name+"-callback", r.calls.register)
		sinks.Write[order, int](called, name+"-records", r.records, sinks.Config[order]{})
	}
}

// sum is the accumulator and result of the suite's aggregations.
type sum struct{ Count, Sum int }

var sums = stateful.CombineFn[order, sum, sum]{
	Zero:  func() sum { return sum{} },
	Add:   func(a *sum, o order) { a.Count++; a.Sum += o.Amount },
	Merge: func(a *sum, b sum) { a.Count += b.Count; a.Sum += b.Sum },
	Out:   func(a sum) sum { return a },
}

// combine: windows, aggregation by key, and a sink in the bundle or after it.
func combine(inBundle int) func(r *rig, p *core.Pipeline) {
	return func(r *rig, p *core.Pipeline) {
		var all []core.PCollection[order]
		for _, f := range r.brokers {
			orders, _ := core.Read(p, f.name, f, decodeOrder, readOptions())
			all = append(all, orders)
		}
		orders := all[0]
		if len(all) > 1 {
			orders = core.Flatten("both", all[0], all[1:]...)
		}
		keyed := core.Map(core.WindowInto(orders, "minute", minutes), "key", func(o order) core.KV[int, order] {
			return core.KV[int, order]{Key: o.key(), Value: o}
		})
		notes := core.ParDo(stateful.CombinePerKey(keyed, "sum", sums), "note",
			func(_ core.Context, e *core.Element[core.KV[int, sum]], out *core.Out[note]) error {
				out.Emit(note{e.Value.Key, e.Window, e.Value.Value.Count, e.Value.Value.Sum})
				return nil
			})
		if inBundle > 0 {
			sinks.Write[note, int](notes, "totals", r.totals, sinks.Config[note]{Records: 3})
		} else {
			sinks.Publish(notes, "notify", r.notes, encodeNote, sinks.Config[note]{})
		}
	}
}

func checkTotals(r *rig) {
	r.atEnd = append(r.atEnd, func() error { return sameAs(r.totals.rows, model(r.all(), order.key)) })
}

func checkNotes(r *rig) {
	checkOnce(r)
	r.atEnd = append(r.atEnd, func() error { return sameAs(r.notes.byCell(), model(r.all(), order.key)) })
}

// checkOnce: no key and window is spoken of twice; what is late was dropped.
func checkOnce(r *rig) { r.atEnd = append(r.atEnd, r.notes.once) }

// afterWrite is the main job: orders into files of one minute, then a summary of
// each minute, published when all its files are there. Late orders go to files of
// their own.
func afterWrite(notify bool) func(r *rig, p *core.Pipeline) {
	return func(r *rig, p *core.Pipeline) {
		orders, _ := core.Read(p, "orders", r.brokers[0], decodeOrder, readOptions())
		inTime, late := core.WindowIntoWithLate(orders, "minute", minutes)
		cfg := sinks.Config[order]{Records: 9}
		if r.random.IntN(2) == 0 {
			cfg = sinks.Config[order]{Destination: func(o order) string { return fmt.Sprint(o.ID % 3) }}
		}
		result := sinks.WriteAfterCommit[order, written](inTime, "files", r.files, cfg)
		sinks.WriteAfterCommit[order, written](late, "late-files", r.late, sinks.Config[order]{})
		if notify {
			announce(r, inTime, result)
		}
	}
}

// announceInBundle writes and announces in the bundle: at least once, and before the
// commit of what the announcement is based on if the gate were to allow it.
func announceInBundle(r *rig, p *core.Pipeline) {
	orders, _ := core.Read(p, "orders", r.brokers[0], decodeOrder, readOptions())
	inTime, _ := core.WindowIntoWithLate(orders, "minute", minutes)
	result := sinks.Write[order, int](inTime, "records", r.records, sinks.Config[order]{Records: 9})
	sinks.Write[note, int](summaries(inTime, result), "totals", r.totals, sinks.Config[note]{})
}

// checkAnnounced: whatever was ever announced was all there was to it.
func checkAnnounced(r *rig) {
	r.totals.keepAll = true
	r.atEnd = append(r.atEnd, func() error {
		want := model(r.records.all(), func(order) int { return 0 })
		for _, n := range r.totals.all {
			if want[cell{window: n.Window}] != n {
				return fmt.Errorf("%+v was announced, the table has %+v", n, want[cell{window: n.Window}])
			}
		}
		return sameAs(r.totals.rows, want)
	})
}

func announce(r *rig, inTime core.PCollection[order], results ...gating.Result) {
	sinks.Publish(summaries(inTime, results...), "notify", r.notes, encodeNote, sinks.Config[note]{})
}

func summaries(inTime core.PCollection[order], results ...gating.Result) core.PCollection[note] {
	summary := stateful.CombineGlobally(inTime, "summary", sums)
	ready := gating.After(summary, "after-files", results...)
	return core.ParDo(ready, "note", func(_ core.Context, e *core.Element[sum], out *core.Out[note]) error {
		out.Emit(note{Window: e.Window, Count: e.Value.Count, Sum: e.Value.Sum})
		return nil
	})
}

// checkFiles: every order is in exactly one published file, in that of its window
// unless it may be late.
func checkFiles(r *rig) {
	r.atEnd = append(r.atEnd, r.files.clean, r.late.clean, func() error {
		inTime, late := map[int]int{}, map[int]int{}
		r.files.count(inTime)
		r.late.count(late)
		for _, o := range r.all() {
			if n := inTime[o.ID] + late[o.ID]; n != 1 || late[o.ID] == 1 && !o.Behind {
				return fmt.Errorf("order %+v is in %d files and %d late files", o, inTime[o.ID], late[o.ID])
			}
		}
		for _, name := range r.files.names {
			for _, o := range r.files.final[name].orders {
				if w := r.files.final[name].window; o.window() != w {
					return fmt.Errorf("order %+v is in file %s of %v", o, name, w)
				}
			}
		}
		return nil
	})
}

// checkAfterWrite: a minute is announced once, when all its files are there.
func checkAfterWrite(r *rig) {
	checkFiles(r)
	announced := map[cell]note{}
	r.notes.onNote = func(n note) {
		got := note{Window: n.Window}
		for _, o := range r.files.in(n.Window) {
			got.Count++
			got.Sum += o.Amount
		}
		if got != n {
			r.fail("%+v is announced, the files have %+v", n, got)
		}
		announced[cell{window: n.Window}] = n
	}
	r.atEnd = append(r.atEnd, r.notes.once, func() error {
		return sameAs(announced, model(r.files.all(), func(order) int { return 0 }))
	})
}

// afterWriteFlatten: the main job with two sources, and a gate that waits for two
// sinks.
func afterWriteFlatten(r *rig, p *core.Pipeline) {
	orders, _ := core.Read(p, "orders", r.brokers[0], decodeOrder, readOptions())
	returns, _ := core.Read(p, "returns", r.brokers[1], decodeOrder, readOptions())
	minute := core.WindowInto(core.Flatten("both", orders, returns), "minute", minutes)
	first := sinks.WriteAfterCommit[order, written](minute, "files", r.files, sinks.Config[order]{Records: 9})
	second := sinks.Write[order, int](minute, "records", r.records, sinks.Config[order]{})
	announce(r, minute, first, second)
}

func checkAfterWriteInTime(r *rig) {
	checkAfterWrite(r)
	r.atEnd = append(r.atEnd, r.records.complete(1))
}

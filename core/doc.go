// Package core answers the question "what shall be done with the messages, and what
// does it mean that one is acknowledged?". Its main noun is [Pipeline]: a graph of
// transforms that produce and consume collections ([PCollection]).
//
// The life of a pipeline: it is built by generic functions ([Read], [Map], [ParDo],
// [WindowInto], and those of packages stateful, gating and sinks); [Pipeline.Validate]
// lists all mistakes of the graph; [Run] opens the store, compiles the graph into
// stages and runs them until the sources end, or [Start] does and the caller ends it
// with Stop or Drain.
//
// The life of an element: a message is decoded into one; transforms map it to
// others, which keep its time, window and the reference to its delivery; what it
// leads to becomes durable with the commit of its epoch; after the commit the
// finalizers run and the message is acknowledged.
//
// Invariants:
//  1. A message is settled only after the commit of the epoch that read it.
//  2. What a failing call emitted or changed never counts.
//  3. Nothing is lost without a count, a log line and a place where it can be found.
//  4. Building starts nothing; all mistakes of a graph are one error, before
//     anything is read.
//
// Goroutines: those of the driver, from Start to the return of Wait, and one that
// waits for it and reports progress. User code runs on them; the same DoFn instance
// never on two at once.
package core

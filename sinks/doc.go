// Package sinks answers the question "what was written, and what was not?". Its
// main noun is [WriteResult]: what a sink wrote and what it could not write, as
// collections, so that others can wait for them.
//
// Two ways to write:
//   - in bundle ([Write]): before the commit, at least once;
//   - after commit ([WriteAfterCommit], [Publish]): staged in the bundle, committed
//     as a pending effect, made visible after the commit; exactly once where the
//     target allows it.
//
// The life of a batch after commit: records of one destination and window gather
// over any number of epochs, as held rows once their epoch is committed; when the
// window ends (or a limit is reached) they are staged; the token becomes a pending
// effect with the epoch; after the commit it is published, repeatedly if need be;
// the completion enters a later epoch, which emits the results and deletes the rows.
//
// Invariants:
//  1. A batch is staged from rows that do not change: what comes later is another
//     batch.
//  2. Nothing is published before the epoch that staged it is committed, and never
//     under another ID than the first time.
//  3. The sink's output watermark stays behind every record whose fate is unknown;
//     so a signal of the result finishes for a window when every record of it has
//     been written or has failed for good, zero records included (W15).
//  4. Every record is in exactly one batch, and in its results or among Failed.
//
// The package owns no goroutines; writers are called by the engine's driver.
package sinks

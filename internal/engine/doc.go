// Package engine answers the question "what happens next?" for a running
// pipeline. Its main noun is [Region]: stages whose workers ([Task]) advance by
// non-blocking steps and become durable together.
//
// The life of an epoch: tasks fill bundles; the region's coordinator closes the
// epoch by asking the source tasks for a barrier; each task, when the barrier has
// come in on all its inputs, finishes its bundle, hands over a [Report] and goes
// on filling the next epoch; when all have reported, the region asks for the
// commit; after the commit the epoch's finalizers run, its effects start, its
// deliveries are settled.
//
// The engine starts no goroutine, reads no clock, draws no random number and
// iterates no map on a path that reaches output. It calls out through [Ports]
// only. Everything of a task is touched by that task's step alone, everything of
// a region by the region's step; they talk through mailboxes and queues.
//
// Invariants:
//  1. At most two epochs are in flight: one committing, one filling. The barrier
//     of e+1 is not sent before commit e is known.
//  2. Commits are in order; nothing of an epoch is settled, finalized or
//     published before its commit.
//  3. An input whose barrier has arrived is not popped until all inputs' have.
//  4. A watermark follows the elements it covers in the same queue.
//  5. An abort discards every task of the region; readers, ledgers, pending
//     effects and registered finalizers of committed epochs outlive it.
//  6. A gate opens on committed watermarks only.
package engine

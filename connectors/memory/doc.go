// Package memory is a message queue in memory: the reference implementation of the
// source contract, and a broker for tests that can be asked what it was told.
//
// Its main noun is [Queue]: a broker with named channels, and itself a
// [source.Source]. A message is published to a channel, delivered with a lease,
// settled or delivered again; every verdict is recorded ([Queue.Record],
// [Queue.Events]). [Publisher] is the other direction.
//
// Invariants:
//  1. Without [Faults], a message is delivered again only after its lease ran out,
//     after a Nack, or when a new reader opens.
//  2. First deliveries of a channel come in position order.
//  3. The same calls with the same clock and random source give the same
//     deliveries: no map is iterated, no clock but Config.Now is read, and there
//     are no goroutines.
//  4. What was acked or terminated is never delivered again; in a contiguous queue
//     that holds for all up to the position acked.
//
// It does not persist anything, and it does not block: a reader that finds nothing
// is woken when there is something. With a clock of the caller's own, the caller
// says when time has passed ([Queue.Tick]); else a timer does.
//
// Goroutines: none. Wake is called by whoever publishes, settles or ticks; by a
// timer of the runtime where Config.Now is nil and a lease runs out or a delay ends.
package memory

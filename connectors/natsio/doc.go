// Package natsio answers the question "how does a pipeline read a JetStream stream,
// and publish to one, so that its acknowledgements can be trusted?".
//
// [Source] reads through a pull consumer; [Publisher] publishes with message IDs.
// Both use the caller's connection and never close it.
//
// # The life of a delivery
//
// The pulling goroutine keeps one to two requests open at the broker. Deliveries
// come through one subscription into a channel of the NATS client; Poll takes them
// from there. It parses the ack subject, the only place where position, attempt,
// time and backlog are written, and keeps the *nats.Msg as handle. After the commit
// Settle publishes the verdicts without waiting and asks for one confirmation at
// the end: the broker handles the acknowledgements of one connection in order, so
// the last confirmation confirms all before it.
//
// # Invariants
//
//  1. The channel cannot overflow (the client would drop the delivery): what is
//     asked for and not yet taken out never exceeds its capacity.
//  2. Who takes out of the channel: Poll, unless the receiving goroutine waits on
//     it (armed); then only that. So the order of arrival is kept.
//  3. A consumer sequence that is skipped was sent and never arrived (the connection
//     broke). An exclusive reader hands nothing on from behind the hole until what
//     was lost has been asked back: else the watermark would pass it, and an
//     acknowledgement of all up to a position (AckAll) would lose it.
//  4. What was received and not polled keeps its lease, however long that takes.
//  5. Close gives back all that was received and not polled, what arrives while it
//     runs included.
//
// # What it does not do
//
// Acknowledgements carry no fencing: the broker takes the one of an earlier
// delivery after it has delivered the message again. An acknowledgement, negative
// ones included, that was written when the connection broke may reach the broker
// after it came back (the client's reconnect buffer); it belongs to a message that
// was settled that way, so it does no harm. Deliveries beyond MaxDeliver are
// dropped by the broker; leave it unlimited.
//
// # Goroutines
//
//	name        started by  stopped by  may touch
//	receive     Open        Close       the channel while armed
//	pull        Open        Close       requests, leases of what is queued
//	watch       Open        Close       consumer information
//	confirm     Open        Close       (the client's, of the subscription for confirmations)
//	call        Settle,     its end     one pipelined write, so that the caller can
//	            Extend,                 give up waiting for a connection that takes
//	            Close,                  no bytes
//	            Publish
package natsio

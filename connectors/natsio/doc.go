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
//  3. A delivery number that is skipped was sent and never arrived (the connection
//     broke). An exclusive reader hands nothing on from behind such a hole but
//     rewinds: else the watermark would pass what was lost, and an acknowledgement
//     of all up to a position (AckAll) would lose it for good. A reader that shares
//     its consumer cannot see holes; what was lost comes again after its AckWait.
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
// # Why not Fetch or Consume
//
// The client's Consume and Messages can stall for 30 s in process; a loop of Fetch
// costs 1.5 times as much per message (a subscription and a goroutine per request,
// and a channel more), and of two overlapping Fetches the broker serves one message
// each in turn, so that their order would have to be put together again. Requests
// that share one subscription have neither trouble.
//
// # Goroutines
//
//	name        started by  stopped by  may touch
//	receive     Open        Close       the channel while armed
//	pull        Open        Close       requests, leases of what is queued
//	watch       Open        Close       consumer information, the subscription
//	confirm     Open        Close       confirmations (the client's goroutine)
//	write       Settle,     its end     one pipelined write, so that the caller can
//	            Extend, Open            give up on a connection that takes no bytes
//	close       Close       its end     the end, for the same reason
//	publish     Publish     its end     one call of Publish
//
// What they share is in one struct under one lock (guarded), which is never held
// while the client or the engine is called.
package natsio

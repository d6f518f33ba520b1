// Package acks answers one question: when may a message be acknowledged? After
// everything it caused is durable, and then surely. It works in any consumer loop
// and imports nothing but the standard library and a backoff.
//
// Its main noun is the delivery, held by a [Ledger] from receipt until the broker
// has confirmed what became of it:
//
//	Receive ──▶ Take ──▶ Commit ──▶ Due ──▶ Settled
//	   ▲          │                  ▲        │
//	   │       Abort                 └────────┘ SettleFailed
//	   │          ▼
//	   └────── Replay
//
// A loop takes deliveries into numbered epochs, makes what they caused durable
// together with the [Mark] of each channel, says Commit, and tells the broker what
// is Due. After a crash it starts its channels from the marks: the ledger then
// knows which redelivered messages are done with and has them settled again.
//
// A [Registry] holds what else shall happen after the commit, with expiry and
// retries; a [LeaseKeeper] finds the leases that run out before it.
//
// # Invariants
//
//  1. Nothing is due before the epoch that read it is committed, nor is a verdict
//     final before that. An abort leaves nothing behind.
//  2. What is held is never dropped but for a confirmation, the loss of its lease
//     or channel, or another delivery of the same message.
//  3. A position that is committed is never New again, in this run or in a later
//     one that starts from a mark; one that is not committed is never settled with
//     Ack.
//  4. A mark never takes back what an earlier one committed.
//  5. Contiguous channels are never settled at or above a position that is not
//     committed, nor below one that the broker has confirmed.
//  6. A callback runs only after its bundle is committed, at most once with success,
//     never after its expiry; if it never runs, it is counted.
//
// What an invariant of a channel rests on is said where channels are kept
// (channel.go).
//
// # What it does not do
//
// It starts no goroutine, reads no clock (every method that needs the time is given
// it) and draws no random number (jitter is a function of the caller's). It talks to
// no broker and stores nothing: payloads, files and connections are the caller's. It
// relies on two things: the first deliveries of a channel come in position order,
// and settling a delivery twice does no harm.
package acks

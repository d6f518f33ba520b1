// Package pubsubio answers the question "how does a message get to Google Cloud
// Pub/Sub, and how do we know?". Its main noun is [Publisher], a sinks.Publisher
// for one topic.
//
// The life of a call of Publish: every message is checked against the service's
// limits; the rest is split into lanes, one per ordering key and one for the
// messages without; a lane is sent as one request after another, at once and with
// nothing waited for; each message ends as confirmed by the server or as failed.
//
// It calls the service through the client's publish method
// (TopicAdminClient.Publish), not through the client's own Publisher. That one
// sends from goroutines that outlive the call (a message whose context ended was
// sent up to a minute later, when the server was back), waits 10 ms for more
// messages or needs a Flush of all callers, retries unseen for a minute, and stops
// a key until it is resumed. Here a call has no state that a later call meets.
//
// Invariants:
//  1. Nothing of a call is sent after Publish returned: each request ends with it.
//  2. Every message of a call is in exactly one of the two results, by ID.
//  3. A request is tried once. The framework repeats what failed, under the same
//     ID, which travels in the attribute sinks.AttributeID. The service does not
//     deduplicate: receivers may see an ID twice.
//  4. Of one key nothing is sent after a message of it that is worth a retry: the
//     later ones fail as Transient, so that a retry of all failures, in order,
//     keeps the order. A call has one request of a key under way at a time. Two
//     calls with one key are the caller's to order.
//  5. Permanent is a verdict on one message, never on its neighbours: a request
//     that the service calls invalid is halved until the culprit stands alone.
//  6. A missing topic, missing rights and quotas are Transient: an operator can
//     mend them, and no message is given up for them.
//
// What it does not do: create topics, compress, close the client.
//
// Goroutines:
//
//	name   started by                          stopped by       touches
//	lane   Publish, one for each lane beyond   return of the    the results of its own
//	       the first, Lanes at most            same Publish     messages
//
// The client's connection has goroutines of its own; they are the caller's.
package pubsubio

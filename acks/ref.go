package acks

import "fmt"

// Channel is a source's unit of order: a partition, a stream consumer, an
// ordering key. Channels are small numbers that the caller hands out, from 0.
type Channel uint16

// Position orders the deliveries of one channel: a stream sequence, an offset
// plus one. It is at least 1 and at most [MaxPosition].
type Position uint64

// MaxPosition is the highest position that fits into a [Ref].
const MaxPosition Position = 1<<positionBits - 1

const positionBits = 48

// Ref names one delivery of a ledger in 8 bytes, so that elements can carry it.
// Zero names none.
type Ref uint64

// MakeRef names the delivery at pos of ch. pos must be in 1..MaxPosition.
func MakeRef(ch Channel, pos Position) Ref {
	return Ref(ch)<<positionBits | Ref(pos)
}

// Channel is the channel of the delivery.
func (r Ref) Channel() Channel { return Channel(r >> positionBits) }

// Position is the delivery's position in its channel.
func (r Ref) Position() Position { return Position(r) & MaxPosition }

// String shows channel and position: "3/918".
func (r Ref) String() string {
	if r == 0 {
		return "none"
	}
	return fmt.Sprintf("%d/%d", r.Channel(), r.Position())
}

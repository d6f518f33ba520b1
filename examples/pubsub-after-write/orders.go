package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gosluice/sluice/core"
)

// Order is what is in the queue.
type Order struct {
	ID     int       `json:"id"`
	Region string    `json:"region"`
	At     time.Time `json:"at"`
	Cents  int64     `json:"cents"`
}

var regions = [...]string{"north", "east", "south", "west"}

// The sample orders: about 33 a second of event time, so that 10,000 of them span
// five minutes; each up to two seconds out of order, and about one in a thousand
// late.
const (
	orderEvery = 30 * time.Millisecond
	jitter     = 2 * time.Second
	outOfOrder = 3 * time.Second
	lateEvery  = 997
	lateBy     = 3 * time.Minute
)

var firstOrder = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// sample is order number id, from 1: the same at every run.
func sample(id int) Order {
	h := mix(uint64(id))
	at := firstOrder.Add(time.Duration(id)*orderEvery - time.Duration(h%uint64(jitter)))
	if id%lateEvery == 0 {
		at = at.Add(-lateBy)
	}
	return Order{ID: id, Region: regions[h>>32%uint64(len(regions))], At: at.Truncate(time.Millisecond), Cents: int64(h>>40%100_000) + 100}
}

// mix spreads the bits of x.
func mix(x uint64) uint64 {
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// decode reads an order; what it refuses goes to the dead letter file.
func decode(m core.Message) (Order, error) {
	var o Order
	if err := json.Unmarshal(m.Data, &o); err != nil {
		return o, err
	}
	if o.ID <= 0 || o.Region == "" || o.At.IsZero() {
		return o, fmt.Errorf("order lacks id, region or time")
	}
	return o, nil
}

package acks_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gosluice/sluice/acks"
)

// broker is a queue in memory. It delivers what is not acknowledged again whenever
// a consumer connects.
type broker struct {
	messages  []string
	acked     map[acks.Position]bool
	delivered acks.Position
}

func (b *broker) outstanding() (n int) {
	for p := acks.Position(1); p <= b.delivered; p++ {
		if !b.acked[p] {
			n++
		}
	}
	return n
}

// disk is what survives: lines and the mark, written at once.
type disk struct {
	lines []string
	mark  []byte
}

// consume is one run of a consumer: it reads what the broker has, writes it in one
// batch, and acknowledges it afterwards, unless it crashes in between.
func consume(b *broker, d *disk, now time.Time, crash bool) error {
	ledger := acks.NewLedger[string](acks.Individual)
	finalizers := acks.NewRegistry(acks.RegistryOptions{})
	start := acks.Start{Through: b.delivered, Outstanding: b.outstanding()}
	if d.mark != nil {
		mark, err := acks.ParseMark(d.mark)
		if err != nil {
			return err
		}
		start.Mark = mark
	}
	if err := ledger.StartChannel(0, start); err != nil {
		return err
	}

	// Read: one epoch, one bundle.
	const epoch = 1
	var batch []string
	var after acks.Callbacks
	for i, text := range b.messages {
		pos := acks.Position(i + 1)
		if b.acked[pos] {
			continue
		}
		b.delivered = max(b.delivered, pos)
		switch _, arrival := ledger.TakeNew(0, pos, text, len(text), now, epoch); arrival {
		case acks.New:
			batch = append(batch, text)
		case acks.Committed:
			fmt.Println("  on disk already:", text)
		}
	}
	after.Add(acks.Callback{
		Name: "announce", Expiry: now.Add(time.Minute),
		Fn: func(context.Context) error { fmt.Println("  announced", len(batch)); return nil },
	})
	if err := finalizers.Register(epoch, after.Take()); err != nil {
		return err
	}

	// Commit: what the batch caused and the mark, together.
	mark, err := ledger.Mark(0, epoch).AppendBinary(nil)
	if err != nil {
		return err
	}
	d.lines, d.mark = append(d.lines, batch...), mark
	fmt.Println("  written:", batch)
	if crash {
		fmt.Println("  crash before the acks")
		return nil
	}
	ledger.Commit(epoch)

	// Acknowledge, and whatever else waits for the commit.
	due := ledger.Due(nil, 0)
	for _, s := range due {
		b.acked[s.Ref.Position()] = true
	}
	ledger.Settled(due)
	fmt.Printf("  acked %d, %d unsettled\n", len(due), ledger.Stats().Unsettled)
	return finalizers.Finalize(context.Background(), epoch, now)
}

// A consumer that acknowledges after its write survives a crash between the two:
// the message comes again, is known, and is not written twice.
func Example() {
	now := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
	b := &broker{messages: []string{"a", "b", "c"}, acked: map[acks.Position]bool{}}
	var d disk

	fmt.Println("first run")
	if err := consume(b, &d, now, true); err != nil {
		fmt.Println(err)
	}
	b.messages = append(b.messages, "d")
	fmt.Println("second run")
	if err := consume(b, &d, now, false); err != nil {
		fmt.Println(err)
	}
	fmt.Println("on disk:", d.lines)
	// Output:
	// first run
	//   written: [a b c]
	//   crash before the acks
	// second run
	//   on disk already: a
	//   on disk already: b
	//   on disk already: c
	//   written: [d]
	//   acked 4, 0 unsettled
	//   announced 1
	// on disk: [a b c d]
}

// The effective lease is what the broker grants, but no extension asks for more
// than the maximum (G22, G23).
func ExampleLeaseKeeper() {
	ledger := acks.NewLedger[string](acks.Individual)
	lease := acks.Lease{Duration: time.Minute, MaxExtension: 15 * time.Second}
	keeper := acks.NewLeaseKeeper(ledger, lease, nil)
	fmt.Println("granted", lease.Duration, "extended by", lease.Extension())

	received := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
	if err := ledger.StartChannel(0, acks.Start{}); err != nil {
		fmt.Println(err)
	}
	ledger.Receive(0, 1, "slow", 4, received)
	for range 3 {
		at := keeper.Next()
		for _, e := range keeper.Due(nil, 100, at) {
			fmt.Println("after", at.Sub(received), "extend", e.Payload, "for", e.For)
		}
	}
	// Output:
	// granted 1m0s extended by 15s
	// after 55s extend slow for 15s
	// after 1m5s extend slow for 15s
	// after 1m15s extend slow for 15s
}

// A registry driven step by step: the caller runs what Next returns.
func ExampleRegistry() {
	now := time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)
	registry := acks.NewRegistry(acks.RegistryOptions{RetryFirst: time.Second})
	attempts := 0
	err := registry.Register(1, []acks.Callback{{
		Name: "notify", Expiry: now.Add(time.Minute),
		Fn: func(context.Context) error {
			if attempts++; attempts == 1 {
				return fmt.Errorf("attempt %d failed", attempts)
			}
			return nil
		},
	}})
	if err != nil {
		fmt.Println(err)
	}
	registry.Committed(1)
	for {
		run, wake := registry.Next(now)
		for _, p := range run {
			err := p.Fn(context.Background())
			fmt.Println(p.Name, p.Attempt, err)
			registry.Done(p, err, now)
		}
		switch {
		case len(run) > 0:
		case wake.IsZero():
			fmt.Printf("%d done\n", registry.Stats().Done)
			return
		default:
			fmt.Println("wait", wake.Sub(now))
			now = wake
		}
	}
	// Output:
	// notify 1 attempt 1 failed
	// wait 1s
	// notify 2 <nil>
	// 1 done
}

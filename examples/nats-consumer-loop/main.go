// Command nats-consumer-loop shows package acks in a plain nats.go pull loop,
// without the rest of Sluice: messages are acknowledged only after the file that
// holds them is on disk, and a crash between the two writes nothing twice.
//
// It starts an embedded NATS server, publishes some messages, and consumes them
// twice: the first consumer dies after a file was written and before its messages
// were acknowledged, the second takes over. It ends with a summary, in seconds.
//
//	go run ./examples/nats-consumer-loop
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

const (
	messages  = 2000
	batchSize = 256
	// dieAfter is how many files the first consumer writes.
	dieAfter = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := runInTemp(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "nats-consumer-loop:", err)
		os.Exit(1)
	}
}

func runInTemp(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "nats-consumer-loop-")
	if err != nil {
		return err
	}
	return errors.Join(run(ctx, dir, out), os.RemoveAll(dir))
}

func run(ctx context.Context, dir string, out io.Writer) error {
	queue, err := startQueue(ctx, filepath.Join(dir, "queue"))
	if err != nil {
		return err
	}
	defer queue.stop()
	if err := queue.publish(ctx, messages); err != nil {
		return err
	}
	files, err := openFiles(filepath.Join(dir, "files"))
	if err != nil {
		return err
	}
	var total counts
	for _, dies := range []int{dieAfter, 0} {
		c, err := newConsumer(ctx, queue, files)
		if err != nil {
			return err
		}
		if err := c.loop(ctx, dies); err != nil {
			return err
		}
		fmt.Fprintf(out, "consumer: %v\n", c.counts)
		total.add(c.counts)
	}
	return summarize(ctx, queue, files, total, out)
}

// summarize compares what was published with what is on disk.
func summarize(ctx context.Context, queue *queue, files *files, total counts, out io.Writer) error {
	lines, twice, err := files.count()
	if err != nil {
		return err
	}
	info, err := queue.consumer.Info(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "published %d, on disk %d, written twice %d\n", messages, lines, twice)
	fmt.Fprintf(out, "acked %d, rejected once and written later %d, copies recognised %d, left at the broker %d\n",
		total.acked, total.rejected, total.copies, info.NumAckPending+int(info.NumPending))
	return nil
}

// counts are what one consumer did.
type counts struct{ read, written, copies, acked, rejected, announced int }

func (c *counts) add(d counts) {
	c.read += d.read
	c.written += d.written
	c.copies += d.copies
	c.acked += d.acked
	c.rejected += d.rejected
	c.announced += d.announced
}

func (c counts) String() string {
	return fmt.Sprintf("read %d, wrote %d, recognised %d copies, acked %d, rejected %d, announced %d files",
		c.read, c.written, c.copies, c.acked, c.rejected, c.announced)
}

// Command pubsub-after-write does the job Sluice exists for: it reads orders from a
// queue, writes one file per minute and region, waits for the files, sends
// notifications, and only then acknowledges the orders.
//
// With no flags it brings everything it needs: an embedded NATS server with
// JetStream on disk, 10,000 sample orders, and an in-process Pub/Sub emulator.
// Everything lives in one directory; kill it at any moment and start it again, and
// it completes: every order in exactly one file, every notification after its file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/store/pebble"
)

// settings are the flags.
type settings struct {
	dir      string
	messages int
	follow   bool
	natsURL  string
	pubsub   string
	notify   string
	verbose  bool
}

func main() {
	s, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pubsub-after-write:", err)
		os.Exit(1)
	}
}

func parse(args []string) (settings, error) {
	var s settings
	f := flag.NewFlagSet("pubsub-after-write", flag.ContinueOnError)
	f.StringVar(&s.dir, "dir", "sluice-data", "`directory` where everything lives: queue, state, files")
	f.IntVar(&s.messages, "messages", 10_000, "`number` of sample orders in the stream; missing ones are published")
	f.BoolVar(&s.follow, "follow", false, "keep reading until Ctrl-C instead of ending after the last order")
	f.StringVar(&s.natsURL, "nats", "", "`URL` of a NATS server with JetStream instead of the embedded one")
	f.StringVar(&s.pubsub, "pubsub", "", "Pub/Sub topic projects/P/topics/T to notify instead of the in-process emulator's;\nwith PUBSUB_EMULATOR_HOST set, on that emulator")
	f.StringVar(&s.notify, "notify", "", "nats:SUBJECT to notify there instead of Pub/Sub")
	f.BoolVar(&s.verbose, "v", false, "log what the library does")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if err := s.validate(); err != nil {
		fmt.Fprintln(f.Output(), "pubsub-after-write:", err)
		return s, err
	}
	return s, nil
}

func (s settings) validate() error {
	var problems []error
	if s.messages < 0 {
		problems = append(problems, fmt.Errorf("-messages %d is negative", s.messages))
	}
	if s.pubsub != "" && s.notify != "" {
		problems = append(problems, errors.New("-pubsub and -notify exclude one another"))
	}
	return errors.Join(problems...)
}

// run does the whole job once.
func run(ctx context.Context, s settings, out io.Writer) error {
	slog.SetDefault(logger(s.verbose))
	if err := os.MkdirAll(filepath.Join(s.dir, "files"), 0o755); err != nil {
		return err
	}
	queue, err := openQueue(ctx, s)
	if err != nil {
		return err
	}
	defer queue.close()
	target, err := openTarget(ctx, s, queue)
	if err != nil {
		return err
	}
	defer target.close()

	counts := &counts{}
	p, err := build(s, queue, target, counts)
	if err != nil {
		return err
	}
	printer := newPrinter(out, counts)
	printer.start(s, queue, target)
	report, err := core.Run(ctx, p,
		core.WithStore(pebble.Dir(filepath.Join(s.dir, "state"))),
		core.WithProgress(progressEvery, printer.progress))
	printer.summary(s, report)
	return err
}

func logger(verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelInfo
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
}

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// figure is one comparison.
type figure struct {
	name, title string
	run         func(s *session) ([]row, error)
}

var figures = []figure{
	{"chain", "1. Four fused transforms against a loop over four function values", chainFigure},
	{"exchange", "2. Keyed exchange, above the same pipeline without", exchangeFigure},
	{"count", "3. Windowed count, 10,000 keys, Pebble, against a map", countFigure},
	{"jetstream", "4. JetStream file store, against loops of nats.go with the same acks", jetstreamFigure},
	{"ack", "5. Acknowledgement latency at 100 messages a second", ackFigure},
	{"window", "6. Window closed to notified, 1 MB file", windowFigure},
}

// session is what a run was asked for.
type session struct {
	rounds int
	quick  bool
	lines  io.Writer
	dir    string // of the disk that is measured
}

// size is n, or a tenth of it for a quick look.
func (s *session) size(n int) int {
	if s.quick {
		return max(1, n/10)
	}
	return n
}

// alternate runs the contest and prints its lines.
func (s *session) alternate(figure string, variants ...variant) (*contest, error) {
	c, err := alternate(figure, s.rounds, variants...)
	if err == nil && s.lines != nil {
		c.lines(s.lines)
	}
	return c, err
}

func main() {
	if dir := os.Getenv(serverDir); dir != "" {
		exit(serve(dir))
	}
	exit(run(os.Args[1:]))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(args []string) error {
	set := flag.NewFlagSet("bench", flag.ExitOnError)
	rounds := set.Int("rounds", 7, "rounds per figure; fewer than 7 are for trying things out")
	quick := set.Bool("quick", false, "a tenth of the work and 3 rounds: whether it runs, not what it costs")
	file := set.String("lines", "", "write every sample for benchstat to this file")
	dir := set.String("dir", "", "folder on the disk to measure; default: the system's temporary folder")
	set.Usage = func() {
		fmt.Fprintf(set.Output(), "usage: bench [flags] [figure...]\nfigures: %s\n", strings.Join(names(), ", "))
		set.PrintDefaults()
	}
	_ = set.Parse(args)
	s := &session{rounds: *rounds, quick: *quick}
	if s.quick {
		s.rounds = min(s.rounds, 3)
	}
	for _, name := range set.Args() {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("no figure %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	if *file != "" {
		f, err := os.Create(*file)
		if err != nil {
			return err
		}
		defer f.Close()
		s.lines = f
	}
	var err error
	if s.dir, err = os.MkdirTemp(*dir, "sluice-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	return s.figures(set.Args())
}

func (s *session) figures(wanted []string) error {
	fmt.Printf("%s, %d rounds\n", machine(), s.rounds)
	for _, f := range figures {
		if len(wanted) > 0 && !slices.Contains(wanted, f.name) {
			continue
		}
		start := time.Now()
		rows, err := f.run(s)
		if err != nil {
			return err
		}
		table(os.Stdout, f.title, rows)
		fmt.Printf("  (%v)\n", time.Since(start).Round(time.Second))
	}
	return nil
}

func names() (all []string) {
	for _, f := range figures {
		all = append(all, f.name)
	}
	return all
}

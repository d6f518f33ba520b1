package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
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
	// only selects variants by name; nil: all.
	only *regexp.Regexp
	// profiles is where to write CPU profiles, "" for none.
	profiles string
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
	if s.only != nil {
		variants = slices.DeleteFunc(variants, func(v variant) bool { return !s.only.MatchString(figure + "/" + v.name) })
	}
	c, err := alternate(figure, s.rounds, s.profiled(figure), variants...)
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
	only := set.String("only", "", "run only variants whose figure/name match this expression; rows that lack one show NaN")
	profiles := set.String("profiles", "", "write a CPU profile of each variant and round to this folder; all cost a little more then")
	set.Usage = func() {
		fmt.Fprintf(set.Output(), "usage: bench [flags] [figure...]\nfigures: %s\n", strings.Join(names(), ", "))
		set.PrintDefaults()
	}
	wanted, err := wantedOf(set, args)
	if err != nil {
		return err
	}
	s := &session{rounds: *rounds, quick: *quick, profiles: *profiles}
	if *only != "" {
		if s.only, err = regexp.Compile(*only); err != nil {
			return err
		}
	}
	if s.quick {
		s.rounds = min(s.rounds, 3)
	}
	if *file != "" {
		f, err := os.Create(*file)
		if err != nil {
			return err
		}
		defer f.Close()
		s.lines = f
	}
	if s.dir, err = os.MkdirTemp(*dir, "sluice-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	return s.figures(wanted)
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

// wantedOf parses flags and figures in any order.
func wantedOf(set *flag.FlagSet, args []string) (wanted []string, err error) {
	for {
		if err := set.Parse(args); err != nil {
			return nil, err
		}
		if set.NArg() == 0 {
			return wanted, nil
		}
		name := set.Arg(0)
		if !slices.Contains(names(), name) {
			return nil, fmt.Errorf("no figure %q; there are %s", name, strings.Join(names(), ", "))
		}
		wanted, args = append(wanted, name), set.Args()[1:]
	}
}

func names() (all []string) {
	for _, f := range figures {
		all = append(all, f.name)
	}
	return all
}

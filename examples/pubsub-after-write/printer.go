package main

import (
	"fmt"
	"io"
	"time"

	"github.com/gosluice/sluice/core"
)

const progressEvery = 500 * time.Millisecond

// printer tells a person how the run goes.
type printer struct {
	w       io.Writer
	counts  *counts
	began   time.Time
	last    time.Time
	read    int64
	printed int64
	trouble map[string]int
}

func newPrinter(w io.Writer, n *counts) *printer {
	now := time.Now()
	return &printer{w: w, counts: n, began: now, last: now, printed: -1, trouble: map[string]int{}}
}

func (p *printer) start(s settings, q *queue, t *target) {
	fmt.Fprintf(p.w, "queue          %s: %d orders, %d of them published now\n", q.where, q.last, q.published)
	fmt.Fprintf(p.w, "files          %s\n", s.dir+"/files")
	fmt.Fprintf(p.w, "state          %s/state (an acknowledged order is durable there or in a file)\n", s.dir)
	fmt.Fprintf(p.w, "notifications  %s\n\n", t.where)
	if s.follow {
		fmt.Fprintln(p.w, "following the queue until Ctrl-C")
	}
}

// progress prints a line if anything moved, and what does not work.
func (p *printer) progress(s core.Status) {
	now := time.Now()
	sum := s.Read + s.Acked + p.counts.files.Load() + p.counts.sent.Load()
	if sum != p.printed {
		rate := float64(s.Read-p.read) / now.Sub(p.last).Seconds()
		fmt.Fprintf(p.w, "%6.1fs  read %d (%.0f/s)  open windows %d  files %d  notifications %d  unacknowledged %d\n",
			now.Sub(p.began).Seconds(), s.Read, rate, openWindows(s),
			p.counts.files.Load()+p.counts.lateFiles.Load(), p.counts.sent.Load(), s.Unsettled)
	}
	p.last, p.read, p.printed = now, s.Read, sum
	for _, t := range s.Problems {
		if p.trouble[t.What] == 0 {
			fmt.Fprintf(p.w, "         trying again: %s: %v\n", t.What, t.Err)
		}
		p.trouble[t.What] = t.Count
	}
}

// openWindows are those the summaries still gather.
func openWindows(s core.Status) (n int) {
	for _, stage := range s.Stages {
		if stage.Name == "summary" {
			n += stage.Keeps
		}
	}
	return n
}

func (p *printer) summary(s settings, r core.Report) {
	n := p.counts
	fmt.Fprintf(p.w, "\nread           %d orders (%d again, %d copies dropped)\n", r.Read, r.Replayed, r.Duplicates)
	fmt.Fprintf(p.w, "written        %d orders in %d files, %d late orders in %d late files, %d dead letters\n",
		n.rows.Load(), n.files.Load(), n.lateRows.Load(), n.lateFiles.Load(), n.dead.Load())
	fmt.Fprintf(p.w, "notified       %d times\n", n.sent.Load())
	fmt.Fprintf(p.w, "acknowledged   %d orders\n", r.Acked)
	if left := r.Unsettled + r.PendingEffects + r.Quarantined; left > 0 {
		fmt.Fprintf(p.w, "left           %d unacknowledged, %d pending writes, %d quarantined: start again to go on\n",
			r.Unsettled, r.PendingEffects, r.Quarantined)
	}
	if r.Read == 0 {
		fmt.Fprintf(p.w, "nothing new    earlier runs on %s have done it all: ask for more with -messages, or remove the directory\n", s.dir)
	}
	fmt.Fprintf(p.w, "in             %.1f s, %d commits\n", time.Since(p.began).Seconds(), r.Epochs)
}

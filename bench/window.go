package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gosluice/sluice/core"
	"github.com/gosluice/sluice/core/event"
	"github.com/gosluice/sluice/core/store/pebble"
	"github.com/gosluice/sluice/core/window"
	"github.com/gosluice/sluice/gating"
	"github.com/gosluice/sluice/sinks"
	"github.com/gosluice/sluice/sinks/files"
	"github.com/gosluice/sluice/stateful"
)

const (
	fileRecords = 1024
	recordBytes = 1024
	fileWindows = 20
	// fillTime is how long a window gathers before it closes.
	fillTime = 50 * time.Millisecond
)

// windowFigure closes windows of one file and takes the time from the message that
// closes one to the notification, which waits for the file.
func windowFigure(s *session) ([]row, error) {
	n := max(3, s.size(fileWindows))
	run := 0
	bare := func() (sample, error) {
		run++
		return bareFiles(filepath.Join(s.dir, fmt.Sprintf("bare-%d", run)), n)
	}
	c, err := s.alternate("window",
		variant{"bare file", bare}, variant{"bare file again", bare},
		variant{"closed to notified", func() (sample, error) {
			run++
			return closeWindows(filepath.Join(s.dir, fmt.Sprintf("window-%d", run)), n)
		}},
	)
	if err != nil {
		return nil, err
	}
	return []row{
		c.compare(p50, "closed to notified", "bare file", "bare file again", asDifference).want(atMost, 10),
		c.compare(p99, "closed to notified", "bare file", "bare file again", asDifference),
	}, nil
}

// bareFiles writes the files as the sink does: a temporary file, synced, linked to
// its name, both folders synced.
func bareFiles(dir string, n int) (sample, error) {
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	record := body("record", recordBytes)
	record[len(record)-1] = '\n'
	list := make([]time.Duration, n)
	for i := range list {
		time.Sleep(fillTime)
		start := time.Now()
		if err := bareFile(dir, "file-"+strconv.Itoa(i), record); err != nil {
			return nil, err
		}
		list[i] = time.Since(start)
	}
	return latencies(list), nil
}

func bareFile(dir, name string, record []byte) error {
	temp := filepath.Join(dir, "tmp", name)
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer f.Close()
	content := make([]byte, 0, fileRecords*len(record))
	for range fileRecords {
		content = append(content, record...)
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := syncFolder(filepath.Join(dir, "tmp")); err != nil {
		return err
	}
	if err := os.Link(temp, filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncFolder(dir)
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// closeWindows runs a pipeline of files, gate and notification over n windows.
func closeWindows(dir string, n int) (sample, error) {
	if err := os.MkdirAll(filepath.Join(dir, "files"), 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	said, told := &script{}, make(notified, 1)
	p, err := windowPipeline(filepath.Join(dir, "files"), said, told)
	if err != nil {
		return nil, err
	}
	stop, err := started(p, core.WithStore(pebble.Dir(filepath.Join(dir, "state"))))
	if err != nil {
		return nil, err
	}
	list, err := speak(said, told, n)
	if e := stop(); err == nil {
		err = e
	}
	return latencies(list), err
}

const windowSize = time.Second

// windowPipeline: records ─▶ seconds ─▶ files ─▶ (written) ─▶ gate ─▶ notification.
func windowPipeline(dir string, said *script, told notified) (*core.Pipeline, error) {
	w, err := files.NewWriter(files.Config[string]{Dir: dir, Format: files.Lines[string]()})
	if err != nil {
		return nil, err
	}
	p := core.NewPipeline("window")
	records, _ := core.Read(p, "records", said, func(m core.Message) (string, error) { return string(m.Data), nil })
	seconds := core.WindowInto(records, "seconds", window.Fixed(windowSize))
	written := sinks.WriteAfterCommit(seconds, "files", w, sinks.Config[string]{})
	counts := stateful.CombineGlobally(seconds, "count", stateful.Count[string]())
	ready := gating.WaitOn(counts, "after files", written.Done())
	sinks.Publish(ready, "notify", told, func(count int64) (sinks.OutMessage, error) {
		return sinks.OutMessage{Data: strconv.AppendInt(nil, count, 10)}, nil
	}, sinks.Config[int64]{})
	return p, nil
}

// speak fills n windows and closes each when it has been gathered.
func speak(said *script, told notified, n int) ([]time.Duration, error) {
	record := body("record", recordBytes-len("\n"))
	list := make([]time.Duration, n)
	for i := range list {
		at := event.Time(i+1) * event.Time(windowSize.Microseconds())
		const parts = 8
		rest := fileRecords
		if i > 0 {
			rest-- // the record that closed the window before
		}
		for part := range parts {
			for range rest / parts {
				said.say(at, record)
			}
			if part == 0 {
				for range rest % parts {
					said.say(at, record)
				}
			}
			time.Sleep(fillTime / parts)
		}
		start := time.Now()
		said.say(at+event.Time(windowSize.Microseconds()), record)
		select {
		case t := <-told:
			if t.count != fileRecords {
				return nil, fmt.Errorf("window %d has %d records, not %d", i, t.count, fileRecords)
			}
			list[i] = t.at.Sub(start)
		case <-time.After(20 * time.Second):
			return nil, fmt.Errorf("no notification of window %d", i)
		}
	}
	return list, nil
}

// notified is a publisher that hands on when it was called.
type notified chan notification

type notification struct {
	at    time.Time
	count int
}

// Publish takes the time.
func (n notified) Publish(_ context.Context, msgs []sinks.OutMessage) (out []sinks.Published, _ []sinks.PublishFailure) {
	for _, m := range msgs {
		count, _ := strconv.Atoi(string(m.Data))
		n <- notification{time.Now(), count}
		out = append(out, sinks.Published{ID: m.ID})
	}
	return out, nil
}

// Deduplicates: it is asked once.
func (n notified) Deduplicates() bool { return true }

package files

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gosluice/sluice/sinks"
)

// BenchmarkFile writes 1 MB (10,000 records of 100 bytes) as one file through
// Stage and Publish and, in turns within the same run, by the least that makes a
// file durable: write, fsync, rename, fsync of the folder. It reports the medians
// and their ratio, and that of the baseline to itself (A/A).
func BenchmarkFile(b *testing.B) {
	for _, noSync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", !noSync), func(b *testing.B) {
			dir := b.TempDir()
			w := newWriter(b, Config[[]byte]{Dir: dir, NoSync: noSync, Format: Lines[[]byte]()})
			records := bigBatch()
			alternate(b,
				func(i int) { stageAndPublish(b, w, i, records) },
				func(i int) { bareFile(b, dir, fmt.Sprint("bare-", i), records, !noSync) },
				func(i int) { bareFile(b, dir, fmt.Sprint("again-", i), records, !noSync) },
			)
		})
	}
}

// alternate runs each in turn, another one first each time, and reports the
// medians in microseconds.
func alternate(b *testing.B, ours, base, again func(i int)) {
	var times [3][]time.Duration
	i := 0
	for b.Loop() {
		for k := range times {
			j := (i + k) % len(times)
			start := time.Now()
			[]func(int){ours, base, again}[j](i)
			times[j] = append(times[j], time.Since(start))
		}
		i++
	}
	var medians [3]float64
	for j := range times {
		slices.Sort(times[j])
		medians[j] = float64(times[j][len(times[j])/2].Nanoseconds()) / 1e3
	}
	b.ReportMetric(medians[0], "µs/file")
	b.ReportMetric(medians[1], "µs/baseline")
	b.ReportMetric(medians[0]/medians[1], "ratio")
	b.ReportMetric(medians[2]/medians[1], "A/A-ratio")
}

func bigBatch() [][]byte {
	records := make([][]byte, 10_000)
	for i := range records {
		records[i] = fmt.Appendf(nil, "%099d", i)
	}
	return records
}

func stageAndPublish(b *testing.B, w *Writer[[]byte], i int, records [][]byte) {
	tok := mustStage(b, w, batchOf("west", records...))
	id := sinks.EffectID{Store: "bench", Transform: "files", Epoch: uint64(i)}
	f := mustPublish(b, w, id, tok)
	if err := os.Remove(filepath.Join(w.folder.dir, f.Name)); err != nil {
		b.Fatal(err)
	}
}

func bareFile(b *testing.B, dir, name string, records [][]byte, sync bool) {
	if err := writeBare(filepath.Join(dir, name), records, sync); err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		b.Fatal(err)
	}
}

func writeBare(path string, records [][]byte, sync bool) error {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	for _, r := range records {
		buf.Write(r)
		buf.WriteByte('\n')
	}
	if _, err := f.Write(buf.Bytes()); err != nil {
		return err
	}
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil || !sync {
		return err
	}
	return osSyncFolder(filepath.Dir(path))
}

func osSyncFolder(dir string) error {
	d, err := openDisk(dir)
	if err != nil {
		return err
	}
	defer d.close()
	return d.syncFolder(".")
}

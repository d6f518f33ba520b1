package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// G89 (the writer's part), G86: a reader that polls the folder never sees a file
// that is not complete, and finds every file that was reported.
func TestPollerSeesOnlyCompleteFiles(t *testing.T) {
	dir := t.TempDir()
	lines := numbered(20_000) // several writes
	w := linesWriter(t, dir)
	sum := sumOf(lines)

	ctx, stop := context.WithCancel(t.Context())
	var poller sync.WaitGroup
	seen := 0
	poller.Go(func() {
		for ctx.Err() == nil {
			seen += pollOnce(t, dir, sum)
		}
	})
	for i := range 20 {
		id := effect
		id.Batch = uint32(i)
		f := mustPublish(t, w, id, mustStage(t, w, batchOf("late/west", lines...)))
		if got := fileSum(t, filepath.Join(dir, f.Name)); got != f.Checksum || got != sum {
			t.Errorf("%s has checksum %s, reported %s", f.Name, got, f.Checksum)
		}
	}
	stop()
	poller.Wait()
	if seen == 0 {
		t.Error("the poller saw no file: the test shows nothing")
	}
}

// pollOnce reads every visible file and returns how many it saw.
func pollOnce(t *testing.T, dir, sum string) (seen int) {
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // a temporary name that went away
		case e.IsDir() && e.Name() == tempDir:
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		seen++
		if got := fileSum(t, p); got != sum {
			t.Errorf("%s is visible and not complete", p)
		}
		return nil
	})
	return seen
}

func fileSum(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func sumOf(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

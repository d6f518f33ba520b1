//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkOrders reads every final file and finds each order from 1 to n, but those
// that were never published, in exactly one of them, and no temporary file.
func checkOrders(t *testing.T, dir string, n int, unpublished map[int]bool) {
	t.Helper()
	seen := make([]string, n+1)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.Contains(path, ".sluice-tmp") {
			t.Errorf("left behind: %s", path)
			return nil
		}
		return eachLine(path, func(line []byte) {
			var o struct{ ID int }
			if err := json.Unmarshal(line, &o); err != nil || o.ID < 1 || o.ID > n {
				t.Errorf("%s: %q is no order", path, line)
				return
			}
			if seen[o.ID] != "" {
				t.Errorf("order %d is in %s and %s", o.ID, seen[o.ID], path)
			}
			seen[o.ID] = path
		})
	})
	if err != nil {
		t.Error(err)
	}
	missing := 0
	for id := 1; id <= n; id++ {
		if seen[id] == "" && !unpublished[id] {
			missing++
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d orders are in no file", missing, n)
	}
}

// eachLine calls f for the lines of a file, the last of which must be complete.
func eachLine(path string, f func([]byte)) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s := bufio.NewScanner(strings.NewReader(string(data)))
	for s.Scan() {
		f(s.Bytes())
	}
	return s.Err()
}

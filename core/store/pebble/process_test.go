package pebble_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/pebble"
)

// The tests of this file run TestChild in another process, which they may kill,
// with the directory in its environment.
const dirVariable = "SLUICE_TEST_STATE_DIRECTORY"

func TestChild(t *testing.T) {
	dir := os.Getenv(dirVariable)
	if dir == "" {
		t.Skip("runs as another process only")
	}
	childCommits(dir)
}

// child starts the other process and returns the lines it prints.
func child(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), dirVariable+"="+dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	t.Cleanup(func() { late.Stop() })
	return c, bufio.NewScanner(out)
}

func fail(args ...any) {
	fmt.Println(append([]any{"failed:"}, args...)...)
	os.Exit(1)
}

// childCommits prints the epochs that were committed, without end.
func childCommits(dir string) {
	s, err := pebble.Dir(dir, pebble.WithFoldBytes(1<<10)).Open()
	if err != nil {
		fail(err)
	}
	e, err := s.Epoch(1)
	for err == nil {
		e++
		err = s.Commit(context.Background(), counted(e))
		fmt.Println(e)
	}
	fail(err)
}

// TestKilled: a process that commits is killed again and again; its commits are
// all there, and while it lives nobody else gets in.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	last := uint64(0)
	for round := range 4 {
		c, lines := child(t, dir)
		for n := 0; n <= 20*round && lines.Scan(); n++ {
			last, _ = strconv.ParseUint(lines.Text(), 10, 64)
		}
		if _, err := pebble.Dir(dir).Open(); !errors.Is(err, store.ErrLocked) {
			t.Errorf("opened beside a living process: %v", err)
		}
		_ = c.Process.Kill()
		for lines.Scan() { // what it printed until it died
			last, _ = strconv.ParseUint(lines.Text(), 10, 64)
		}
		_ = c.Wait()
		s := open(t, pebble.Dir(dir))
		if epoch := checkCounted(t, s); last == 0 || epoch < last {
			t.Errorf("round %d: epoch %d, the process had committed %d", round, epoch, last)
		}
		closeStore(t, s)
	}
}

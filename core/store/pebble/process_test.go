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
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/gosluice/sluice/core/store"
	"github.com/gosluice/sluice/core/store/pebble"
)

// The tests of this file run a part of themselves in another process, which they
// may kill: TestChild, with the part and the directory in the environment.
const partVariable, dirVariable = "SLUICE_TEST_PART", "SLUICE_TEST_DIR"

func TestChild(t *testing.T) {
	part, dir := os.Getenv(partVariable), os.Getenv(dirVariable)
	switch part {
	case "":
		t.Skip("runs as another process only")
	case "commit":
		childCommits(dir)
	case "rotation":
		childRotation(dir)
	}
	os.Exit(0) // past the check for goroutines: the rotation leaves some
}

// child starts part in another process and returns the lines it prints.
func child(t *testing.T, part, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), partVariable+"="+part, dirVariable+"="+dir)
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
		c, lines := child(t, "commit", dir)
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

// childRotation fails the making of the next log while commits fill this one.
func childRotation(dir string) {
	inject := &errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite) {
			return errorfs.ErrInjected
		}
		return nil
	})}
	s, err := pebble.Dir(dir, pebble.WithFS(errorfs.Wrap(vfs.Default, inject)), pebble.WithLogger(silent)).Open()
	if err != nil {
		fail(err)
	}
	inject.On()
	var e uint64
	for err == nil {
		e++
		c := counted(e)
		c.Deltas[0].Put(0, []byte("epoch"), fmt.Append(nil, e))
		pad := store.NewDelta(store.Space{Region: 1, Kind: store.Held, Transform: 1})
		pad.Put(0, nil, make([]byte, 3<<20))
		c.Deltas = append(c.Deltas, pad)
		if err = s.Commit(context.Background(), c); err == nil {
			fmt.Println(e)
		}
	}
	if e > 20 {
		fail("no log was made in", e, "commits")
	}
	if _, err := s.Epoch(1); err == nil {
		fail("the store works on")
	}
	if s.Close() == nil {
		fail("closed as if nothing was")
	}
	fmt.Println("ended")
}

// TestLogCannotBeMade: the engine panics with its locks held when it cannot make
// a log. The store fails; the process neither ends nor hangs.
func TestLogCannotBeMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	c, lines := child(t, "rotation", dir)
	last, text := uint64(0), ""
	for lines.Scan() {
		text = lines.Text()
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			last = n
		}
	}
	if err := c.Wait(); err != nil || text != "ended" {
		t.Fatalf("%q: %v", text, err)
	}
	s := open(t, pebble.Dir(dir))
	if epoch := checkCounted(t, s); epoch < last || epoch > last+1 {
		t.Errorf("epoch %d, %d had returned", epoch, last)
	}
	closeStore(t, s)
}

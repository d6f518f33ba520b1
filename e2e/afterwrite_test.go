//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	pubsubemu "github.com/gosluice/sluice/e2e/emulators/pubsub"
)

var (
	kills    = flag.Int("kills", 20, "how often the example is killed")
	killSeed = flag.Uint64("kill-seed", 0, "seed of the moments; 0: from the clock")
)

// TestExampleSurvivesKill kills examples/pubsub-after-write with SIGKILL at random
// moments, starts it again on the same directory each time, and checks that every
// order is in exactly one file, every file complete, every notification sent after
// its file was visible, and nothing left behind.
//
// G5, G46, G83, G85, G86: persist before ack, no half file, one notification per
// window, after the write, visible to another process.
func TestExampleSurvivesKill(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-kill-seed=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	binary := buildExample(t)
	watcher := newWatcher(filepath.Join(dir, "files"))
	emulator, err := pubsubemu.Open(watcher.reactor())
	if err != nil {
		t.Fatal(err)
	}
	defer emulator.Shutdown()
	const topic = "projects/e2e/topics/notifications"
	if err := emulator.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	orders := 0
	run := func(limit time.Duration) (string, error) {
		cmd := exec.Command(binary, "-dir", dir, "-messages", fmt.Sprint(orders), "-pubsub", topic)
		cmd.Env = append(os.Environ(), "PUBSUB_EMULATOR_HOST="+emulator.Addr())
		return runFor(cmd, limit)
	}
	finished := 0
	for done := 0; done < *kills; {
		orders += ordersPerRun
		out, err := run(time.Duration(80+random.IntN(900)) * time.Millisecond)
		switch {
		case err == nil:
			finished++ // over before the kill: what follows tests that nothing is done twice
		case killed(err):
			done++
		default:
			t.Fatalf("the example failed by itself: %v\n%s", err, out)
		}
		if finished > 3**kills {
			t.Fatalf("%d runs ended before their kill", finished)
		}
	}
	out, err := run(time.Minute)
	if err != nil {
		t.Fatalf("the last run: %v\n%s", err, out)
	}
	t.Logf("%d kills, %d runs ended before theirs; the last one:\n%s", *kills, finished, out)
	checkOrders(t, filepath.Join(dir, "files"), orders, nil)
	watcher.check(t)
}

// ordersPerRun are published anew by each run, so that there is always work to kill.
const ordersPerRun = 2_000

// buildExample compiles the example once.
func buildExample(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "pubsub-after-write")
	out, err := exec.Command("go", "build", "-o", binary, "../examples/pubsub-after-write").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// runFor runs cmd and kills it with SIGKILL after limit.
func runFor(cmd *exec.Cmd, limit time.Duration) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", err
	}
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	defer timer.Stop()
	err := cmd.Wait()
	return out.String(), err
}

func killed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && strings.Contains(exit.String(), "killed")
}

//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsemu "github.com/gosluice/sluice/e2e/emulators/nats"
)

// TestExampleMeetsTrouble runs the example against a server that comes late, breaks
// connections and restarts, feeds it garbage, takes its output folder away and gives
// it back, and stops it with Ctrl-C. Nothing may be lost or written twice.
//
// G50, G55, G62, G65, G68: it says what is wrong, goes on by itself, and a stop
// makes no dead letters.
func TestExampleMeetsTrouble(t *testing.T) {
	binary := buildExample(t)
	dir := t.TempDir()
	server, err := natsemu.Open(t.TempDir(), natsemu.TCP())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	url := server.URL()
	files := filepath.Join(dir, "files")
	const first, second = 3_000, 6_000

	follow := func(messages int) *program {
		return startProgram(t, binary, "-dir", dir, "-nats", url, "-messages", fmt.Sprint(messages), "-follow")
	}
	p := follow(first)
	p.waitFor(fmt.Sprintf("read %d", first))

	js := server.Client(t)
	garbage := []string{"not json", `{"id":-1}`, "\x00\xff", ""}
	for _, g := range garbage {
		if _, err := js.Publish(t.Context(), "orders.new", []byte(g)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the dead letters are in a file", func() bool {
		return strings.Count(contents(t, files, "undecoded-*.jsonl"), "\n") == len(garbage)
	})
	letters := contents(t, files, "undecoded-*.jsonl")
	for _, g := range garbage {
		if !strings.Contains(letters, base64.StdEncoding.EncodeToString([]byte(g))) {
			t.Errorf("no dead letter holds the raw bytes of %q:\n%s", g, letters)
		}
	}

	server.Cut()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "orders.new", []byte("after the restart")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "reading goes on after a restart", func() bool {
		return strings.Count(contents(t, files, "undecoded-*.jsonl"), "\n") == len(garbage)+1
	})

	away := files + ".away"
	if err := os.Rename(files, away); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "orders.new", []byte("while the folder is gone")); err != nil {
		t.Fatal(err)
	}
	p.waitFor("trying again")
	if out := p.printed(); !strings.Contains(out, files) {
		t.Errorf("the trouble does not name %s:\n%s", files, out)
	}
	if err := os.Remove(files); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, files); err != nil {
		t.Fatal(err)
	}
	eventually(t, "writing goes on when the folder is back", func() bool {
		return strings.Count(contents(t, files, "undecoded-*.jsonl"), "\n") == len(garbage)+2
	})
	t.Log(p.stop())

	// The rest as a finite run, which also ends the windows.
	total := second + len(garbage) + 2
	p = startProgram(t, binary, "-dir", dir, "-nats", url, "-messages", fmt.Sprint(total))
	select {
	case err := <-p.done:
		if err != nil {
			t.Fatalf("%v\n%s", err, p.printed())
		}
	case <-time.After(patience):
		t.Fatalf("the finite run does not end:\n%s", p.printed())
	}
	t.Log(p.printed())
	if n := strings.Count(contents(t, files, "undecoded-*.jsonl"), "\n"); n != len(garbage)+2 {
		t.Errorf("%d dead letters, want %d", n, len(garbage)+2)
	}
	for _, name := range glob(t, files, "undecoded-*.jsonl") {
		_ = os.Remove(name)
	}
	// Garbage took the places of orders first+1 and so on in the stream.
	missing := map[int]bool{}
	for i := range len(garbage) + 2 {
		missing[first+1+i] = true
	}
	checkOrders(t, files, total, missing)
}

// TestExampleWaitsForServer starts the example before its server.
func TestExampleWaitsForServer(t *testing.T) {
	binary := buildExample(t)
	dir, data := t.TempDir(), t.TempDir()
	server, err := natsemu.Open(data, natsemu.TCP())
	if err != nil {
		t.Fatal(err)
	}
	url := server.URL()
	server.Shutdown()
	p := startProgram(t, binary, "-dir", dir, "-nats", url, "-messages", "500")
	p.waitFor("waiting for the NATS server")
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	defer server.Shutdown()
	if err := <-p.done; err != nil {
		t.Fatalf("%v\n%s", err, p.printed())
	}
	checkOrders(t, filepath.Join(dir, "files"), 500, nil)
}

// TestExampleRefusesState checks that each unusable state directory is one clear
// error and is left as it was.
func TestExampleRefusesState(t *testing.T) {
	binary := buildExample(t)
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := os.MkdirAll(state, 0o750); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(state, "family-photos.txt")
	if err := os.WriteFile(foreign, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, binary, "-dir", dir, "-messages", "10")
	if err := <-p.done; err == nil {
		t.Fatalf("a foreign state directory was taken:\n%s", p.printed())
	}
	if out := p.printed(); !strings.Contains(out, state) || !strings.Contains(out, "not a state directory") {
		t.Errorf("the error does not name the directory and what is wrong:\n%s", out)
	}
	if data, err := os.ReadFile(foreign); err != nil || string(data) != "mine" {
		t.Errorf("the foreign directory was touched: %q %v", data, err)
	}
}

//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is a running example with what it has printed so far.
type program struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan error
	mu   sync.Mutex
	out  bytes.Buffer // guarded by mu
}

// startProgram runs binary until the test stops it; a test that ends early kills it.
func startProgram(t *testing.T, binary string, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(binary, args...), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *program) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

const patience = 60 * time.Second

// waitFor waits until the program has printed text.
func (p *program) waitFor(text string) {
	p.t.Helper()
	eventually(p.t, "the program prints "+text, func() bool {
		select {
		case err := <-p.done:
			p.t.Fatalf("the program ended (%v) and did not print %q:\n%s", err, text, p.printed())
		default:
		}
		return strings.Contains(p.printed(), text)
	})
}

// stop sends SIGINT and waits for a clean end.
func (p *program) stop() string {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Fatal(err)
	}
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Fatalf("after SIGINT: %v\n%s", err, p.printed())
		}
	case <-time.After(patience):
		p.t.Fatalf("still running %v after SIGINT:\n%s", patience, p.printed())
	}
	return p.printed()
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// glob lists the files of a pattern below dir.
func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// contents joins the files of a pattern below dir.
func contents(t *testing.T, dir, pattern string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range glob(t, dir, pattern) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

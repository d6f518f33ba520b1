package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// TestRun does the whole job in this process, twice on one directory: the second
// run has more orders, and does only those. G44: what it prints tells write, commit
// and acknowledgement apart.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ messages, read int }{{3000, 3000}, {5000, 2000}, {5000, 0}} {
		var out bytes.Buffer
		s := settings{dir: dir, messages: c.messages}
		if err := run(t.Context(), s, &out); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		for _, want := range []string{
			fmt.Sprintf("read           %d orders", c.read),
			fmt.Sprintf("acknowledged   %d orders", c.read),
		} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it does not print %q:\n%s", want, out.String())
			}
		}
		if left := strings.Contains(out.String(), "\nleft "); left {
			t.Errorf("something is left:\n%s", out.String())
		}
	}
	if n := lines(t, filepath.Join(dir, "files")); n != 5000 {
		t.Errorf("%d orders in files, want 5000", n)
	}
}

// TestRunNotifiesNATS sends the notifications to a subject.
func TestRunNotifiesNATS(t *testing.T) {
	var out bytes.Buffer
	s := settings{dir: t.TempDir(), messages: 500, notify: "nats:told"}
	if err := run(t.Context(), s, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if !strings.Contains(out.String(), "NATS subject told") {
		t.Errorf("%s", out.String())
	}
}

// TestParse checks that bad flags are refused by name.
func TestParse(t *testing.T) {
	for _, args := range [][]string{{"-messages", "-1"}, {"-pubsub", "projects/p/topics/t", "-notify", "nats:x"}} {
		if _, err := parse(args); err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: %v", args, err)
		}
	}
	for _, s := range []settings{{dir: t.TempDir(), pubsub: "topic"}, {dir: t.TempDir(), notify: "subject"}} {
		if err := run(t.Context(), s, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "is not of the form") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// lines counts the lines of all final order files.
func lines(t *testing.T, dir string) (n int) {
	t.Helper()
	for _, pattern := range []string{"*.jsonl", "late/*.jsonl"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			n += bytes.Count(data, []byte("\n"))
		}
	}
	return n
}

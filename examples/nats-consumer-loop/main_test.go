package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// G5: the consumer that takes over writes nothing twice and loses nothing. One of
// the rejected messages was in the file whose settlements never left: it comes again
// all the same, when its lease has run out.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{
		fmt.Sprintf("published %d, on disk %d, written twice 0", messages, messages),
		fmt.Sprintf("acked %d, rejected once and written later %d, ", messages, messages/200-1),
		"left at the broker 0",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "copies recognised 0,") {
		t.Errorf("nothing came again:\n%s", out.String())
	}
}

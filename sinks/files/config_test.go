package files

import (
	"strings"
	"testing"

	"github.com/gosluice/sluice/sinks"
)

var _ sinks.Stager[string, File] = (*Writer[string])(nil)

func TestConfigListsEveryProblem(t *testing.T) {
	_, err := NewWriter(Config[string]{Suffix: "/x"})
	if err == nil || !strings.Contains(err.Error(), "Dir") || !strings.Contains(err.Error(), "Suffix") {
		t.Errorf("%v", err)
	}
}

func TestLinesTakesBytesAndStrings(t *testing.T) {
	type line string
	for _, got := range [][]byte{
		must(Lines[line]().appendTo(nil, "a")),
		must(Lines[[]byte]().appendTo(nil, []byte("a"))),
	} {
		if string(got) != "a\n" {
			t.Errorf("%q", got)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

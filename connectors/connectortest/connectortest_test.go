package connectortest

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The suite itself is proven by its users (connectors/memory, also with planted
// bugs); here only that names are unique, since Skip goes by them.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks {
		if seen[c.name] || c.run == nil {
			t.Errorf("%q", c.name)
		}
		seen[c.name] = true
	}
}

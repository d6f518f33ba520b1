package sluice_test

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gosluice/sluice"

// leaves import nothing of ours but one another, in the order their rows show.
var leaves = []string{
	"core/event", "core/fault", "core/store", "core/window", "core/element", "core/coder", "core/source",
}

// public is what a program built on Sluice can import.
var public = []string{
	"core/...", "acks", "stateful/...", "gating/...", "sinks/...", "connectors/...",
}

// arrows holds which folder may import which: the package table of the
// architecture. "x/..." is x with everything below it; of several rows the most
// specific counts. Third-party modules have a table of their own below.
//
// What the table keeps apart:
//   - core knows no connector, no sink and no concrete store;
//   - acks stands alone;
//   - one connector, sink or example does not know another;
//   - nothing imports an example, and an example imports no internal package.
var arrows = map[string][]string{
	".": nil,

	"core/event":   nil,
	"core/fault":   nil,
	"core/store":   nil,
	"core/window":  {"core/event"},
	"core/element": {"core/event", "core/window"},
	"core/coder":   {"core/event", "core/window", "core/element", "core/fault"},
	"core/source":  {"core/event"},

	"core/store/memory":    {"core/store"},
	"core/store/pebble":    {"core/store"},
	"core/store/storetest": {"core/store"},

	"acks": nil,

	"internal/engine": with(leaves, "acks"),
	"internal/plan":   with(leaves, "internal/engine"),
	"internal/drive":  with(leaves, "acks", "internal/engine"),
	"internal/sim":    with(leaves, "acks", "internal/engine"),

	"core":          with(leaves, "acks", "internal/..."),
	"core/coretest": with(leaves, "core", "core/store/memory", "internal/..."),

	"stateful": with(leaves, "core", "internal/..."),
	"gating":   with(leaves, "core", "internal/..."),

	"sinks":            with(leaves, "core", "stateful", "internal/..."),
	"sinks/files":      with(leaves, "core", "stateful", "sinks", "internal/..."),
	"sinks/bigqueryio": with(leaves, "core", "stateful", "sinks", "internal/..."),
	"sinks/sqlio":      with(leaves, "core", "stateful", "sinks", "internal/..."),
	"sinks/sinktest":   with(leaves, "core", "core/coretest", "sinks", "internal/..."),

	"connectors/memory":        with(leaves, "core", "acks", "sinks"),
	"connectors/natsio":        with(leaves, "core", "acks", "sinks"),
	"connectors/kafkaio":       with(leaves, "core", "acks", "sinks"),
	"connectors/pubsubio":      with(leaves, "core", "acks", "sinks"),
	"connectors/connectortest": with(leaves, "core", "acks", "sinks"),

	"examples/pubsub-after-write/...": with(public, "e2e/emulators/...", "examples/pubsub-after-write/..."),
	"examples/nats-consumer-loop":     {"acks", "e2e/emulators/..."},

	"e2e/...":        with(public, "internal/...", "e2e/..."),
	"cmd/sluice/...": with(public, "internal/...", "cmd/sluice/..."),
}

// testing kits are packages for tests that live in ordinary files.
var kits = []string{"core/coretest", "core/store/storetest", "sinks/sinktest", "connectors/connectortest"}

// thirdParty holds where a module of others may be used outside test files, so
// that a program links only the clients it asked for. Keys are import path
// prefixes; the longest counts.
var thirdParty = map[string][]string{
	// Clients: the package that wraps them, and who starts or fakes a server.
	"github.com/nats-io/nats.go":     {"connectors/natsio", "e2e/emulators/...", "examples/..."},
	"github.com/nats-io/nats-server": {"e2e/emulators/...", "examples/..."},
	"github.com/segmentio/kafka-go":  {"connectors/kafkaio"},
	"github.com/twmb/franz-go":       {"e2e/emulators/..."},
	"cloud.google.com/go/pubsub":     {"connectors/pubsubio", "e2e/emulators/...", "examples/..."},
	"google.golang.org/api":          {"connectors/pubsubio", "e2e/emulators/...", "examples/..."},
	"github.com/googleapis/gax-go":   {"connectors/pubsubio"},
	"google.golang.org/grpc":         {"connectors/pubsubio", "e2e/emulators/...", "examples/..."},
	"github.com/cockroachdb/pebble":  {"core/store/pebble"},
	"github.com/prometheus":          {"core", "internal/drive", "cmd/...", "examples/..."},

	// Small libraries without a connection to anything.
	"github.com/cenkalti/backoff":       {"acks", "core", "internal/...", "sinks/...", "connectors/..."},
	"github.com/cespare/xxhash":         {"core", "internal/...", "stateful", "sinks/..."},
	"google.golang.org/protobuf":        {"core/coder", "connectors/pubsubio", "e2e/emulators/..."},
	"github.com/cockroachdb/datadriven": kits,
	"go.uber.org/goleak":                kits,
	"pgregory.net/rapid":                kits,
}

func with(base []string, more ...string) []string { return slices.Concat(base, more) }

func TestImportArrows(t *testing.T)      { holdRule(t, importArrows) }
func TestThirdPartyImports(t *testing.T) { holdRule(t, thirdPartyImports) }

// holdRule runs one rule over this tree and fails with each problem it names.
func holdRule(t *testing.T, rule func([]goFile) []string) {
	t.Helper()
	files, err := readTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range rule(files) {
		t.Error(problem)
	}
}

// importArrows checks the imports of our own packages. Test files may go beyond
// their package's row, but not import an example.
func importArrows(files []goFile) (problems []string) {
	unknown := map[string]bool{}
	for _, f := range files {
		may, ok := rowOf(f.folder)
		if !ok {
			if !unknown[f.folder] {
				problems = append(problems, f.folder+" has no row in arrows (layout_test.go): add it, with the folders it may import")
			}
			unknown[f.folder] = true
			continue
		}
		for _, i := range f.imports() {
			to, ours := ourFolder(i.path)
			if ours && !arrowAllowed(f, may, to) {
				problems = append(problems, fmt.Sprintf("%s must not import %s (%s)", f.folder, to, i.at))
			}
		}
	}
	return problems
}

func arrowAllowed(f goFile, may []string, to string) bool {
	if f.test && !matches("examples/...", to) {
		return true
	}
	return to == f.folder || matchesAny(may, to)
}

// rowOf finds the most specific row: folder itself, else the nearest "/..." above.
func rowOf(folder string) (may []string, ok bool) {
	if may, ok = arrows[folder]; ok {
		return may, true
	}
	for f := folder; f != "."; f = path.Dir(f) {
		if may, ok = arrows[f+"/..."]; ok {
			return may, true
		}
	}
	return nil, false
}

func ourFolder(importPath string) (folder string, ours bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// thirdPartyImports checks the imports of other people's modules outside tests.
func thirdPartyImports(files []goFile) (problems []string) {
	for _, f := range files {
		for _, i := range f.imports() {
			if f.test || !foreign(i.path) {
				continue
			}
			prefix, may := clientRow(i.path)
			switch {
			case prefix == "":
				problems = append(problems, fmt.Sprintf(
					"%s imports %s, which has no row in thirdParty (layout_test.go): add it, with the one folder that wraps it (%s)",
					f.folder, i.path, i.at))
			case !matchesAny(may, f.folder):
				problems = append(problems, fmt.Sprintf(
					"%s must not import %s: only %s may (%s)", f.folder, prefix, strings.Join(may, ", "), i.at))
			}
		}
	}
	return problems
}

func foreign(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	_, ours := ourFolder(importPath)
	return strings.Contains(first, ".") && !ours
}

func clientRow(importPath string) (prefix string, may []string) {
	for p, folders := range thirdParty {
		if len(p) > len(prefix) && matches(p+"/...", importPath) {
			prefix, may = p, folders
		}
	}
	return prefix, may
}

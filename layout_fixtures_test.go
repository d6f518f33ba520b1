package sluice_test

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestLayoutRulesCanFail runs every rule over small trees that keep or break it.
func TestLayoutRulesCanFail(t *testing.T) {
	const leak = "package p\nimport \"go.uber.org/goleak\"\nfunc TestMain(m *testing.M) { goleak.VerifyTestMain(m) }"
	ours := func(folder string) string { return "package p\nimport _ \"" + module + "/" + folder + "\"" }
	imports := func(p string) string { return "package p\nimport _ \"" + p + "\"" }

	for _, c := range []struct {
		name string
		rule func([]goFile) []string
		tree map[string]string
		want []string
	}{
		{"a leaf in the order of the leaves", importArrows,
			map[string]string{"core/element/x.go": ours("core/window")}, nil},
		{"a leaf against the order", importArrows,
			map[string]string{"core/window/x.go": ours("core/element")},
			[]string{"core/window must not import core/element (core/window/x.go:2)"}},
		{"core and a concrete store", importArrows,
			map[string]string{"core/x.go": ours("core/store/pebble")},
			[]string{"core must not import core/store/pebble (core/x.go:2)"}},
		{"core and the contract", importArrows,
			map[string]string{"core/x.go": ours("core/store")}, nil},
		{"one connector and another", importArrows,
			map[string]string{"connectors/natsio/x.go": ours("connectors/memory")},
			[]string{"connectors/natsio must not import connectors/memory (connectors/natsio/x.go:2)"}},
		{"an example and an internal package", importArrows,
			map[string]string{"examples/pubsub-after-write/x.go": ours("internal/engine")},
			[]string{"examples/pubsub-after-write must not import internal/engine (examples/pubsub-after-write/x.go:2)"}},
		{"a subfolder under a row with dots", importArrows,
			map[string]string{"e2e/emulators/nats/x.go": ours("connectors/natsio")}, nil},
		{"a test beyond its row", importArrows,
			map[string]string{"acks/x_test.go": ours("connectors/natsio")}, nil},
		{"a test and an example", importArrows,
			map[string]string{"acks/x_test.go": ours("examples/pubsub-after-write")},
			[]string{"acks must not import examples/pubsub-after-write (acks/x_test.go:2)"}},
		{"a package without a row", importArrows,
			map[string]string{"internal/quarantine/x.go": "package p", "internal/quarantine/y.go": "package p"},
			[]string{"internal/quarantine has no row in arrows (layout_test.go): add it, with the folders it may import"}},
		{"the root", importArrows,
			map[string]string{"x.go": ours("core")}, []string{". must not import core (x.go:2)"}},
		{"other modules and testdata are not ours", importArrows,
			map[string]string{"bench/go.mod": "module b", "bench/x.go": "package p", "acks/testdata/x.go": "not go"}, nil},

		{"a client where it is wrapped", thirdPartyImports,
			map[string]string{"connectors/natsio/x.go": imports("github.com/nats-io/nats.go/jetstream")}, nil},
		{"a client elsewhere", thirdPartyImports,
			map[string]string{"core/x.go": imports("github.com/cockroachdb/pebble/v2")},
			[]string{"core must not import github.com/cockroachdb/pebble: only core/store/pebble may (core/x.go:2)"}},
		{"a client nobody listed", thirdPartyImports,
			map[string]string{"core/x.go": imports("example.org/mq")},
			[]string{"core imports example.org/mq, which has no row in thirdParty (layout_test.go): " +
				"add it, with the one folder that wraps it (core/x.go:2)"}},
		{"a client in a test", thirdPartyImports,
			map[string]string{"acks/x_test.go": imports("github.com/nats-io/nats.go")}, nil},

		{"tests with a leak check", leakChecks,
			map[string]string{"acks/a_test.go": "package p", "acks/main_test.go": leak}, nil},
		{"tests without", leakChecks,
			map[string]string{"acks/a_test.go": "package p", "acks/main_test.go": "package p\nfunc TestMain(m *testing.M) { m.Run() }"},
			[]string{"acks has tests but no TestMain that calls goleak.VerifyTestMain(m)"}},

		{"a library that takes over the process", processUse,
			map[string]string{"core/x.go": `package p
import ("log"; "log/slog"; "os"; sig "os/signal")
func init() { sig.Notify(nil); os.Exit(1) }
func f(l *log.Logger) { log.Printf("x"); slog.InfoContext(nil, "x"); slog.Default() }`},
			[]string{
				"core/x.go:3: signal.Notify in a library: signals belong to the program; take a context",
				"core/x.go:3: os.Exit in a library: return an error, the program decides",
				"core/x.go:4: log.Printf in a library: use the logger from the options; nil means slog.Default()",
				"core/x.go:4: slog.InfoContext in a library: use the logger from the options; nil means slog.Default()",
				"core/x.go:3: func init in a library: importing a package must do no work",
			}},
		{"a program may", processUse,
			map[string]string{"examples/a/x.go": "package main\nimport \"os\"\nfunc init() { os.Exit(1) }"}, nil},

		{"an engine with a life of its own", engineIsPure,
			map[string]string{"internal/engine/x.go": `package p
import ("math/rand/v2"; "log/slog"; "time")
func f(d time.Duration, l *slog.Logger) { go f(d, l); select {}; time.Sleep(d); rand.Int() }`},
			[]string{
				"internal/engine/x.go:2: import of math/rand/v2 in the engine: it calls out only through its ports",
				"internal/engine/x.go:3: time.Sleep in the engine: it calls out only through its ports",
				"internal/engine/x.go:3: a goroutine in the engine: it calls out only through its ports",
				"internal/engine/x.go:3: a select in the engine: it calls out only through its ports",
			}},

		{"a folder for odds and ends", folderNames,
			map[string]string{"internal/util/x.go": "package p"},
			[]string{"internal/util: no folder is called util; name it after what it holds"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := fstest.MapFS{}
			for p, src := range c.tree {
				tree[p] = &fstest.MapFile{Data: []byte(src)}
			}
			files, err := readTree(tree)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.rule(files); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

package sluice_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// programs are the folders whose packages may own the process. All others are
// library folders.
var programs = []string{"cmd/...", "examples/...", "e2e/..."}

func TestEveryTestPackageLooksForLeaks(t *testing.T)    { holdRule(t, leakChecks) }
func TestLibraryLeavesTheProcessAlone(t *testing.T)     { holdRule(t, processUse) }
func TestEngineHasNoGoroutinesOrClock(t *testing.T)     { holdRule(t, engineIsPure) }
func TestFoldersAreNamedAfterWhatTheyHold(t *testing.T) { holdRule(t, folderNames) }

// leakChecks wants a TestMain that calls goleak.VerifyTestMain in every folder
// with test files.
func leakChecks(files []goFile) (problems []string) {
	checked := map[string]bool{}
	var folders []string
	for _, f := range files {
		if !f.test {
			continue
		}
		if !slices.Contains(folders, f.folder) {
			folders = append(folders, f.folder)
		}
		checked[f.folder] = checked[f.folder] || verifiesLeaks(f)
	}
	for _, folder := range folders {
		if !checked[folder] {
			problems = append(problems, folder+" has tests but no TestMain that calls goleak.VerifyTestMain(m)")
		}
	}
	return problems
}

func verifiesLeaks(f goFile) (found bool) {
	for _, decl := range f.syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != "TestMain" {
			continue
		}
		f.uses(fn, func(pkg, name, _ string) {
			found = found || pkg == "go.uber.org/goleak" && name == "VerifyTestMain"
		})
	}
	return found
}

// processUse forbids library folders what belongs to the program: to exit, to
// take signals, to work at init, to log past the logger it was given.
func processUse(files []goFile) (problems []string) {
	for _, f := range files {
		if f.test || matchesAny(programs, f.folder) {
			continue
		}
		f.uses(f.syntax, func(pkg, name, at string) {
			if why := processOnly(pkg, name); why != "" {
				problems = append(problems, fmt.Sprintf("%s: %s.%s in a library: %s", at, path.Base(pkg), name, why))
			}
		})
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				problems = append(problems, f.at(fn)+": func init in a library: importing a package must do no work")
			}
		}
	}
	return problems
}

// processOnly says why a library must not use pkg.name, "" if it may.
func processOnly(pkg, name string) string {
	const logging = "use the logger from the options; nil means slog.Default()"
	switch pkg {
	case "os":
		if name == "Exit" {
			return "return an error, the program decides"
		}
	case "os/signal":
		return "signals belong to the program; take a context"
	case "log":
		if name != "New" && name != "Logger" {
			return logging
		}
	case "log/slog":
		for _, level := range []string{"Debug", "Info", "Warn", "Error", "Log", "SetDefault", "SetLogLoggerLevel"} {
			if name == level || name == level+"Context" || name == level+"Attrs" {
				return logging
			}
		}
	}
	return ""
}

// engineIsPure keeps goroutines, the clock, randomness and input/output out of
// the engine, so that the seeded driver can replay it.
func engineIsPure(files []goFile) (problems []string) {
	report := func(at, what string) {
		problems = append(problems, at+": "+what+" in the engine: it calls out only through its ports")
	}
	for _, f := range files {
		if f.test || !matches("internal/engine/...", f.folder) {
			continue
		}
		for _, i := range f.imports() {
			if impure(i.path) {
				report(i.at, "import of "+i.path)
			}
		}
		f.uses(f.syntax, func(pkg, name, at string) {
			if pkg == "time" && slices.Contains(clock, name) {
				report(at, "time."+name)
			}
		})
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt:
				report(f.at(n), "a goroutine")
			case *ast.SelectStmt:
				report(f.at(n), "a select")
			}
			return true
		})
	}
	return problems
}

// clock lists what package time does with the wall clock.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

func impure(importPath string) bool {
	if importPath == "log/slog" {
		return false
	}
	for _, p := range []string{"math/rand", "crypto/rand", "os", "net", "io/fs", "log", "syscall"} {
		if matches(p+"/...", importPath) {
			return true
		}
	}
	return false
}

// folderNames refuses folders that gather what has no better place.
func folderNames(files []goFile) (problems []string) {
	refused := []string{"util", "utils", "common", "helper", "helpers", "types", "misc", "pkg"}
	var seen []string
	for _, f := range files {
		if slices.Contains(seen, f.folder) {
			continue
		}
		seen = append(seen, f.folder)
		for _, part := range strings.Split(f.folder, "/") {
			if slices.Contains(refused, part) {
				problems = append(problems, fmt.Sprintf("%s: no folder is called %s; name it after what it holds", f.folder, part))
			}
		}
	}
	return problems
}

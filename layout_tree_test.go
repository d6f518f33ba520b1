package sluice_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// goFile is one parsed Go file of the tree, whatever its build constraints.
type goFile struct {
	path   string // slash-separated, from the module's root
	folder string // "." for the root
	test   bool
	fset   *token.FileSet
	syntax *ast.File
}

// readTree parses every Go file of the module in fsys. Folders that the go
// command ignores and modules of their own (bench) are left out.
func readTree(fsys fs.FS) ([]goFile, error) {
	var files []goFile
	fset := token.NewFileSet()
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignoredFolder(fsys, p):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".go":
			return nil
		}
		src, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, goFile{
			path: p, folder: path.Dir(p), test: strings.HasSuffix(p, "_test.go"),
			fset: fset, syntax: syntax,
		})
		return nil
	})
	return files, err
}

func ignoredFolder(fsys fs.FS, p string) bool {
	if p == "." {
		return false
	}
	name := path.Base(p)
	if name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(p, "go.mod"))
	return err == nil
}

// imported is one import of a file.
type imported struct {
	path string
	at   string // file:line
	name string // what the file calls it
}

func (f goFile) imports() []imported {
	var all []imported
	for _, spec := range f.syntax.Imports {
		p, _ := strconv.Unquote(spec.Path.Value) // the parser checked it
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		all = append(all, imported{path: p, at: f.at(spec), name: name})
	}
	return all
}

func (f goFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// uses reports where root mentions pkg.name for a package that f imports.
func (f goFile) uses(root ast.Node, report func(pkgPath, name, at string)) {
	paths := map[string]string{}
	for _, i := range f.imports() {
		paths[i.name] = i.path
	}
	ast.Inspect(root, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && paths[pkg.Name] != "" {
			report(paths[pkg.Name], sel.Sel.Name, f.at(sel))
		}
		return true
	})
}

// matches reports whether folder is what pattern names: itself, or with a
// trailing "/..." everything below it too.
func matches(pattern, folder string) bool {
	base, subtree := strings.CutSuffix(pattern, "/...")
	return folder == base || subtree && strings.HasPrefix(folder, base+"/")
}

func matchesAny(patterns []string, folder string) bool {
	for _, p := range patterns {
		if matches(p, folder) {
			return true
		}
	}
	return false
}

package arrows

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Package is what the check needs to know of one package.
type Package struct {
	Path    string              // inside the module; "" is the root package
	Name    string              // as its files declare it
	Imports map[string][]string // import path -> the files that have it, without tests; module packages by their path inside it
	Tests   map[string][]string // the same of its test files
	Uses    []Use
}

// Use is a mention of a name from package time, math/rand or math/rand/v2.
type Use struct {
	Where   string // file:line
	Package string // import path
	Name    string
	Test    bool
}

// Module is a module's packages by path.
type Module map[string]*Package

// own marks the import path of a package of the module.
const own = "./"

// Read parses all Go files below the root of the module with that name. Folders that hold a module of their own,
// hidden ones, testdata and node_modules are left out; build tags are not looked at, since the rules hold on
// every system.
func Read(files fs.FS, module string) (Module, error) {
	m := Module{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := path.Base(name)
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(files, path.Join(name, "go.mod")); name != "." && err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		return m.add(files, module, name)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the module's sources: %w", err)
	}
	return m, nil
}

func (m Module) add(files fs.FS, module, name string) error {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	p := m[dir]
	if p == nil {
		p = &Package{Path: dir, Imports: map[string][]string{}, Tests: map[string][]string{}}
		m[dir] = p
	}
	test := strings.HasSuffix(name, "_test.go")
	if !test {
		p.Name = file.Name.Name
	}
	locals := map[string]string{} // a file's own name for a package -> import path
	for _, spec := range file.Imports {
		at, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		local := path.Base(at)
		if at == "math/rand/v2" {
			local = "rand"
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		locals[local] = at
		if at == module {
			at = own
		} else if inside, ok := strings.CutPrefix(at, module+"/"); ok {
			at = own + inside
		}
		if test {
			p.Tests[at] = append(p.Tests[at], name)
		} else {
			p.Imports[at] = append(p.Imports[at], name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		if at := locals[id.Name]; at == "time" || at == "math/rand" || at == "math/rand/v2" {
			pos := set.Position(sel.Pos())
			p.Uses = append(p.Uses, Use{Where: fmt.Sprintf("%s:%d", name, pos.Line), Package: at, Name: sel.Sel.Name, Test: test})
		}
		return true
	})
	return nil
}

// inside gives the packages of the module that p's files, without tests, import, sorted.
func (p *Package) inside() []string {
	var found []string
	for at := range p.Imports {
		if in, ok := strings.CutPrefix(at, own); ok {
			found = append(found, in)
		}
	}
	slices.Sort(found)
	return found
}

// support tells whether a package exists for tests: its own files use package testing.
func (p *Package) support() bool { return p.Imports["testing"] != nil }

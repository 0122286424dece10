package sql_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	gocommand "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// code says which functions of this module use which, by full name. A call through an interface reaches the method of
// every type that has the interface.
type code struct {
	uses   map[string]map[string]bool
	folder map[string]string // of each function
}

// readCode reads this module's packages with their types; other modules' come from the compiler's exports.
func readCode(t *testing.T) *code {
	t.Helper()
	var list []string
	for _, p := range processes {
		for _, folder := range p.whole {
			list = append(list, "axflow/"+folder)
		}
	}
	own, others := goList(t, list, "-deps"), []string(nil)
	for _, p := range own {
		if !read(p[0]) {
			others = append(others, p[0])
		}
	}
	u := &universe{fset: token.NewFileSet(), exports: make(map[string]string), own: make(map[string]*types.Package)}
	u.others = importer.ForCompiler(u.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(u.exports[path]) })
	c := &code{uses: make(map[string]map[string]bool), folder: make(map[string]string)}
	var infos []*types.Info
	var asts [][]*ast.File
	for _, p := range goList(t, others, "-export") {
		u.exports[p[0]] = p[2]
	}
	for _, p := range own { // what is imported comes before who imports it
		if !read(p[0]) {
			continue
		}
		var files []*ast.File
		for name := range strings.FieldsSeq(p[3]) {
			files = append(files, parse(t, u.fset, filepath.Join(p[1], name)))
		}
		info := &types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}
		// The API's generated code is long, and runs no statement by itself.
		cfg := types.Config{Importer: u, Sizes: types.SizesFor("gc", runtime.GOARCH), IgnoreFuncBodies: p[0] == "axflow/api/gen"}
		checked, err := cfg.Check(p[0], u.fset, files, info)
		if err != nil {
			t.Fatalf("reading %s: %v", p[0], err)
		}
		u.own[p[0]] = checked
		infos, asts = append(infos, info), append(asts, files)
	}
	named, known := u.named(), make(map[*types.Func][]string)
	for i, info := range infos {
		for _, f := range asts[i] {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || info.Defs[fn.Name] == nil {
					continue
				}
				from := info.Defs[fn.Name].(*types.Func)
				c.folder[from.FullName()] = strings.TrimPrefix(from.Pkg().Path(), "axflow/")
				uses := make(map[string]bool)
				c.uses[from.FullName()] = uses
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						if to, ok := info.Uses[id].(*types.Func); ok {
							to = to.Origin()
							if known[to] == nil {
								known[to] = reaches(to, named)
							}
							for _, name := range known[to] {
								uses[name] = true
							}
						}
					}
					return true
				})
			}
		}
	}
	return c
}

// read tells whether a package's source is read.
func read(path string) bool { return strings.HasPrefix(path, "axflow/") }

// goList lists packages: path, folder, the compiler's export, files.
func goList(t *testing.T, list []string, how string) [][]string {
	t.Helper()
	args := append([]string{"list", how, "-f", "{{.ImportPath}}\t{{.Dir}}\t{{.Export}}\t{{join .GoFiles \" \"}}"}, list...)
	out, err := gocommand.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	var all [][]string
	for line := range strings.Lines(string(out)) {
		all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return all
}

// universe imports this module's packages as they were read, so that their types are the same everywhere.
type universe struct {
	fset    *token.FileSet
	exports map[string]string
	own     map[string]*types.Package
	others  types.Importer
}

func (u *universe) Import(path string) (*types.Package, error) {
	if p := u.own[path]; p != nil {
		return p, nil
	}
	if read(path) {
		return nil, fmt.Errorf("package %s was not read yet", path)
	}
	return u.others.Import(path)
}

// named are the module's named types.
func (u *universe) named() []types.Type {
	var all []types.Type
	for _, p := range u.own {
		for _, name := range p.Scope().Names() {
			if n, ok := p.Scope().Lookup(name).(*types.TypeName); ok && !types.IsInterface(n.Type()) {
				all = append(all, n.Type())
			}
		}
	}
	return all
}

// reaches are the functions that a use of fn may call.
func reaches(fn *types.Func, named []types.Type) []string {
	names := []string{fn.FullName()}
	recv := fn.Signature().Recv()
	if recv == nil {
		return names
	}
	iface, ok := recv.Type().Underlying().(*types.Interface)
	if !ok {
		return names
	}
	for _, n := range named {
		if p := types.NewPointer(n); types.Implements(p, iface) {
			if m, _, _ := types.LookupFieldOrMethod(p, true, fn.Pkg(), fn.Name()); m != nil {
				names = append(names, m.(*types.Func).Origin().FullName())
			}
		}
	}
	return names
}

// statements are the statements of a process, by name.
func (c *code) statements(whole, roots []string, texts map[string]string) []string {
	seen, used := make(map[string]bool), make(map[string]bool)
	next := slices.Clone(roots)
	for fn, folder := range c.folder {
		if slices.Contains(whole, folder) {
			next = append(next, fn)
		}
	}
	for len(next) > 0 {
		fn := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[fn] {
			continue
		}
		seen[fn] = true
		if name, ok := strings.CutPrefix(fn, "(*axflow/sql/db.Queries)."); ok && texts[name] != "" {
			used[name] = true
			continue
		}
		next = slices.AppendSeq(next, maps.Keys(c.uses[fn]))
	}
	return slices.Sorted(maps.Keys(used))
}

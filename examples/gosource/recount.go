package main

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// recount counts a tree once more, outside the engine and with none of the stages' code: it is what the flow is
// checked against.
func recount(ctx context.Context, root string) (Counts, error) {
	var read, newlines, remarks, receivers int64
	nodes := map[reflect.Type]int64{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (name == "testdata" || name[0] == '.' || name[0] == '_') {
				return filepath.SkipDir
			}
			return ctx.Err()
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(path) //nolint:gosec // found by the walk
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read++
		newlines += int64(bytes.Count(append(bytes.TrimSuffix(src, []byte("\n")), '\n'), []byte("\n")))
		for _, group := range file.Comments {
			remarks += int64(len(group.List))
		}
		for n := range ast.Preorder(file) {
			nodes[reflect.TypeOf(n)]++
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				receivers++
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walking %s: %w", root, err)
	}
	counted := Counts{
		files: read, lines: newlines, comments: remarks, methods: receivers,
		functions:  nodes[reflect.TypeFor[*ast.FuncDecl]()] - receivers,
		closures:   nodes[reflect.TypeFor[*ast.FuncLit]()],
		types:      nodes[reflect.TypeFor[*ast.TypeSpec]()],
		structs:    nodes[reflect.TypeFor[*ast.StructType]()],
		interfaces: nodes[reflect.TypeFor[*ast.InterfaceType]()],
		gos:        nodes[reflect.TypeFor[*ast.GoStmt]()],
		defers:     nodes[reflect.TypeFor[*ast.DeferStmt]()],
		selects:    nodes[reflect.TypeFor[*ast.SelectStmt]()],
		channels:   nodes[reflect.TypeFor[*ast.ChanType]()],
	}
	return counted, nil
}

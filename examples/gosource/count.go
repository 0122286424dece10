package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"axflow/stage"
)

// countPackage counts the constructs of all files of a package.
func countPackage(ctx context.Context, root string, p Package) (Counts, error) {
	total := Counts{}
	for _, name := range p.Files {
		if err := ctx.Err(); err != nil {
			return nil, err // the run was cancelled, or this worker is to stop
		}
		path := filepath.Join(root, filepath.FromSlash(p.Path), name)
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a source file: %w", err)
		}
		c, err := countSource(path, src)
		if err != nil {
			return nil, err
		}
		total.Add(c)
	}
	return total, nil
}

// countSource counts the constructs of one file.
func countSource(path string, src []byte) (Counts, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		// A permanent error is not worth a retry: the run fails at once.
		return nil, stage.Permanent(fmt.Errorf("parsing a source file: %w", err))
	}
	c := Counts{files: 1, lines: int64(set.File(file.FileStart).LineCount())}
	for _, group := range file.Comments {
		c[comments] += int64(len(group.List))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if construct := constructOf(n); construct != "" {
			c[construct]++
		}
		return true
	})
	return c, nil
}

// constructOf returns the construct that n is, or "".
func constructOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv != nil {
			return methods
		}
		return functions
	case *ast.FuncLit:
		return closures
	case *ast.TypeSpec:
		return types
	case *ast.StructType:
		return structs
	case *ast.InterfaceType:
		return interfaces
	case *ast.GoStmt:
		return gos
	case *ast.DeferStmt:
		return defers
	case *ast.SelectStmt:
		return selects
	case *ast.ChanType:
		return channels
	}
	return ""
}

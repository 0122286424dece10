package sql_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/internal/pgtest"
)

// What each part's process may call: every function of the packages in whole, those in roots, and whatever these reach.
var processes = map[string]struct{ whole, roots []string }{
	"engine": {whole: []string{"engine", "engine/leader", "engine/alive", "engine/dispatch", "engine/resolve", "engine/replay", "engine/clock", "engine/webhook", "engine/late", "engine/throughput"}},
	"worker": {whole: []string{"worker"}, roots: []string{"axflow/engine/control.NewClient", "(*axflow/engine/control.Client).Register",
		"(*axflow/engine/control.Client).Start", "(*axflow/engine/control.Client).StartTx"}},
	"api": {whole: []string{"api/access", "api/rest", "api/live", "api/query", "engine/control", "engine/explain", "engine/advise"}},
}

// never are statements that a part's code holds and its process does not run.
var never = map[string][]string{
	"worker": {
		"Fence",       // moving spans begins with it where the caller is a leader
		"InsertAudit", // a start writes it where a person asked for it
	},
}

// apart are privileges that statements outside of sql/queries need.
var apart = map[string][]string{
	"engine": {"INSERT ON ax.partition"},   // EnsurePartitions
	"worker": {"INSERT ON ax.shard_input"}, // COPY
}

// Every statement that a part can run is allowed to its role, and every privilege of a role is needed by one of its statements.
func rolesSuffice(t *testing.T, e *pgtest.Estate) {
	ctx := pgtest.Context(t, 5*time.Minute)
	texts := statements(t)
	code := readCode(t)
	for part, process := range processes {
		used := code.statements(process.whole, process.roots, texts)
		if len(used) < 20 {
			t.Fatalf("%s runs only %d statements: has the code moved?", part, len(used))
		}
		conn := e.Dial(e.Login("s"+part, part))
		prepared := make(map[string]string)
		for _, name := range used {
			run, err := prepare(ctx, conn, name, texts[name])
			if err != nil {
				t.Errorf("%s: %s: %v", part, name, err)
				continue
			}
			prepared[name] = run
			if _, err := conn.Exec(ctx, run); err != nil && !slices.Contains(never[part], name) {
				t.Errorf("%s runs %s, but %v", part, name, err)
			} else if err == nil && slices.Contains(never[part], name) {
				t.Errorf("%s never runs %s, and may", part, name)
			}
		}
		needed(t, e, part, conn, prepared, texts)
	}
}

// needed takes each privilege of a part's role away and looks for a statement that misses it.
func needed(t *testing.T, e *pgtest.Estate, part string, conn *pgx.Conn, prepared, texts map[string]string) {
	t.Helper()
	ctx := t.Context()
	role := e.Prefix + "_" + part
	rows, err := e.Pool.Query(ctx, `SELECT c.relname::text, a.privilege_type::text FROM pg_class c, aclexplode(c.relacl) a
		WHERE c.relnamespace = 'ax'::regnamespace AND NOT c.relispartition AND a.grantee = $1::regrole AND c.relowner <> a.grantee
		  AND c.relname <> 'schema_version' ORDER BY 1, 2`, role)
	if err != nil {
		t.Fatal(err)
	}
	type grant struct{ Table, Privilege string }
	grants, err := pgx.CollectRows(rows, pgx.RowToStructByPos[grant])
	if err != nil || len(grants) < 10 {
		t.Fatalf("privileges of %s: %v, %v", role, grants, err)
	}
	for _, g := range grants {
		what := fmt.Sprintf("%s ON ax.%s", g.Privilege, g.Table)
		e.Exec("REVOKE " + what + " FROM " + role)
		missed := false
		for name, run := range prepared {
			if !strings.Contains(texts[name], "ax."+g.Table) {
				continue
			}
			if _, err := conn.Exec(ctx, run); err != nil && strings.Contains(err.Error(), "42501") {
				missed = true
				break
			}
		}
		if !missed && !slices.Contains(apart[part], what) {
			t.Errorf("%s has %s, and no statement of it needs that", part, what)
		}
		e.Exec("GRANT " + what + " TO " + role)
	}
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// prepare prepares a statement and returns the one that explains it: that checks privileges as running it would, and runs nothing.
func prepare(ctx context.Context, conn *pgx.Conn, name, text string) (string, error) {
	most := 0
	for _, m := range parameter.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		most = max(most, n)
	}
	if _, err := conn.Exec(ctx, "PREPARE "+name+" AS "+text); err != nil {
		return "", err
	}
	run := "EXPLAIN EXECUTE " + name
	if most > 0 {
		run += "(" + strings.Repeat("NULL, ", most-1) + "NULL)"
	}
	return run, nil
}

// statements are all that sqlc has compiled, by name.
func statements(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	files, err := filepath.Glob("db/*.sql.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, d := range parse(t, token.NewFileSet(), file).Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				for _, v := range s.(*ast.ValueSpec).Values {
					lit, ok := v.(*ast.BasicLit)
					if !ok {
						continue
					}
					text, err := strconv.Unquote(lit.Value)
					if err != nil {
						continue
					}
					if header, ok := strings.CutPrefix(text, "-- name: "); ok {
						name, _, _ := strings.Cut(header, " ")
						all[name] = text
					}
				}
			}
		}
	}
	return all
}

func parse(t *testing.T, fset *token.FileSet, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

package arrows

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"
)

// This module's own arrows.
func TestThisModule(t *testing.T) {
	root := "../.."
	gomod, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := bytes.Cut(gomod, []byte("\n"))
	module, ok := strings.CutPrefix(string(line), "module ")
	if !ok {
		t.Fatalf("go.mod begins with %q, not with the module's name", line)
	}
	m, err := Read(os.DirFS(root), module)
	if err != nil {
		t.Fatal(err)
	}
	for path := range pure {
		if m[path] == nil {
			t.Errorf("the pure package %s does not exist: has it moved?", path)
		}
	}
	for _, fault := range Check(m) {
		t.Error(fault)
	}
}

// The sources are read without the go command; it must see the same packages.
func TestReadSeesEveryPackage(t *testing.T) {
	out, err := exec.Command("go", "list", "-e", "-f", "{{.ImportPath}}", "axflow/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(os.DirFS("../.."), "axflow")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		inside := strings.TrimPrefix(strings.TrimPrefix(path, "axflow"), "/")
		if m[inside] == nil {
			t.Errorf("package %s was not read", path)
		}
	}
}

func TestEveryRuleFires(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // part of the only fault; "" means none
	}{
		"down": {map[string]string{
			"flow/a.go": `package flow; import _ "m/stage"`, "stage/a.go": `package stage`,
		}, ""},
		"up": {map[string]string{
			"stage/a.go": `package stage; import _ "m/flow"`, "flow/a.go": `package flow`,
		}, "stage must not import flow (stage -> flow in stage/a.go): imports point down only"},
		"up to the root": {map[string]string{
			"api/a.go": `package api; import _ "m"`, "a.go": `package m`,
		}, "api must not import the root package"},
		"the root from above": {map[string]string{
			"cmd/ax/a.go": `package main; import _ "m"`, "a.go": `package m`,
		}, ""},
		"engine knows worker": {map[string]string{
			"engine/leader/a.go": `package leader; import _ "m/worker"`, "worker/a.go": `package worker`,
		}, "engine/leader must not import worker (engine/leader -> worker in engine/leader/a.go): engine and worker meet in the database"},
		"worker knows engine": {map[string]string{
			"worker/a.go": `package worker; import _ "m/engine/clock"`, "engine/clock/a.go": `package clock`,
		}, "worker must not import engine/clock"},
		"siblings": {map[string]string{
			"engine/a.go": `package engine; import _ "m/engine/clock"`, "engine/clock/a.go": `package clock`,
		}, ""},
		"examples know cmd": {map[string]string{
			"examples/x/a.go": `package main; import _ "m/cmd/ax/tree"`, "cmd/ax/tree/a.go": `package tree`,
		}, "folders that share a layer"},
		"a program in a folder of the page": {map[string]string{
			"web/sandbox/a.go": `package main; import _ "m"`, "a.go": `package m`,
		}, ""},
		"the page knows a program": {map[string]string{
			"web/a.go": `package web; import _ "m/web/sandbox"`, "web/sandbox/a.go": `package sandbox`,
		}, "web must not import web/sandbox"},
		"up through an internal": {map[string]string{
			"sql/a.go": `package sql; import _ "m/internal/x"`, "internal/x/a.go": `package x; import _ "m/internal/y"`,
			"internal/y/a.go": `package y; import _ "m/worker"`, "worker/a.go": `package worker`,
		}, "sql must not import worker (sql -> internal/x -> internal/y -> worker in internal/y/a.go)"},
		"a test may look up": {map[string]string{
			"sql/a.go": `package sql`, "sql/a_test.go": `package sql_test; import _ "m/engine"`, "engine/a.go": `package engine`,
		}, ""},
		"no place": {map[string]string{"lib/a.go": `package lib`}, `folder "lib" has no place`},
		"vague":    {map[string]string{"engine/util/a.go": `package util`}, `named "util"`},
		"pure with os": {map[string]string{
			"flow/a.go": `package flow; import _ "os"`,
		}, `flow is pure, but flow/a.go imports "os"`},
		"pure with a driver": {map[string]string{
			"flow/a.go": `package flow; import _ "github.com/jackc/pgx/v5"`,
		}, `imports "github.com/jackc/pgx/v5"`},
		"pure with http": {map[string]string{
			"engine/wheel/a.go": `package wheel; import _ "net/http"`,
		}, `imports "net/http"`},
		"pure with os through an internal": {map[string]string{
			"flow/a.go": `package flow; import _ "m/internal/x"`, "internal/x/a.go": `package x; import _ "os/exec"`,
		}, `imports "os/exec" (flow -> internal/x in flow/a.go)`},
		"pure on the impure": {map[string]string{
			"engine/wheel/a.go": `package wheel; import _ "m/sql"`, "sql/a.go": `package sql`,
		}, "engine/wheel is pure and must not import sql"},
		"a pure one's test may use anything": {map[string]string{
			"flow/a.go": `package flow`, "flow/a_test.go": `package flow; import ("os"; "time"); var _, _ = os.Args, time.Now`,
		}, ""},
		"clock": {map[string]string{
			"stage/a.go": "package stage\nimport \"time\"\nfunc f() { _ = time.Now() }",
		}, "stage/a.go:3 uses time.Now"},
		"clock by another name": {map[string]string{
			"stage/a.go": "package stage\nimport tick \"time\"\nvar f = tick.AfterFunc",
		}, "stage/a.go:3 uses time.AfterFunc"},
		"clock through an internal": {map[string]string{
			"stage/a.go": `package stage; import _ "m/internal/x"`, "internal/x/a.go": "package x\nimport \"time\"\nvar f = time.Sleep",
		}, "internal/x/a.go:3 uses time.Sleep"},
		"durations are no clock": {map[string]string{
			"stage/a.go": `package stage; import "time"; const d = 3 * time.Second; func f(t time.Time) time.Time { return t.Add(d) }`,
		}, ""},
		"hidden randomness": {map[string]string{
			"worker/a.go": `package worker; import "math/rand/v2"; var n = rand.IntN(3)`,
		}, "math/rand/v2.IntN draws from a hidden source"},
		"hidden randomness in a test": {map[string]string{
			"worker/a.go": `package worker`, "worker/a_test.go": `package worker; import "math/rand"; var n = rand.Intn(3)`,
		}, "math/rand.Intn draws from a hidden source"},
		"seeded randomness": {map[string]string{
			"worker/a.go": `package worker; import "math/rand/v2"; func f(r *rand.Rand) int { return rand.New(rand.NewPCG(1, 2)).IntN(3) + r.IntN(3) }`,
		}, ""},
		"test support outside tests": {map[string]string{
			"worker/a.go": `package worker; import _ "m/internal/x"`, "internal/x/a.go": `package x; import _ "testing"`,
		}, "worker must not import internal/x (worker -> internal/x in worker/a.go): it exists for tests"},
		"test support in tests": {map[string]string{
			"worker/a.go": `package worker`, "worker/a_test.go": `package worker; import _ "m/internal/x"`,
			"internal/x/a.go": `package x; import (_ "testing"; _ "m/internal/y")`, "internal/y/a.go": `package y; import _ "testing"`,
		}, ""},
		"other modules and testdata are not read": {map[string]string{
			"bench/peers/go.mod": "module peers", "bench/peers/a.go": `package util`, "flow/testdata/a.go": `package util`,
			"web/node_modules/a.go": `package util`, ".hidden/a.go": `package util`,
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{}
			for path, text := range c.files {
				files[path] = &fstest.MapFile{Data: []byte(text)}
			}
			m, err := Read(files, "m")
			if err != nil {
				t.Fatal(err)
			}
			faults := Check(m)
			switch {
			case c.want == "" && len(faults) > 0:
				t.Errorf("unexpected faults: %q", faults)
			case c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.want)):
				t.Errorf("got the faults %q, want one with %q in it", faults, c.want)
			}
		})
	}
}

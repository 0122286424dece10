package conformance

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
)

// A client that openapi-typescript makes of the document compiles under TypeScript's strictest settings and drives a run.
func TestAClientOfAnotherGeneratorDrivesARun(t *testing.T) {
	l := newLab(t, admin("default"))
	server := httptest.NewServer(l.handler)
	defer server.Close()
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "tsconfig.json", "drive.ts"} {
		text, err := os.ReadFile(filepath.Join("typescript", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec, err := filepath.Abs("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run(t, l.ctx, dir, nil, "npm", "ci", "--no-audit", "--no-fund", "--prefer-offline")
	run(t, l.ctx, dir, nil, "npx", "openapi-typescript", spec, "-o", "api.d.ts")
	run(t, l.ctx, dir, nil, "npx", "tsc")
	out := run(t, l.ctx, dir, []string{"AX_URL=" + server.URL, "AX_TOKEN=none-is-asked-for", "AX_FLOW=sums"}, "node", "out/drive.js")
	var got, want any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("the client printed %q: %v", out, err)
	}
	// Rows 0 to 9 in pieces of two: five shards, whose outputs are their indices, 0+1+2+3+4.
	const right = `{"role": "admin", "sameRun": true, "state": "succeeded", "outputs": {"report": 10},
		"stages": [["pull", "succeeded", 1, 1], ["sum", "succeeded", 5, 5], ["report", "succeeded", 1, 1]],
		"found": [true], "shards": [[0, "succeeded"], [1, "succeeded"]], "more": true,
		"wrong": [422, "invalid", ["/params/rows"]], "cancelled": [409, "conflict"]}`
	if err := json.Unmarshal([]byte(right), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the client saw\n%s, want\n%s", out, right)
	}
}

// run runs a program of Node's and returns what it printed.
func run(t *testing.T, ctx context.Context, dir string, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

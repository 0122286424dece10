package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const list = `# a comment

name: a plus becomes a minus
file: sum.go
test: . -run Sum
<<<<
a + b
====
a - b
>>>>

name: a line goes
file: sum.go
test: .
<<<<
	n++
====
>>>>
`

func TestParse(t *testing.T) {
	got, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 {
		t.Fatalf("got %d mutants, want 2", len(got))
	}
	first, second := got[0], got[1]
	if first.name != "a plus becomes a minus" || first.file != "sum.go" || strings.Join(first.test, "|") != ".|-run|Sum" ||
		first.from != "a + b" || first.to != "a - b" {
		t.Errorf("the first mutant is %+v", first)
	}
	if second.from != "\tn++" || second.to != "" {
		t.Errorf("the second mutant is %+v", second)
	}
}

func TestParseRefuses(t *testing.T) {
	whole := "name: x\nfile: f.go\ntest: .\n<<<<\na\n====\nb\n>>>>\n"
	for name, c := range map[string]struct{ text, want string }{
		"a twin":            {whole + whole, `line 16: a second mutant is named "x"`},
		"no end":            {"name: x\nfile: f.go\ntest: .\n<<<<\na\n", `mutant "x" has no end`},
		"no tests":          {"name: x\nfile: f.go\n<<<<\na\n====\nb\n>>>>\n", "names no tests"},
		"a file outside":    {"name: x\nfile: ../f.go\ntest: .\n<<<<\na\n====\nb\n>>>>\n", "not below the root"},
		"no change":         {"name: x\nfile: f.go\ntest: .\n<<<<\na\n====\na\n>>>>\n", "changes nothing"},
		"no name":           {"file: f.go\ntest: .\n<<<<\na\n====\nb\n>>>>\n", "no name"},
		"nothing to change": {"name: x\nfile: f.go\ntest: .\n<<<<\n====\nb\n>>>>\n", "is empty"},
		"an unknown line":   {"nane: x\n", `line 1: "nane: x" is none of`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestKiller(t *testing.T) {
	for want, out := range map[string]string{
		"TestA":                "--- FAIL: TestA (0.00s)\n",
		"TestA/x":              "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\n--- FAIL: TestB (0.00s)\n",
		"the deadline":         "panic: test timed out after 1s\n",
		"a panic":              "panic: oh\n",
		"a failed test binary": "exit status 3\n",
	} {
		if got := killer([]byte(out)); got != want {
			t.Errorf("killer(%q) = %q, want %q", out, got, want)
		}
	}
}

// module makes a module in a git work tree, with these files.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "init", "-q")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	return dir
}

var sum = map[string]string{
	"go.mod": "module m\n\ngo 1.26\n",
	"sum.go": `package m

func Sum(a, b int) int { return a + b }

func Count(xs []int) (n int) {
	for range xs {
		n++
	}
	return n
}
`,
	"sum_test.go": `package m

import "testing"

func TestSum(t *testing.T) {
	if Sum(1, 2) != 3 {
		t.Error("wrong")
	}
}

func TestCount(t *testing.T) {
	Count([]int{1}) // looks at nothing
}
`,
}

func TestRun(t *testing.T) {
	root := module(t, sum)
	at := filepath.Join(root, "list.txt")
	if err := os.WriteFile(at, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(context.Background(), []string{"-root", root, "-list", at}, &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 mutants survived: a line goes") {
		t.Errorf("got %v, want the survivor's name", err)
	}
	want := `| Mutant | File | Verdict |
|---|---|---|
| a plus becomes a minus | ` + "`sum.go` | killed by `TestSum`" + ` |
| a line goes | ` + "`sum.go`" + ` | **survived** |

1 of 2 killed.
`
	if out.String() != want {
		t.Errorf("the table is\n%swant\n%s", &out, want)
	}
	if text, err := os.ReadFile(filepath.Join(root, "sum.go")); err != nil || string(text) != sum["sum.go"] {
		t.Errorf("the work tree was touched: %v", err)
	}
	out.Reset()
	if err := run(context.Background(), []string{"-root", root, "-list", at, "-only", "plus"}, &out, io.Discard); err != nil {
		t.Errorf("only the killed mutant: %v", err)
	}
}

func TestRunRefuses(t *testing.T) {
	for name, c := range map[string]struct{ from, to, test, want string }{
		"does not compile": {"a + b", "a +", ".", "does not compile"},
		"not there":        {"a * b", "a", ".", "0 times"},
		"twice there":      {"int", "int8", ".", "times in sum.go, want once"},
		"no such test":     {"a + b", "a - b", ". -run Nothing", "runs no test"},
	} {
		t.Run(name, func(t *testing.T) {
			root := module(t, sum)
			at := filepath.Join(root, "list.txt")
			text := "name: x\nfile: sum.go\ntest: " + c.test + "\n<<<<\n" + c.from + "\n====\n" + c.to + "\n>>>>\n"
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(context.Background(), []string{"-root", root, "-list", at}, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

// The list of this module must fit its sources, so that a change that moves a mutant's text is noticed at once.
func TestListFits(t *testing.T) {
	text, err := os.ReadFile("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := fit("../..", mutants); err != nil {
		t.Error(err)
	}
}

package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"axflow/internal/cli"
)

// alone runs a command that needs no database, with an environment of its own.
func alone(t *testing.T, code int, env map[string]string, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	got := cli.Run(context.Background(), cli.Config{Name: "ax", Version: "test", Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &problems,
		Getenv: func(name string) string { return env[name] }}, args)
	if got != code {
		t.Fatalf("ax %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), problems.String())
	}
	return out.String(), problems.String()
}

func TestProfiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ax", "profiles.json")
	env := map[string]string{"AX_CONFIG": path}
	stdout, _ := alone(t, 0, env, "", "profile", "list")
	says(t, stdout, "there are no profiles")
	_, notes := alone(t, 0, env, "ax_secret\n", "profile", "set", "prod", "--url", "http://127.0.0.1:1", "--token-stdin")
	says(t, notes, "`ax profile use prod`")
	alone(t, 0, env, "", "profile", "set", "test", "--database-url", "postgres://u:hunter2@127.0.0.1:1/x", "--namespace", "etl", "--use")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v; want 0600", info.Mode(), err)
	}
	stdout, _ = alone(t, 0, env, "", "profile", "list")
	says(t, stdout, "*  test", "etl", "prod", "in the profile")
	both, _ := alone(t, 0, env, "", "profile", "list", "--json")
	for _, secret := range []string{"ax_secret", "hunter2"} {
		if strings.Contains(stdout+both, secret) {
			t.Errorf("%s is shown:\n%s%s", secret, stdout, both)
		}
	}

	// What names a place: a flag, then the environment, then the profile in use.
	_, stderr := alone(t, 1, env, "", "--profile", "prod", "me")
	says(t, stderr, "asking http://127.0.0.1:1")
	_, stderr = alone(t, 1, map[string]string{"AX_CONFIG": path, "AX_PROFILE": "prod"}, "", "me")
	says(t, stderr, "asking http://127.0.0.1:1")
	_, stderr = alone(t, 1, map[string]string{"AX_CONFIG": path, "AX_PROFILE": "prod", "AX_URL": "http://127.0.0.1:2"}, "", "me")
	says(t, stderr, "asking http://127.0.0.1:2")
	_, stderr = alone(t, 1, map[string]string{"AX_CONFIG": path, "AX_URL": "http://127.0.0.1:2"}, "", "--url", "http://127.0.0.1:3", "me")
	says(t, stderr, "asking http://127.0.0.1:3")

	alone(t, 0, env, "", "profile", "use", "prod")
	_, stderr = alone(t, 1, env, "", "me")
	says(t, stderr, "asking http://127.0.0.1:1")
	alone(t, 0, env, "", "profile", "remove", "prod")
	stdout, _ = alone(t, 0, env, "", "profile", "list")
	if strings.Contains(stdout, "prod") || strings.Contains(stdout, "*") {
		t.Errorf("after removing the one in use:\n%s", stdout)
	}
	for want, args := range map[string][]string{
		"did you mean test?":         {"profile", "use", "tset"},
		"names no place":             {"profile", "set", "x"},
		"is no server's URL":         {"profile", "set", "x", "--url", "ftp://example.com"},
		"holds a password":           {"profile", "set", "x", "--url", "https://u:p@example.com"},
		"token is for a server":      {"profile", "set", "test", "--token-stdin"},
		"a namespace is for a datab": {"profile", "set", "x", "--url", "https://example.com", "--namespace", "etl"},
		"held no token":              {"profile", "set", "x", "--url", "https://example.com", "--token-stdin"},
		"profile \"no\", which does": {"--profile", "no", "me"},
		"exclude each other":         {"--url", "http://a", "--database-url", "b", "me"},
	} {
		stdin := ""
		if want == "token is for a server" {
			stdin = "ax_x"
		}
		_, stderr := alone(t, 2, env, stdin, args...)
		says(t, stderr, want)
	}
}

func TestProfilesThatOthersMayReadAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profiles.json")
	if err := os.WriteFile(path, []byte(`{"profiles":{"a":{"url":"http://127.0.0.1:1"}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AX_CONFIG": path}
	_, stderr := alone(t, 2, env, "", "--profile", "a", "me")
	says(t, stderr, "may be read by others (mode 0644)", "chmod 600")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	alone(t, 1, env, "", "--profile", "a", "me")
	if err := os.WriteFile(path, []byte(`{"profiles":{"a":{"uri":"x"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr = alone(t, 2, env, "", "--profile", "a", "me")
	says(t, stderr, `unknown field "uri"`)
}

func TestManualPagesAndCompletion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	alone(t, 0, nil, "", "man", dir)
	page, err := os.ReadFile(filepath.Join(dir, "ax-run-start.1"))
	if err != nil {
		t.Fatal(err)
	}
	says(t, string(page), "run start FLOW", "idempotency key")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if stdout, _ := alone(t, 0, nil, "", "completion", shell); len(stdout) < 1000 {
			t.Errorf("completion for %s: %q", shell, stdout)
		}
	}
	stdout, _ := alone(t, 0, nil, "", "__complete", "run", "l")
	says(t, stdout, "list", "logs", "level")
}

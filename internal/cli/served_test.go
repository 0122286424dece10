package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"axflow"
	"axflow/internal/pgtest"
)

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// dev serves the API without credentials, and says where, and that whoever is here may do everything.
func TestDevServesTheAPI(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, nil}
	out := x.dev()
	pgtest.Eventually(t, time.Minute, func() (bool, string) { return strings.Contains(out.String(), "Ctrl-C"), out.String() })
	says(t, out.String(), "/api/docs", "without authentication")
	url := address.FindString(out.String())
	if !strings.HasPrefix(out.String(), "page: "+url+"/\n") {
		t.Errorf("it does not say first where the page is:\n%s", out.String())
	}
	if !strings.HasSuffix(url, ":7780") { // another test's, or a server of the machine's, has it
		says(t, out.String(), "(127.0.0.1:7780 is taken)")
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Get(url + "/api/v1/me")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", res.StatusCode, text, err)
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	says(t, string(text), fmt.Sprintf(`"actor":"local:%s"`, u.Username), `"namespace":"default"`, `"via":"local"`)
}

// dev serves the page, and shows it if it is asked to.
func TestDevShowsThePage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("what opens an address is found by its name on Linux only")
		return
	}
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >"+seen+".part && mv "+seen+".part "+seen+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	x := terminal{t, pgtest.New(t).URL, nil}
	out := x.dev("--open")
	var shown string
	pgtest.Eventually(t, time.Minute, func() (bool, string) {
		b, err := os.ReadFile(seen)
		shown = strings.TrimSpace(string(b))
		return err == nil, out.String()
	})
	if want := address.FindString(out.String()) + "/"; shown != want {
		t.Errorf("the browser was shown %q, want %q", shown, want)
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Get(shown)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), "<title>AX</title>") {
		t.Errorf("%d %s %v", res.StatusCode, text, err)
	}
}

func TestUnsafeServersAreRefused(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, nil}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"a page from elsewhere, for all": {[]string{"server", "--listen", "0.0.0.0:0", "--insecure-http", "--page-proxy", "http://127.0.0.1:1"}, 1, "on loopback"},
		"a page from nowhere":            {[]string{"dev", "--page-proxy", "5173"}, 2, "--page-proxy"},
		"nothing to run":                 {[]string{"server", "--no-engine", "--api=false"}, 2, "nothing to run"},
		"plain HTTP for all":             {[]string{"server", "--listen", "0.0.0.0:0"}, 1, "plain HTTP"},
		"nobody asked":                   {[]string{"server", "--listen", "0.0.0.0:0", "--insecure-http", "--no-auth"}, 1, "on loopback only"},
		"dev for all":                    {[]string{"dev", "--listen", ":0"}, 1, "on loopback only"},
		"a certificate without key":      {[]string{"server", "--listen", "127.0.0.1:0", "--tls-cert", "x"}, 1, "both a certificate and a key"},
		"no address":                     {[]string{"server", "--listen", "everywhere"}, 1, "host:port"},
		"a certificate that is none":     {[]string{"server", "--listen", "127.0.0.1:0", "--tls-cert", "/nothing", "--tls-key", "/nothing"}, 1, "reading the certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			y := x
			y.t = t
			_, stderr := y.ax(c.code, c.args...)
			says(t, stderr, c.says)
		})
	}
}

// A server that was told where to listen does not listen elsewhere.
func TestServerDoesNotMove(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	x := terminal{t, pgtest.New(t).URL, nil}
	for _, command := range []string{"server", "dev"} {
		_, stderr := x.ax(1, command, "--listen", taken.Addr().String())
		says(t, stderr, "something else listens on "+taken.Addr().String())
	}
}

// Without engine a server serves, and without API it runs an engine.
func TestHalvesOfAServer(t *testing.T) {
	d := pgtest.New(t)
	for name, c := range map[string]struct {
		args []string
		has  string
		not  string
	}{
		"the API alone":    {[]string{"--no-engine", "--listen", "127.0.0.1:0"}, "clients need a token", "it leads"},
		"the engine alone": {[]string{"--api=false"}, "it leads", "/api/docs"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var out text
			var wrong bytes.Buffer
			code := make(chan int, 1)
			go func() {
				code <- axflow.Run(ctx, append([]string{"--database-url", d.URL, "server"}, c.args...), &out, &wrong)
			}()
			pgtest.Eventually(t, time.Minute, func() (bool, string) { return strings.Contains(out.String(), "Ctrl-C"), out.String() })
			says(t, out.String(), c.has)
			if strings.Contains(out.String(), c.not) {
				t.Errorf("%q is in\n%s", c.not, out.String())
			}
			cancel()
			if got := pgtest.Receive(t, time.Minute, code, "the end"); got != 0 {
				t.Errorf("it ended with %d: %s", got, wrong.String())
			}
		})
	}
}

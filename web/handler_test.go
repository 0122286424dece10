package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"axflow/web"
)

const (
	home   = "<!doctype html><title>AX</title>"
	script = "console.log('the page')"
)

// built is a small build: its .br files are no Brotli, for nobody here unpacks them.
func built(t *testing.T) fstest.MapFS {
	t.Helper()
	return fstest.MapFS{
		"index.html.br":           {Data: []byte("br of home")},
		"index.html.gz":           {Data: zipped(t, home)},
		"assets/main-Ab12.js.br":  {Data: []byte("br of script")},
		"assets/main-Ab12.js.gz":  {Data: zipped(t, script)},
		"assets/font-Cd34.woff2":  {Data: []byte("woff2")},
		"assets/work-Ef56.js.gz":  {Data: zipped(t, "work")},
		"first.js.br":             {Data: []byte("br of theme")},
		"first.js.gz":             {Data: zipped(t, "theme")},
		"icon.svg.gz":             {Data: zipped(t, "<svg/>")},
		"assets/nested/deep.json": {Data: []byte("{}")},
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func handler(t *testing.T) http.Handler {
	t.Helper()
	h, err := web.Handler(web.Config{Build: built(t)})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request with header lines in pairs.
func ask(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestEachFileIsServedAsItIsTaken(t *testing.T) {
	h := handler(t)
	gz := string(zipped(t, script))
	for name, c := range map[string]struct {
		path, accept, encoding, kind, body string
	}{
		"brotli first":                   {"/assets/main-Ab12.js", "gzip, deflate, br, zstd", "br", "text/javascript; charset=utf-8", "br of script"},
		"gzip":                           {"/assets/main-Ab12.js", "gzip", "gzip", "text/javascript; charset=utf-8", gz},
		"brotli refused":                 {"/assets/main-Ab12.js", "br;q=0, gzip", "gzip", "text/javascript; charset=utf-8", gz},
		"anything":                       {"/assets/main-Ab12.js", "*", "br", "text/javascript; charset=utf-8", "br of script"},
		"anything but":                   {"/assets/main-Ab12.js", "br;q=0, *;q=0.5", "gzip", "text/javascript; charset=utf-8", gz},
		"nothing":                        {"/assets/main-Ab12.js", "", "", "text/javascript; charset=utf-8", script},
		"identity":                       {"/assets/main-Ab12.js", "identity", "", "text/javascript; charset=utf-8", script},
		"no nonsense":                    {"/assets/main-Ab12.js", "br;q=x, ;;, ,", "br", "text/javascript; charset=utf-8", "br of script"},
		"case and space":                 {"/assets/main-Ab12.js", " GZIP ; Q=1", "gzip", "text/javascript; charset=utf-8", gz},
		"no brotli stored":               {"/assets/work-Ef56.js", "br", "", "text/javascript; charset=utf-8", "work"},
		"as it is":                       {"/assets/font-Cd34.woff2", "br, gzip", "", "font/woff2", "woff2"},
		"deep":                           {"/assets/nested/deep.json", "br, gzip", "", "application/json", "{}"},
		"the home":                       {"/", "br", "br", "text/html; charset=utf-8", "br of home"},
		"the home, as nobody packs it":   {"/", "", "", "text/html; charset=utf-8", home},
		"the home by name":               {"/index.html", "", "", "text/html; charset=utf-8", home},
		"a picture":                      {"/icon.svg", "", "", "image/svg+xml", "<svg/>"},
		"a script that is no hashed one": {"/first.js", "br", "br", "text/javascript; charset=utf-8", "br of theme"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				w := ask(h, method, c.path, "Accept-Encoding", c.accept)
				got := w.Header()
				if w.Code != 200 || got.Get("Content-Encoding") != c.encoding || got.Get("Content-Type") != c.kind {
					t.Errorf("%s: %d, encoding %q, type %q; want 200, %q, %q", method, w.Code, got.Get("Content-Encoding"), got.Get("Content-Type"), c.encoding, c.kind)
				}
				want := c.body
				if method == "HEAD" {
					want = ""
				}
				if w.Body.String() != want {
					t.Errorf("%s: the body is %q, want %q", method, w.Body, want)
				}
				if w.Result().ContentLength != int64(len(c.body)) {
					t.Errorf("%s: Content-Length is %d, want %d", method, w.Result().ContentLength, len(c.body))
				}
				if strings.HasSuffix(c.path, ".js") && got.Get("Vary") != "Accept-Encoding" {
					t.Errorf("Vary is %q", got.Get("Vary"))
				}
			}
		})
	}
}

// Who has a file already is told so, for each encoding by itself.
func TestEntityTags(t *testing.T) {
	h := handler(t)
	seen := make(map[string]bool)
	for _, path := range []string{"/", "/first.js", "/assets/main-Ab12.js"} {
		for _, accept := range []string{"br", "gzip", ""} {
			tag := ask(h, "GET", path, "Accept-Encoding", accept).Header().Get("ETag")
			if !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) || seen[tag] {
				t.Errorf("%s by %q: the tag %s is none, or another's", path, accept, tag)
			}
			seen[tag] = true
			for _, have := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
				w := ask(h, "GET", path, "Accept-Encoding", accept, "If-None-Match", have)
				if w.Code != 304 || w.Body.Len() != 0 || w.Header().Get("ETag") != tag || w.Header().Get("Content-Type") != "" {
					t.Errorf("%s with If-None-Match %s: %d %q", path, have, w.Code, w.Body)
				}
			}
			if w := ask(h, "GET", path, "Accept-Encoding", accept, "If-None-Match", `"other"`); w.Code != 200 {
				t.Errorf("%s with another tag: %d", path, w.Code)
			}
		}
	}
	other := built(t)
	other["index.html.gz"] = &fstest.MapFile{Data: zipped(t, home+"!")}
	h2, err := web.Handler(web.Config{Build: other})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := ask(h, "GET", "/").Header().Get("ETag"), ask(h2, "GET", "/").Header().Get("ETag"); a == b {
		t.Errorf("another build's page has the same tag %s", a)
	}
}

func TestHowLongFilesAreKept(t *testing.T) {
	h := handler(t)
	for path, want := range map[string]string{
		"/assets/main-Ab12.js":    "public, max-age=31536000, immutable",
		"/assets/font-Cd34.woff2": "public, max-age=31536000, immutable",
		"/assets/gone-Zz99.js":    "no-cache",
		"/":                       "no-cache",
		"/runs/1":                 "no-cache",
		"/first.js":               "no-cache",
		"/nothing.js":             "no-cache",
	} {
		if got := ask(h, "GET", path, "Accept", browser).Header().Get("Cache-Control"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// The page's addresses are its own; what is missing is missing.
func TestAddressesOfThePage(t *testing.T) {
	h := handler(t)
	for name, c := range map[string]struct {
		path, accept string
		status       int
	}{
		"a screen":                      {"/runs/01937f2e/stages/a.b", browser, 200},
		"a screen that looks like one":  {"/flows/daily.js", browser, 200},
		"a screen, asked for by a tool": {"/runs", "*/*", 404},
		"the home, by a tool":           {"/", "*/*", 200},
		"a missing asset":               {"/assets/gone.js", browser, 404},
		"a missing asset, by a script":  {"/assets/gone.js", "*/*", 404},
		"a missing file, by a script":   {"/gone.json", "application/json", 404},
		"HTML refused":                  {"/runs", "text/html;q=0, */*", 404},
		"a folder":                      {"/assets", browser, 200},
		"a folder with its slash":       {"/assets/", browser, 404},
		"out of the build":              {"/assets/../../go.mod", browser, 404},
		"stored, not meant to be seen":  {"/first.js.gz", "*/*", 404},
	} {
		t.Run(name, func(t *testing.T) {
			w := ask(h, "GET", c.path, "Accept", c.accept)
			if w.Code != c.status || (w.Body.String() == home) != (c.status == 200) {
				t.Errorf("%d %q, want %d", w.Code, w.Body, c.status)
			}
		})
	}
	if w := ask(h, "POST", "/"); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("a POST: %d", w.Code)
	}
}

func TestWrongBuilds(t *testing.T) {
	for name, c := range map[string]struct {
		build fstest.MapFS
		says  string
	}{
		"empty":       {fstest.MapFS{}, "no index.html"},
		"br alone":    {fstest.MapFS{"index.html.br": {Data: []byte("x")}}, "index.html.br alone"},
		"no index":    {fstest.MapFS{"a.js": {Data: []byte("x")}}, "no index.html"},
		"an index.gz": {fstest.MapFS{"index.html.gz": {Data: []byte("no gzip")}}, ""}, // found out when somebody asks
	} {
		h, err := web.Handler(web.Config{Build: c.build})
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if err == nil {
			if w := ask(h, "GET", "/"); w.Code != 500 {
				t.Errorf("%s: %d", name, w.Code)
			}
		}
	}
}

// The build in this binary is one: every file that it stores packed unpacks.
func TestTheBuildInThisBinary(t *testing.T) {
	h, err := web.Handler(web.Config{})
	if err != nil {
		t.Fatal(err)
	}
	w := ask(h, "GET", "/", "Accept", browser)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "<title>AX</title>") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), "<style") || strings.Contains(w.Body.String(), "http://") || strings.Contains(w.Body.String(), "https://") {
		t.Errorf("the page has styles of its own, or asks elsewhere:\n%s", w.Body)
	}
}

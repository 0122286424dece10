package web

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"axflow/api/gen"
	"axflow/api/problem"
)

// Config says how the page is served. The zero value is good.
type Config struct {
	// Proxy is a Vite server that makes the page as it is worked on; it is asked instead of the build. For development, on loopback: pages
	// then may run inline scripts. nil: the build.
	Proxy *url.URL
	// Build is the page's build. Default: the one in this binary.
	Build fs.FS
	// Logger gets what operators must know. Default slog.Default.
	Logger *slog.Logger
}

// Handler serves the page: files of the build by their paths, and index.html for every other path that a browser asks for, since the
// page's addresses are its own. It answers GET and HEAD. What is under /assets/ has its content's hash in its name and is kept for
// ever; everything else is asked for again.
//
// Paths of the API are not its business: whoever mounts it keeps them.
func Handler(cfg Config) (http.Handler, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Proxy != nil {
		return proxy(cfg.Proxy, cfg.Logger), nil
	}
	if cfg.Build == nil {
		dist, err := fs.Sub(build, "dist")
		if err != nil {
			return nil, fmt.Errorf("looking for the page's build: %w", err)
		}
		cfg.Build = dist
	}
	files, err := readFiles(cfg.Build)
	if err != nil {
		return nil, err
	}
	if files[index] == nil {
		return nil, fmt.Errorf("the page's build has no %s", index)
	}
	return &page{files: files, log: cfg.Logger}, nil
}

const index = "index.html"

// page serves a build.
type page struct {
	files map[string]*file
	log   *slog.Logger
}

// The ways to keep an answer.
const (
	forEver  = "public, max-age=31536000, immutable"
	askAgain = "no-cache"
)

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	asset := strings.HasPrefix(name, "assets/")
	f := p.files[name]
	if f == nil && !asset && (name == "" || navigates(r)) {
		name, f = index, p.files[index]
	}
	h := w.Header()
	if f == nil {
		h.Set("Cache-Control", askAgain)
		missing(w)
		return
	}
	b, encoding, err := f.encoded(r.Header.Get("Accept-Encoding"))
	if err != nil {
		p.log.ErrorContext(r.Context(), "a file of the page cannot be served", "file", name, "error", err)
		http.Error(w, "this file of the page cannot be read: see the server's log", http.StatusInternalServerError)
		return
	}
	etag := `"` + f.etag + `"`
	if encoding != "" {
		etag = `"` + f.etag + "-" + encoding + `"`
	}
	if f.br != nil || f.gz != nil {
		h.Add("Vary", "Accept-Encoding")
	}
	if name == index {
		h.Add("Vary", "Accept") // at this path others get a 404
	}
	h.Set("ETag", etag)
	h.Set("Cache-Control", askAgain)
	if asset {
		h.Set("Cache-Control", forEver)
	}
	if matches(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(b) // a client that does not read it is gone
	}
}

// navigates tells whether a browser asks for a page to show, and not a script for a file that is missing.
func navigates(r *http.Request) bool { return taken(r.Header.Get("Accept"))("text/html") }

// missing refuses as the API does, whose clients come here when their server's address is wrong.
func missing(w http.ResponseWriter) {
	e := problem.New(gen.ProblemCodeNotFound, "there is nothing at this path: the API is below /api/v1")
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(e.HTTPStatus())
	_ = json.NewEncoder(w).Encode(e.Body("")) // the client has gone: nobody is left to tell
}

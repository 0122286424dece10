// Package api is AX's HTTP API: the server, spec first. openapi.yaml says what there is; packages below do one thing each: rest answers
// the operations, validate holds requests against the document, access says who may, problem says what went wrong, live streams what
// changes, query reads searches, reference shows the document to people.
package api

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v4"

	"axflow/api/gen"
	"axflow/api/reference"
	"axflow/api/rest"
)

// Spec is the OpenAPI document.
//
//go:embed openapi.yaml
var Spec []byte

// Server serves the API. It is safe for concurrent use.
type Server struct {
	cfg     Config
	ops     map[string]*operation
	handler http.Handler
	routed  http.Handler
	rates   *rates
	metrics *metrics

	// draining ends when the server begins to end.
	draining context.Context
	drain    context.CancelFunc
	inFlight sync.WaitGroup

	mu       sync.Mutex
	listener net.Listener
	cert     *certificate // nil: plain HTTP
}

// document is Spec, read once: every server of a process shares it, and none changes it.
var document = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(Spec) })

// New makes a server: Run listens and serves, Handler serves without a network. It fails when a route is not guarded by what the
// document says of it, and when the settings are not safe.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	doc, err := document()
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	s := &Server{cfg: cfg, rates: newRates(cfg.Limits.Rate, cfg.Limits.Burst, time.Now)}
	s.draining, s.drain = context.WithCancel(context.Background())
	if s.ops, err = operations(doc); err != nil {
		return nil, fmt.Errorf("reading the OpenAPI document: %w", err)
	}
	if s.metrics, err = newMetrics(cfg.Metrics); err != nil {
		return nil, err
	}
	routes, err := s.routes(doc)
	if err != nil {
		return nil, err
	}
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1024), gzhttp.EnableZstd(false), gzhttp.ContentTypes([]string{
		"application/json", "application/problem+json", "application/yaml", "text/plain", "text/html", "text/css"}))
	if err != nil {
		return nil, fmt.Errorf("setting compression up: %w", err)
	}
	s.routed = s.sameSite(s.paged(s.head(s.recovered(routes), compress)))
	s.handler = s.follow(s.harden(s.routed))
	return s, nil
}

// routes makes the router.
func (s *Server) routes(doc *openapi3.T) (http.Handler, error) {
	auth := gen.ServerAuthToken
	switch {
	case s.cfg.Local != nil:
		auth = gen.ServerAuthNone
	case s.cfg.OIDC:
		auth = gen.ServerAuthOidc
	}
	h := rest.New(rest.Config{Client: s.cfg.Client, Reads: s.cfg.Reads, Redact: s.cfg.Redact, Live: s.cfg.Live, Metrics: s.cfg.Metrics,
		Draining: s.draining.Done(), Version: s.cfg.Version, Auth: auth, Logger: s.cfg.Logger})
	e := echo.New()
	e.HTTPErrorHandler = s.refused
	gen.RegisterHandlersWithOptions(e, gen.NewStrictHandler(h, []gen.StrictMiddlewareFunc{unguarded}), gen.RegisterHandlersOptions{OperationMiddlewares: s.guarded()})
	var extra []string
	for path, h := range reference.Handlers(doc, Spec) {
		e.GET(path, echo.WrapHandler(h))
		extra = append(extra, http.MethodGet+" "+path)
	}
	if s.cfg.AuthRoutes != nil {
		for _, r := range e.Any("/auth/*", echo.WrapHandler(s.cfg.AuthRoutes)) {
			extra = append(extra, r.Method+" "+r.Path)
		}
	}
	if err := uncovered(e.Routes(), s.ops, extra); err != nil {
		return nil, fmt.Errorf("guarding the routes: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The router takes this as the path, so that each parameter is unescaped once, whatever is in it.
		u := *r.URL
		u.RawPath = u.EscapedPath()
		r.URL = &u
		e.ServeHTTP(w, r)
	}), nil
}

// head answers HEAD as GET, whose body net/http leaves out, and compresses; streams neither.
func (s *Server) head(next http.Handler, compress func(http.Handler) http.HandlerFunc) http.Handler {
	var streams []string
	for _, op := range s.ops {
		if op.streams {
			streams = append(streams, op.path)
		}
	}
	compressed := compress(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(streams, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodHead {
			r = r.Clone(r.Context())
			r.Method = http.MethodGet
		}
		compressed.ServeHTTP(w, r)
	})
}

// Handler serves the API's requests without a network. What belongs to a listener is left to whoever has it: time-outs of
// connections, and which names are answered to.
func (s *Server) Handler() http.Handler { return s.handler }

// atListener is Handler for a listener of this server's.
func (s *Server) atListener(loopback bool) http.Handler {
	return s.follow(s.harden(s.addressed(s.routed, loopback)))
}

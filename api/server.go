// Package api is AX's HTTP API: the server, spec first. openapi.yaml says what there is; packages below do one thing each: rest answers
// the operations, access says who may, problem says what went wrong, live streams what changes, query reads searches.
package api

import (
	_ "embed"
	"errors"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/api/rest"
	"axflow/engine/control"
)

// Spec is the OpenAPI document.
//
//go:embed openapi.yaml
var Spec []byte

// Config says how the server works.
type Config struct {
	// Client does what the API asks for. Required.
	Client *control.Client
	// Local is who everybody is, on a server that asks for no credential; nil: everybody needs one.
	Local *access.Principal
	// Version is the program's.
	Version string
	// Logger gets what operators must know. Default slog.Default.
	Logger *slog.Logger
}

// Server serves the API.
type Server struct {
	cfg  Config
	echo *echo.Echo
}

// New makes a server; Handler serves.
func New(cfg Config) (*Server, error) {
	if cfg.Client == nil {
		return nil, errors.New("api: Client is required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	s := &Server{cfg: cfg, echo: echo.New()}
	s.echo.HTTPErrorHandler = s.refuse
	s.echo.Use(s.identify)
	h := rest.New(rest.Config{Client: cfg.Client, Version: cfg.Version, Auth: gen.ServerAuthNone, Logger: cfg.Logger})
	gen.RegisterHandlers(s.echo, gen.NewStrictHandler(h, nil))
	return s, nil
}

// Handler serves the API's requests.
func (s *Server) Handler() http.Handler { return s.echo }

// identify puts who asks into the request's context.
func (s *Server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.cfg.Local != nil {
			c.SetRequest(c.Request().WithContext(access.With(c.Request().Context(), *s.cfg.Local)))
		}
		return next(c)
	}
}

// refuse writes an error as a problem.
func (s *Server) refuse(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := problem.From(err)
	if p.Cause != nil {
		s.cfg.Logger.Error("request failed", "method", c.Request().Method, "path", c.Path(), "error", p.Cause)
	}
	if after := p.RetryAfter(); after != "" {
		c.Response().Header().Set("Retry-After", after)
	}
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	if err := c.JSON(p.HTTPStatus(), p.Body("")); err != nil {
		s.cfg.Logger.Error("writing a problem", "error", err)
	}
}

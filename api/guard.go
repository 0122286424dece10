package api

import (
	"net"
	"net/http"
	"strings"

	"axflow/api/gen"
	"axflow/api/problem"
)

// contentPolicy lets a page load what this server has, draw pictures of its own, and nobody put it into a frame.
const contentPolicy = "default-src 'self'; img-src 'self' data:; worker-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; object-src 'none'"

// harden sets the headers that keep browsers from doing what nobody wants, on every answer, errors too.
func (s *Server) harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if strings.HasPrefix(r.URL.Path, "/api/") || strings.HasPrefix(r.URL.Path, "/auth/") || r.URL.Path == "/metrics" {
			h.Set("Cache-Control", "no-store")
		}
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// sameSite refuses what a browser sends from another site, if it could change something. Programs send no such headers and pass.
func (s *Server) sameSite(next http.Handler) http.Handler {
	var check http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := check.Check(r); err != nil {
			s.refuse(w, exchangeOf(r.Context()), problem.New(gen.ProblemCodeCrossOrigin, "a browser sent this from another site; only this server's own pages and programs may"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// addressed refuses requests to a name that is not this server's: a page elsewhere can have its name point here, and its browser would
// then take this server for the page's own. Health checks may call it anything.
func (s *Server) addressed(next http.Handler, loopback bool) http.Handler {
	if !loopback && len(s.cfg.Hosts) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" && r.URL.Path != "/readyz" && !s.answersTo(r.Host, loopback) {
			s.refuse(w, exchangeOf(r.Context()), problem.New(gen.ProblemCodeCrossOrigin,
				"the request is addressed to a name that this server does not answer to; call it by one that it has, or add the name to its hosts"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) answersTo(host string, loopback bool) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	for _, allowed := range s.cfg.Hosts {
		if strings.EqualFold(allowed, host) || strings.EqualFold(allowed, name) {
			return true
		}
	}
	name = strings.Trim(name, "[]")
	return loopback && isLoopback(strings.ToLower(name))
}

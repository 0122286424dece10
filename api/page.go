package api

import (
	"net/http"
	"strings"
)

// paged lets the page answer what nothing else of the server does: GET and HEAD of paths that begin otherwise than any operation's. It
// needs no credential, for the page holds no data: that it gets from the API.
func (s *Server) paged(next http.Handler) http.Handler {
	if s.cfg.Page == nil {
		return next
	}
	taken := map[string]bool{"api": true, "auth": true}
	for _, op := range s.ops {
		taken[first(op.path)] = true
	}
	page := s.recovered(s.cfg.Page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || taken[first(r.URL.Path)] {
			next.ServeHTTP(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// first is what a path begins with.
func first(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return name
}

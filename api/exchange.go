package api

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"axflow/api/access"
)

// exchange is one request and its answer, for the log, the metrics, and those who come later in the chain.
type exchange struct {
	id       string
	op       *operation // nil: no operation of the document
	who      access.Principal
	admitted bool
	cause    error // what the log must have of an answer that tells nothing

	client context.Context // ends when the client is gone; those that handlers get end sooner
}

// left tells whether the client is gone, or has taken too long.
func (x *exchange) left() bool { return x.client.Err() != nil }

type exchangeKey struct{}

// exchangeOf is the exchange that a context belongs to; nil: none.
func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// requestID is what a proxy in front may have called a request.
var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

// follow gives each request its id, and logs and counts what became of it. Neither the URL nor a header is logged, for both may hold
// secrets: the route says enough.
func (s *Server) follow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		x := &exchange{id: r.Header.Get("X-Request-Id"), client: r.Context()}
		if !requestID.MatchString(x.id) {
			x.id = strings.ToLower(rand.Text())
		}
		rec := &recorder{ResponseWriter: w}
		w.Header().Set("X-Request-Id", x.id)
		s.metrics.inFlight.Inc()
		defer func() {
			s.metrics.inFlight.Dec()
			s.done(r, x, rec, time.Since(began))
		}()
		next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
	})
}

// done logs and counts an exchange that is over.
func (s *Server) done(r *http.Request, x *exchange, rec *recorder, took time.Duration) {
	status, route, id := rec.status, "", ""
	gone := status == 0 && x.left()
	if status == 0 {
		status = http.StatusOK
	}
	if x.op != nil {
		route, id = x.op.path, x.op.id
	}
	s.metrics.observe(x.op, status, gone, took)
	level := slog.LevelDebug
	switch {
	case gone: // nobody is there to be told
	case x.cause != nil || status >= http.StatusInternalServerError:
		level = slog.LevelError
	case r.Method != http.MethodGet && r.Method != http.MethodHead || status == http.StatusForbidden:
		level = slog.LevelInfo
	}
	if !s.cfg.Logger.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("method", r.Method), slog.String("route", route), slog.String("operation", id), slog.Int("status", status),
		slog.Duration("took", took), slog.Int64("bytes", rec.bytes), slog.String("actor", x.who.Actor), slog.String("namespace", x.who.Namespace),
		slog.String("request", x.id)}
	if gone {
		attrs = append(attrs, slog.Bool("gone", true))
	}
	if x.cause != nil {
		attrs = append(attrs, slog.Any("error", x.cause))
	}
	s.cfg.Logger.LogAttrs(r.Context(), level, "request", attrs...)
}

// recorder notes what is answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader notes the status.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach what is below, to flush and to set deadlines.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush is for those who ask for a http.Flusher.
func (w *recorder) Flush() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

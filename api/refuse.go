package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"

	"axflow/api/gen"
	"axflow/api/problem"
)

// refused is Echo's way to answer errors.
func (s *Server) refused(err error, c echo.Context) {
	x := exchangeOf(c.Request().Context())
	var said *problem.Error
	switch {
	case x.left() && !errors.As(err, &said): // nobody is there to be told; a body that comes too slowly looks the same, and is told
	case c.Response().Committed:
		x.cause = fmt.Errorf("the answer had begun: %w", err)
	default:
		s.refuse(c.Response(), x, err)
	}
}

// refuse answers with a problem.
func (s *Server) refuse(w http.ResponseWriter, x *exchange, err error) {
	var h *echo.HTTPError
	if errors.As(err, &h) {
		err = translate(h)
	}
	p := problem.From(err)
	x.cause = p.Cause
	if after := p.RetryAfter(); after != "" {
		w.Header().Set("Retry-After", after)
	}
	body, err := json.Marshal(p.Body(x.id))
	if err != nil { // a problem is texts and numbers
		panic(err)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.HTTPStatus())
	_, _ = w.Write(append(body, '\n')) // a client that does not read it is gone
}

// badParameter is what the generated binding says of a parameter that validation let through.
var badParameter = regexp.MustCompile(`^Invalid format for parameter ([^:]+):`)

// translate makes Echo's errors ours.
func translate(h *echo.HTTPError) error {
	text, _ := h.Message.(string)
	switch h.Code {
	case http.StatusNotFound:
		return problem.New(gen.ProblemCodeNotFound, "there is nothing at this path; /api/docs says what there is")
	case http.StatusMethodNotAllowed:
		return problem.New(gen.ProblemCodeMethodNotAllowed, "the path is right, the method is not; the header Allow names those that are")
	case http.StatusRequestEntityTooLarge:
		return problem.New(gen.ProblemCodeTooLarge, "the body is too large")
	case http.StatusUnsupportedMediaType:
		return problem.New(gen.ProblemCodeUnsupportedMedia, "the body must be JSON")
	case http.StatusBadRequest:
		if m := badParameter.FindStringSubmatch(text); m != nil {
			return problem.Field(m[1], "its value does not fit")
		}
		var wrong *json.UnmarshalTypeError // the schema's integers are numbers: 1e2 is one, but not to Go
		if errors.As(h.Internal, &wrong) {
			return problem.Field("/"+strings.ReplaceAll(wrong.Field, ".", "/"), "must be a whole number without exponent or fraction")
		}
		return problem.New(gen.ProblemCodeInvalid, "the request cannot be read")
	default:
		return fmt.Errorf("answering: %w", h)
	}
}

// recovered turns a panic into a problem.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
				panic(v)
			}
			x := exchangeOf(r.Context())
			err := &problem.Error{Code: gen.ProblemCodeInternal, Detail: "see the server's log", Cause: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
			if rec.status != 0 {
				x.cause = err.Cause
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
			s.refuse(w, x, err)
		}()
		next.ServeHTTP(rec, r)
	})
}

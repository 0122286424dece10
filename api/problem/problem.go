// Package problem turns errors into RFC 9457 problems: the one catalogue of codes, their statuses and titles.
package problem

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"axflow/api/gen"
	"axflow/engine/control"
)

// Error is a refusal of the API. Handlers return it, or an error that From knows.
type Error struct {
	Code gen.ProblemCode
	// Status is the HTTP status; 0 is the code's own.
	Status int
	// Detail names the value, the limit and the way out.
	Detail string
	Fields []gen.FieldError
	// RetryAfterS is when trying again makes sense, in seconds; 0: no use.
	RetryAfterS float64
	// Cause is for the log; clients do not see it.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.Cause)
	}
	return string(e.Code) + ": " + e.Detail
}

func (e *Error) Unwrap() error { return e.Cause }

// New makes a refusal.
func New(code gen.ProblemCode, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Field makes a refusal of one field (a JSON pointer into the body) or parameter (its name): 422 invalid.
func Field(field, format string, args ...any) *Error {
	detail := fmt.Sprintf(format, args...)
	return &Error{Code: gen.ProblemCodeInvalid, Status: http.StatusUnprocessableEntity, Detail: detail,
		Fields: []gen.FieldError{{Field: field, Detail: detail}}}
}

// kind is what the catalogue says of a code.
type kind struct {
	status int
	title  string
}

var catalogue = map[gen.ProblemCode]kind{
	gen.ProblemCodeInvalid:          {http.StatusBadRequest, "The request is wrong"},
	gen.ProblemCodeUnauthenticated:  {http.StatusUnauthorized, "There is no valid credential"},
	gen.ProblemCodeForbidden:        {http.StatusForbidden, "The credential does not allow it"},
	gen.ProblemCodeCrossOrigin:      {http.StatusForbidden, "It came from another site"},
	gen.ProblemCodeNotFound:         {http.StatusNotFound, "There is no such thing here"},
	gen.ProblemCodeMethodNotAllowed: {http.StatusMethodNotAllowed, "The method is not allowed here"},
	gen.ProblemCodeConflict:         {http.StatusConflict, "Its state does not allow it"},
	gen.ProblemCodeTooLarge:         {http.StatusRequestEntityTooLarge, "It is too large"},
	gen.ProblemCodeUnsupportedMedia: {http.StatusUnsupportedMediaType, "The body is not JSON"},
	gen.ProblemCodeOverloaded:       {http.StatusTooManyRequests, "There is no room"},
	gen.ProblemCodeRateLimited:      {http.StatusTooManyRequests, "Too many requests"},
	gen.ProblemCodeInternal:         {http.StatusInternalServerError, "A fault of the server"},
	gen.ProblemCodeUnavailable:      {http.StatusServiceUnavailable, "The server cannot serve now"},
	gen.ProblemCodeTimeout:          {http.StatusGatewayTimeout, "It took too long"},
}

// codes says which codes of control are which of the API's.
var codes = map[string]gen.ProblemCode{
	control.CodeInvalid:    gen.ProblemCodeInvalid,
	control.CodeNotFound:   gen.ProblemCodeNotFound,
	control.CodeConflict:   gen.ProblemCodeConflict,
	control.CodeTooLarge:   gen.ProblemCodeTooLarge,
	control.CodeOverloaded: gen.ProblemCodeOverloaded,
}

// From makes any error a refusal: an *Error is itself, a *control.Error has its code, an ended context or a statement that took too long
// is a time-out, a database that is away is unavailable, and everything else is internal. Texts of errors that are not ours stay out
// of it: they may hold SQL, addresses, or others' data.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var c *control.Error
	if errors.As(err, &c) {
		p := &Error{Code: codes[c.Code], Detail: c.Text, RetryAfterS: c.RetryAfter.Seconds()}
		if p.Code == "" {
			return &Error{Code: gen.ProblemCodeInternal, Detail: "see the server's log", Cause: err}
		}
		if p.Code == gen.ProblemCodeInvalid {
			p.Status = http.StatusUnprocessableEntity
		}
		if c.Field != "" {
			p.Fields = []gen.FieldError{{Field: c.Field, Detail: c.Text}}
		}
		return p
	}
	code := database(err)
	if errors.Is(err, context.DeadlineExceeded) {
		code = gen.ProblemCodeTimeout
	}
	switch code {
	case gen.ProblemCodeTimeout:
		return &Error{Code: code, Detail: "it took longer than the server allows; ask for less, or try again", Cause: err}
	case gen.ProblemCodeUnavailable:
		return &Error{Code: code, Detail: "the database does not answer as it should; try again", RetryAfterS: retryAfter, Cause: err}
	case gen.ProblemCodeInvalid:
		return &Error{Code: code, Status: http.StatusUnprocessableEntity, Detail: "a text holds characters that the database has none for", Cause: err}
	default:
		return &Error{Code: gen.ProblemCodeInternal, Detail: "see the server's log", Cause: err}
	}
}

// retryAfter is when to try again what the database could not do, in seconds: a fail-over takes a few.
const retryAfter = 2

// Body is the problem as it is sent. instance is the request's id.
func (e *Error) Body(instance string) gen.Problem {
	k := catalogue[e.Code]
	p := gen.Problem{Type: "/api/docs#" + string(e.Code), Title: k.title, Status: e.HTTPStatus(), Code: e.Code, Errors: e.Fields}
	if e.Detail != "" {
		p.Detail = &e.Detail
	}
	if instance != "" {
		p.Instance = &instance
	}
	if e.RetryAfterS > 0 {
		p.RetryAfterS = &e.RetryAfterS
	}
	return p
}

// HTTPStatus is the status that it is sent with.
func (e *Error) HTTPStatus() int {
	if e.Status != 0 {
		return e.Status
	}
	return catalogue[e.Code].status
}

// RetryAfter is the header Retry-After: whole seconds, at least 1; "" if it has none.
func (e *Error) RetryAfter() string {
	if e.RetryAfterS <= 0 {
		return ""
	}
	return fmt.Sprint(int64(max(1, math.Ceil(e.RetryAfterS))))
}

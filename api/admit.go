package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v4"

	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
)

// admit lets a request through to its operation: it finds out who asks, whether they may and not too often, and only then looks
// at what they ask, so that a stranger learns nothing from what the document would say of it.
func (s *Server) admit(op *operation) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			x := exchangeOf(r.Context())
			x.op = op
			if op.permission != public {
				p, err := s.identify(c.Response(), r)
				if err != nil {
					return err
				}
				x.who = p
				if s.cfg.Local == nil {
					if err := s.rates.take(p.Credential.String()); err != nil {
						return err
					}
				}
				if op.permission != self && !p.Allows(gen.Permission(op.permission)) {
					return lacks(p, gen.Permission(op.permission))
				}
				r = r.WithContext(access.With(r.Context(), p))
			}
			if err := op.valid.Params(c.Param, r.URL.RawQuery, r.Header); err != nil {
				return err
			}
			r, err := s.body(op, c.Response(), r)
			if err != nil {
				return err
			}
			ctx, cancel := s.deadline(op, c.Response(), r)
			defer cancel()
			c.SetRequest(r.WithContext(ctx))
			x.admitted = true
			return settle(ctx, next(c))
		}
	}
}

// settle tells a handler's error from the end of its context, which it may have come to in many ways.
func settle(ctx context.Context, err error) error {
	var said *problem.Error
	var refused *control.Error
	switch {
	case err == nil || ctx.Err() == nil || errors.As(err, &said) || errors.As(err, &refused):
		return err
	case errors.Is(context.Cause(ctx), errDraining):
		return errDraining
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	default:
		return err
	}
}

// identify finds out who asks.
func (s *Server) identify(w http.ResponseWriter, r *http.Request) (access.Principal, error) {
	if s.cfg.Local != nil {
		return *s.cfg.Local, nil
	}
	p, err := s.cfg.Authenticator.Authenticate(r)
	var refusal *problem.Error
	switch {
	case err == nil && (p.Namespace == "" || p.Actor == ""):
		return access.Principal{}, errors.New("a credential says neither whose it is nor of which namespace")
	case err == nil:
		return p, nil
	case errors.Is(err, access.ErrNoCredential):
		w.Header().Set("WWW-Authenticate", `Bearer realm="ax"`)
		err = problem.New(gen.ProblemCodeUnauthenticated, "the request has no credential: send the header Authorization: Bearer <token>; `ax token create` makes one")
	case errors.As(err, &refusal) && refusal.Code == gen.ProblemCodeUnauthenticated:
		w.Header().Set("WWW-Authenticate", `Bearer realm="ax", error="invalid_token"`)
	default:
		return access.Principal{}, err
	}
	if limited := s.rates.take("from " + remote(r)); limited != nil {
		return access.Principal{}, limited
	}
	return access.Principal{}, err
}

// lacks says which permission is missing, and why.
func lacks(p access.Principal, perm gen.Permission) error {
	whole := p
	whole.Scopes, whole.Cluster = nil, true
	why := "its scopes leave it out"
	switch {
	case !whole.Allows(perm):
		why = "the role " + string(p.Role) + " does not have it"
	case perm == gen.PermissionSettingsAdmin && !p.Cluster:
		why = "it was not made for the cluster"
	}
	return problem.New(gen.ProblemCodeForbidden, "this needs the permission %s, which %s lacks: %s", perm, p.Actor, why)
}

// body reads and checks a request's body, and gives the request one that is all there.
func (s *Server) body(op *operation, w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	most := s.cfg.Limits.Body
	tooLarge := problem.New(gen.ProblemCodeTooLarge, "the body is larger than the %d bytes that this server takes", most)
	if r.ContentLength > most {
		return nil, tooLarge
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var exceeds *http.MaxBytesError
	switch {
	case errors.As(err, &exceeds):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &problem.Error{Code: gen.ProblemCodeTimeout, Status: http.StatusRequestTimeout, Detail: "the body did not come within " + s.cfg.Limits.Read.String()}
	case err != nil:
		return nil, problem.New(gen.ProblemCodeInvalid, "the body did not come whole")
	}
	if err := op.valid.Body(r.Header.Get("Content-Type"), text); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
	return r, nil
}

// errDraining ends what waits when the server drains.
var errDraining = &problem.Error{Code: gen.ProblemCodeUnavailable, RetryAfterS: 1, Detail: "the server ends; another one may serve"}

// deadline bounds how long a request is worked on, and how long its answer may take to be read. What waits for something ends when
// the server drains; a stream is told in its own way.
func (s *Server) deadline(op *operation, w http.ResponseWriter, r *http.Request) (context.Context, context.CancelFunc) {
	conn := http.NewResponseController(w)
	// The deadline for reading would end the request's context: the connection is watched for its end while the handler runs.
	_ = conn.SetReadDeadline(time.Time{})
	if op.streams {
		_ = conn.SetWriteDeadline(time.Time{})
		return context.WithCancel(r.Context())
	}
	limit := s.cfg.Limits.Handle
	ctx, cancelCause := context.WithCancelCause(r.Context())
	stop := func() bool { return true }
	if op.waits {
		limit += longestWait
		stop = context.AfterFunc(s.draining, func() { cancelCause(errDraining) })
	}
	_ = conn.SetWriteDeadline(time.Now().Add(limit + s.cfg.Limits.Read))
	ctx, cancel := context.WithTimeout(ctx, limit)
	return ctx, func() {
		stop()
		cancel()
		cancelCause(nil)
	}
}

// longestWait is the maximum of wait_s.
const longestWait = 30 * time.Second

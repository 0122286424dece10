package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/sql/db"
)

// Credentials are the tokens and sessions in the database. Nothing is cached: each request is one read of a unique index, so
// that what is revoked is refused at once by every server. It is safe for concurrent use.
type Credentials struct {
	pool *pgxpool.Pool
	log  *slog.Logger
}

var _ Authenticator = (*Credentials)(nil)

// NewCredentials makes the authenticator of the tokens and sessions in a database.
func NewCredentials(pool *pgxpool.Pool, log *slog.Logger) *Credentials {
	return &Credentials{pool: pool, log: log}
}

// Authenticate tells who sends a request: by its bearer token, or without one by the page's session cookie.
func (c *Credentials) Authenticate(r *http.Request) (Principal, error) {
	switch headers := r.Header.Values("Authorization"); len(headers) {
	case 0:
	case 1:
		scheme, secret, _ := strings.Cut(headers[0], " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return Principal{}, unauthenticated("this server takes `Authorization: Bearer ax_…`, not the scheme %.20q", scheme)
		}
		return c.byToken(r.Context(), strings.TrimSpace(secret))
	default:
		return Principal{}, unauthenticated("the request has %d Authorization headers: send one", len(headers))
	}
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return Principal{}, ErrNoCredential
	}
	return c.bySession(r.Context(), cookie.Value)
}

// byToken tells whose a token is. An unknown token and a revoked one get the same answer.
func (c *Credentials) byToken(ctx context.Context, secret string) (Principal, error) {
	if !wellFormed(secret) {
		return Principal{}, unauthenticated("this is no token of AX, or it is mistyped or cut: it begins with ax_ and has %d characters", secretLen)
	}
	q := db.New(c.pool)
	row, err := q.TokenByHash(ctx, digest(secret))
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && row.RevokedAt != nil:
		return Principal{}, unauthenticated("the token is unknown or revoked: make one with `ax token create`")
	case err != nil:
		return Principal{}, fmt.Errorf("looking a token up: %w", err)
	case row.Expired:
		return Principal{}, unauthenticated("token %q expired at %s: make another with `ax token create`", row.Name, row.ExpiresAt.UTC().Format(time.RFC3339))
	}
	if row.Idle {
		c.mark(ctx, "token", func(ctx context.Context) error { return q.UseToken(ctx, row.ID) })
	}
	return Principal{Actor: "token:" + row.Name, Namespace: row.Namespace, Role: gen.Role(row.Role), Scopes: permissions(row.Scopes), Cluster: row.Cluster,
		Via: gen.MeViaToken, Credential: row.ID, ExpiresAt: row.ExpiresAt}, nil
}

// bySession tells whose a session is.
func (c *Credentials) bySession(ctx context.Context, cookie string) (Principal, error) {
	if len(cookie) != sessionLen {
		return Principal{}, unauthenticated("the session is over: log in again at /auth/login")
	}
	q := db.New(c.pool)
	row, err := q.SessionByHash(ctx, digest(cookie))
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && row.Ended:
		return Principal{}, unauthenticated("the session is over: log in again at /auth/login")
	case err != nil:
		return Principal{}, fmt.Errorf("looking a session up: %w", err)
	}
	if row.Idle {
		c.mark(ctx, "session", func(ctx context.Context) error { return q.SeeSession(ctx, row.ID) })
	}
	return Principal{Actor: row.Actor, Namespace: row.Namespace, Role: gen.Role(row.Role), Cluster: row.Cluster, Via: gen.MeViaSession, Credential: row.ID,
		ExpiresAt: row.ExpiresAt}, nil
}

// markTimeout bounds the one write of a minute that a request makes for its credential.
const markTimeout = time.Second

// mark notes that a credential is used, once a minute. It fails no request: a database that only reads still tells who asks.
func (c *Credentials) mark(ctx context.Context, what string, write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, markTimeout)
	defer cancel()
	if err := write(ctx); err != nil {
		c.log.Debug("noting that a credential is used failed", "what", what, "error", err)
	}
}

func unauthenticated(format string, args ...any) *problem.Error {
	return problem.New(gen.ProblemCodeUnauthenticated, format, args...)
}

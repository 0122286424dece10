package access

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/sql/db"
)

// sessionCookie holds a session's secret. The prefix makes browsers take it only over TLS, from this host, for every path.
const sessionCookie = "__Host-ax-session"

// sessionLen is the length of a session's secret: 256 random bits in base64.
const sessionLen = 43

// newSession is what a login makes.
type newSession struct {
	Principal      Principal
	Issuer         string
	Subject, Email string
	IDToken        string
	Nonce          string // the login's: it makes one session only
	Life, Idle     time.Duration
	Before         string // cookie of the session that the browser had; it ends
}

// errLoginUsed says that a login has made its session already.
var errLoginUsed = errors.New("this login has made its session already")

// startSession stores a session and its audit, and returns the cookie.
func startSession(ctx context.Context, pool *pgxpool.Pool, n newSession) (string, error) {
	cookie, id := random(), uuid.Must(uuid.NewV7())
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		if n.Before != "" {
			if _, err := q.EndSession(ctx, digest(n.Before)); err != nil {
				return fmt.Errorf("ending the session before: %w", err)
			}
		}
		if err := q.DropEndedSessions(ctx); err != nil {
			return fmt.Errorf("dropping old sessions: %w", err)
		}
		p := n.Principal
		err := q.InsertSession(ctx, db.InsertSessionParams{ID: id, Hash: digest(cookie), Login: digest(n.Nonce), Namespace: p.Namespace, Issuer: n.Issuer,
			Subject: n.Subject, Email: n.Email, Actor: p.Actor, Role: string(p.Role), Cluster: p.Cluster, IDToken: n.IDToken,
			IdleS: int32(n.Idle.Seconds()), LifeS: n.Life.Seconds()})
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "23505" && pg.ConstraintName == "session_login_key" {
			return errLoginUsed
		}
		if err != nil {
			return fmt.Errorf("storing a session: %w", err)
		}
		detail := map[string]any{"role": p.Role, "issuer": n.Issuer, "subject": n.Subject}
		if p.Cluster {
			detail["cluster"] = true
		}
		return audit(ctx, q, p, "login", "session/"+id.String(), detail)
	})
	return cookie, err
}

// endSession ends a session and returns its ID token; "" if there was none.
func endSession(ctx context.Context, pool *pgxpool.Pool, cookie string) (idToken string, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		q := db.New(tx)
		rows, err := q.EndSession(ctx, digest(cookie))
		if err != nil {
			return fmt.Errorf("ending a session: %w", err)
		}
		for _, r := range rows {
			idToken = r.IDToken
			if err := audit(ctx, q, Principal{Actor: r.Actor, Namespace: r.Namespace}, "logout", "session/"+r.ID.String(), nil); err != nil {
				return err
			}
		}
		return nil
	})
	return idToken, err
}

package leader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"axflow/sql/db"
)

// channel is where a resigning leader says so; the payload is the lease's name.
const channel = "ax_lease"

// session is the elector's own connection.
type session struct {
	conn *pgx.Conn
	*db.Queries
	resigned bool // a notice that has come and was not waited for
}

func connect(ctx context.Context, cfg Config) (*session, error) {
	s := &session{}
	cc := cfg.ConnConfig.Copy()
	cc.RuntimeParams["application_name"] = "ax-elector-" + cfg.Name
	cc.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		s.resigned = s.resigned || n.Channel == channel && n.Payload == cfg.Name
	}
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return nil, err
	}
	s.conn, s.Queries = conn, db.New(conn)
	setup := "SET lock_timeout = " + milliseconds(cfg.lockWait()) + "; SET statement_timeout = " + milliseconds(cfg.TTL/3)
	if !cfg.PollOnly {
		setup += "; LISTEN " + channel
	}
	if _, err := conn.Exec(ctx, setup); err != nil {
		s.close()
		return nil, fmt.Errorf("preparing the elector's session: %w", err)
	}
	return s, nil
}

// wait returns after d, or earlier when the lease is resigned, or with an error when the connection breaks.
func (s *session) wait(ctx context.Context, d time.Duration) error {
	if s.resigned {
		s.resigned = false
		return nil
	}
	wctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	err := s.conn.PgConn().WaitForNotification(wctx)
	if wctx.Err() != nil && !s.conn.IsClosed() {
		err = nil
	}
	s.resigned = false
	return err
}

// evict ends the leader sessions of an expired lease's last term and of terms before it, and returns how
// many. The condition on the lease is that of LeaseTake.
func (s *session) evict(ctx context.Context, name string, seen int64, unrenewed *time.Time) (int, error) {
	// CASE, because AND promises no order and the cast must not see what the pattern refuses.
	rows, err := s.conn.Query(ctx, `
		SELECT pg_terminate_backend(a.pid)
		FROM pg_stat_activity a, ax.lease l
		WHERE l.name = $1 AND l.epoch = $2 AND (l.expires_at <= clock_timestamp() OR l.renewed_at = $3::timestamptz)
		  AND a.datname = current_database() AND a.pid <> pg_backend_pid() AND starts_with(a.application_name, $4::text)
		  AND CASE WHEN substr(a.application_name, length($4::text) + 1) ~ '^[0-9]{1,18}$'
		           THEN substr(a.application_name, length($4::text) + 1)::bigint <= l.epoch
		           ELSE false END`,
		name, seen, unrenewed, sessionPrefix(name))
	if err != nil {
		return 0, err
	}
	ended, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	return len(ended), err
}

// close ends the connection without waiting long for a server that does not answer.
func (s *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx)
	// A statement that was cut off leaves pgx cleaning up behind our back: no goroutine outlives Run.
	select {
	case <-s.conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

func isLockTimeout(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

package hint

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

const (
	// patience is how long a statement or a connect may take. It is below probeAnswer, so that a broken way of the
	// notifier is noticed and mended before the listener takes its own for broken.
	patience = 4 * time.Second
	// lastWords is how long the end of Run waits for the server.
	lastWords = time.Second

	minRetry = 100 * time.Millisecond
	maxRetry = 5 * time.Second
)

// connect opens one of the bus's own connections.
func (b *Bus) connect(ctx context.Context, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cfg := b.cfg.ConnConfig.Copy()
	if cfg.RuntimeParams == nil {
		cfg.RuntimeParams = make(map[string]string)
	}
	cfg.RuntimeParams["application_name"] = name
	cfg.OnNotification = nil // the connection keeps notifications for WaitForNotification only without it
	// A wait that is interrupted must leave the connection alone.
	cfg.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	return pgx.ConnectConfig(ctx, cfg)
}

// hangUp closes a connection without waiting long for a server that does not answer.
func hangUp(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	_ = conn.Close(ctx)
	select {
	case <-conn.PgConn().CleanupDone():
	case <-ctx.Done():
	}
}

// backoff is the growing distance of attempts to connect: 100 ms doubled up to 5 s, of which the upper half is random.
type backoff struct {
	rand func() float64
	step time.Duration
}

func (b *backoff) next() time.Duration {
	b.step = min(max(2*b.step, minRetry), maxRetry)
	return b.step/2 + time.Duration(b.rand()*float64(b.step/2))
}

func (b *backoff) reset() { b.step = 0 }

// sleep waits for d; false when ctx ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

package hint

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	retryAfter  = 200 * time.Millisecond
	lastWords   = time.Second
	sendTimeout = 10 * time.Second
)

func duration(ns int64) time.Duration { return time.Duration(ns) }

// notify sends what is in the outbox: one small transaction that does not wait for the disk, and not the next one
// before Flush has passed, because NOTIFY holds a cluster-wide lock while it commits.
func (b *Bus) notify(ctx context.Context) {
	var conn *pgx.Conn
	defer func() { b.hangUp(conn) }()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			b.flush(last, &conn)
			cancel()
			return
		case <-b.pending:
		}
		wait := b.cfg.Flush
		if !b.flush(ctx, &conn) {
			wait = retryAfter
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
}

// flush sends the outbox once. When it fails the hints are lost, which is what hints may be.
func (b *Bus) flush(ctx context.Context, conn **pgx.Conn) bool {
	b.mu.Lock()
	payloads := b.out.take()
	b.mu.Unlock()
	if len(payloads) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if *conn == nil || (*conn).IsClosed() {
		c, err := b.connect(ctx, "ax-notify")
		if err != nil {
			b.cfg.Logger.Warn("hints cannot be sent", "err", err)
			return false
		}
		*conn = c
	}
	batch := &pgx.Batch{}
	for _, p := range payloads {
		batch.Queue("SELECT pg_notify($1, $2)", p.channel, p.text)
	}
	if err := (*conn).SendBatch(ctx, batch).Close(); err != nil {
		if ctx.Err() == nil {
			b.cfg.Logger.Warn("sending hints failed", "err", err)
		}
		b.hangUp(*conn)
		*conn = nil
		return false
	}
	b.stats.Notifies.Add(1)
	b.stats.Payloads.Add(uint64(len(payloads)))
	return true
}

func (b *Bus) connect(ctx context.Context, name string) (*pgx.Conn, error) {
	cfg := b.cfg.ConnConfig.Copy()
	cfg.RuntimeParams["application_name"] = name
	cfg.RuntimeParams["synchronous_commit"] = "off"
	return pgx.ConnectConfig(ctx, cfg)
}

// hangUp closes a connection without waiting long for a server that does not answer.
func (b *Bus) hangUp(conn *pgx.Conn) {
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

package measure

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cost is what happened between Watch and Mark.
type Cost struct {
	Elapsed time.Duration
	// WAL is the bytes of write-ahead log that the whole server inserted.
	WAL int64
	// Writes is the number of transaction ids that the whole server gave out: transactions that wrote.
	Writes int64
	// CPU is what this process used, user and system, all threads.
	CPU time.Duration
	// ServerCPU is what all processes of the PostgreSQL server used; 0 when the server's processes cannot be
	// seen from here (another machine, no /proc).
	ServerCPU time.Duration
}

// Meter watches one database of a server from a connection to another database, so that its own statements are
// not counted as the database's. It is used by one goroutine.
type Meter struct {
	conn     *pgx.Conn
	database string
	pid      int // of a backend of ours
	from     reading
	commits  int64
}

type reading struct {
	at          time.Time
	wal, xid    int64
	cpu, server time.Duration
}

// Watch begins a measurement of the database at dbURL on the server at s.
func (s *Server) Watch(ctx context.Context, dbURL string) (*Meter, error) {
	cfg, err := pgx.ParseConfig(dbURL)
	if err != nil {
		return nil, fmt.Errorf("reading the measured database's URL: %w", err)
	}
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return nil, fmt.Errorf("connecting to measure: %w", err)
	}
	m := &Meter{conn: conn, database: cfg.Database, pid: int(conn.PgConn().PID())}
	if m.commits, err = m.readCommits(ctx); err == nil {
		m.from, err = m.read(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Mark reads what has happened since Watch. Call it the moment the measured work has ended; it does not end the
// measurement.
func (m *Meter) Mark(ctx context.Context) (Cost, error) {
	to, err := m.read(ctx)
	if err != nil {
		return Cost{}, err
	}
	return Cost{
		Elapsed:   to.at.Sub(m.from.at),
		WAL:       to.wal - m.from.wal,
		Writes:    to.xid - m.from.xid,
		CPU:       to.cpu - m.from.cpu,
		ServerCPU: to.server - m.from.server,
	}, nil
}

// Commits is the number of transactions that the database committed since Watch, read-only ones included.
// Backends report their counts late, but at the latest when they end: call it after the contestant has closed
// its connections. It waits for the last of them to go, until ctx ends.
func (m *Meter) Commits(ctx context.Context) (int64, error) {
	for {
		var left int
		const q = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'"
		if err := m.conn.QueryRow(ctx, q, m.database).Scan(&left); err != nil {
			return 0, fmt.Errorf("waiting for the database's sessions to end: %w", err)
		}
		if left == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting for %d sessions of %s to end: %w", left, m.database, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	now, err := m.readCommits(ctx)
	return now - m.commits, err
}

// Close ends the measurement.
func (m *Meter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return m.conn.Close(ctx)
}

func (m *Meter) readCommits(ctx context.Context) (n int64, err error) {
	if err := m.conn.QueryRow(ctx, "SELECT xact_commit FROM pg_stat_database WHERE datname = $1", m.database).Scan(&n); err != nil {
		return 0, fmt.Errorf("reading the commits of %s: %w", m.database, err)
	}
	return n, nil
}

func (m *Meter) read(ctx context.Context) (reading, error) {
	r := reading{at: time.Now(), server: serverCPU(m.pid)}
	const q = `SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint, pg_snapshot_xmax(pg_current_snapshot())::text::bigint`
	if err := m.conn.QueryRow(ctx, q).Scan(&r.wal, &r.xid); err != nil {
		return reading{}, fmt.Errorf("reading the server's WAL position: %w", err)
	}
	var err error
	r.cpu, err = processCPU()
	return r, err
}

func processCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, fmt.Errorf("reading this process's CPU time: %w", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

package measure

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"axflow/internal/uuid7"
	axsql "axflow/sql"
	"axflow/stage"
)

// appendResults is the insert of the statement that finishes tasks (sql/queries/finish.sql) without all that
// makes a finish safe: no flight is locked, intersected or shortened, and what the rows of a batch have in
// common is given, not joined.
const appendResults = `
INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at,
                       shard, epoch, ord, generation, attempt, delivery, outcome, output, error)
SELECT $1::uuid, $2::uuid, $3::uuid, $4::timestamptz, $5::timestamptz, r.started_at, r.finished_at,
       r.shard, 1, 0, 1, 1, 1, r.outcome, r.output, r.error
FROM (SELECT unnest($6::int[]) AS shard, unnest($7::smallint[]) AS outcome,
             unnest($8::timestamptz[]) AS started_at, unnest($9::timestamptz[]) AS finished_at,
             unnest($10::bytea[]) AS output, unnest($11::bytea[]) AS error) r`

// Floor is what no engine that keeps a result row for every task can beat: bare SQL from this process appends
// rows result rows, a transaction a batch, over 1, 2 and then 4 connections, each time to a run of its own. It
// answers with the best rate, in rows per second, and with that rate's WAL bytes per row. The rows are those
// that AX writes for no-op shards: one run, NULL outputs and errors.
//
// url is a database of its own on the server, which Floor migrates; nothing else may run on the server.
func Floor(ctx context.Context, url string, rows, batch int) (tasksPerSec, walPerRow float64, err error) {
	if rows < 1 || batch < 1 {
		return 0, 0, fmt.Errorf("the floor needs at least 1 row and 1 row a batch, not %d and %d", rows, batch)
	}
	if err := axsql.Migrate(ctx, url); err != nil {
		return 0, 0, err
	}
	minter := uuid7.New(time.Now, nil)
	for _, n := range [...]int{1, 2, 4} {
		rate, wal, err := appendAll(ctx, url, minter, n, rows, batch)
		if err != nil {
			return 0, 0, fmt.Errorf("appending results over %d connections: %w", n, err)
		}
		if rate > tasksPerSec {
			tasksPerSec, walPerRow = rate, wal
		}
	}
	return tasksPerSec, walPerRow, nil
}

// appendAll lets the connections take batches from one counter, so that the rows arrive almost in order, as a
// worker reports them.
func appendAll(ctx context.Context, url string, minter *uuid7.Minter, connections, rows, batch int) (rate, wal float64, err error) {
	conns := make([]*pgx.Conn, connections)
	defer func() {
		for _, c := range conns {
			if c != nil {
				err = errors.Join(err, c.Close(context.WithoutCancel(ctx)))
			}
		}
	}()
	appenders := make([]*appender, connections)
	run, worker := minter.Mint(), minter.Mint()
	for i := range conns {
		if conns[i], err = pgx.Connect(ctx, url); err != nil {
			return 0, 0, fmt.Errorf("connecting: %w", err)
		}
		if _, err := conns[i].Prepare(ctx, appendResults, appendResults); err != nil {
			return 0, 0, fmt.Errorf("preparing: %w", err)
		}
		appenders[i] = newAppender(conns[i], run, worker, batch)
	}
	from, err := walPosition(ctx, conns[0])
	if err != nil {
		return 0, 0, err
	}
	var next atomic.Int64
	start := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for _, a := range appenders {
		group.Go(func() error {
			for {
				lo := int(next.Add(int64(batch))) - batch
				if lo >= rows {
					return nil
				}
				if err := a.append(ctx, minter.Mint(), lo, min(lo+batch, rows)); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return 0, 0, err
	}
	elapsed := time.Since(start)
	to, err := walPosition(context.WithoutCancel(ctx), conns[0])
	if err != nil {
		return 0, 0, err
	}
	return float64(rows) / elapsed.Seconds(), float64(to-from) / float64(rows), nil
}

func walPosition(ctx context.Context, conn *pgx.Conn) (bytes int64, err error) {
	if err := conn.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&bytes); err != nil {
		return 0, fmt.Errorf("reading the server's WAL position: %w", err)
	}
	return bytes, nil
}

// appender writes batches over one connection, from arrays that it keeps.
type appender struct {
	conn              *pgx.Conn
	run, worker       uuid.UUID
	shards            []int32
	outcomes          []int16
	started, finished []time.Time
	outputs, errors   [][]byte
}

func newAppender(conn *pgx.Conn, run, worker uuid.UUID, batch int) *appender {
	a := &appender{
		conn: conn, run: run, worker: worker,
		shards: make([]int32, batch), outcomes: make([]int16, batch),
		started: make([]time.Time, batch), finished: make([]time.Time, batch),
		outputs: make([][]byte, batch), errors: make([][]byte, batch),
	}
	for i := range a.outcomes {
		a.outcomes[i] = int16(stage.Succeeded)
	}
	return a
}

// append writes the rows of the shards from lo up to hi as one execution's.
func (a *appender) append(ctx context.Context, execution uuid.UUID, lo, hi int) error {
	n := hi - lo
	dispatched := time.Now()
	for i := range n {
		a.shards[i] = int32(lo + i)
		a.started[i] = time.Now()
		a.finished[i] = time.Now()
	}
	if _, err := a.conn.Exec(ctx, appendResults, a.run, a.worker, execution, dispatched, dispatched,
		a.shards[:n], a.outcomes[:n], a.started[:n], a.finished[:n], a.outputs[:n], a.errors[:n]); err != nil {
		return fmt.Errorf("appending shards %d to %d: %w", lo, hi, err)
	}
	return nil
}

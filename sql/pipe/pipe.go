// Package pipe sends several statements of package db in one round trip. Statements sent together run in one
// transaction: PostgreSQL's implicit one, which ends with the round trip, or the one that the batch opens.
package pipe

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"axflow/sql/db"
)

// Sender is what sends a batch: a connection, a transaction or a pool.
type Sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// Pipe collects statements. Its Queries queue where those of a connection would run: their answers are empty
// and mean nothing; Rows and Affected say where the real answer goes. A Pipe is used once, by one goroutine.
type Pipe struct {
	*db.Queries
	batch pgx.Batch
}

// New returns an empty Pipe.
func New() *Pipe {
	p := new(Pipe)
	p.Queries = db.New((*queue)(p))
	return p
}

// Text queues a statement without parameters or rows, such as begin.
func (p *Pipe) Text(sql string) { p.batch.Queue(sql) }

// Send runs the statements in order and fills what Rows and Affected named. The first error ends it; in an
// implicit transaction nothing has happened then.
func (p *Pipe) Send(ctx context.Context, to Sender) error {
	return to.SendBatch(ctx, &p.batch).Close()
}

// Rows makes the rows of the statement queued last go to dst.
func Rows[T any](p *Pipe, dst *[]T) {
	p.last().Query(func(rows pgx.Rows) error {
		got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
		*dst = got
		return err
	})
}

// Values is Rows for statements that return one column.
func Values[T any](p *Pipe, dst *[]T) {
	p.last().Query(func(rows pgx.Rows) error {
		got, err := pgx.CollectRows(rows, pgx.RowTo[T])
		*dst = got
		return err
	})
}

// Affected makes the row count of the statement queued last go to dst.
func Affected(p *Pipe, dst *int64) {
	p.last().Exec(func(tag pgconn.CommandTag) error {
		*dst = tag.RowsAffected()
		return nil
	})
}

func (p *Pipe) last() *pgx.QueuedQuery { return p.batch.QueuedQueries[len(p.batch.QueuedQueries)-1] }

// queue is the Pipe as sqlc's DBTX.
type queue Pipe

func (q *queue) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	q.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

func (q *queue) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	q.batch.Queue(sql, args...)
	return none{}, nil
}

func (q *queue) QueryRow(_ context.Context, sql string, args ...any) pgx.Row {
	q.batch.Queue(sql, args...)
	return none{}
}

func (q *queue) CopyFrom(_ context.Context, table pgx.Identifier, _ []string, _ pgx.CopyFromSource) (int64, error) {
	return 0, fmt.Errorf("copying into %s: %w", table.Sanitize(), errors.ErrUnsupported)
}

// none is the answer of a statement that has not run yet.
type none struct{}

func (none) Close()                                       {}
func (none) Err() error                                   { return nil }
func (none) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (none) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (none) Next() bool                                   { return false }
func (none) Scan(...any) error                            { return nil }
func (none) Values() ([]any, error)                       { return nil, nil }
func (none) RawValues() [][]byte                          { return nil }
func (none) Conn() *pgx.Conn                              { return nil }
func (none) TypeMap() *pgtype.Map                         { return nil }

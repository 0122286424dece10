package sql

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"axflow/sql/db"
)

// ErrFenced says that a leader's transaction found that its term is over. Nothing of it was written.
var ErrFenced = errors.New("fenced: another leader's term has begun")

// Fence names the term that a leader's transactions belong to.
type Fence struct {
	Name  string // of the lease
	Epoch int64
}

// Hold makes the fence a transaction's first statement: it holds the lease row against a take-over until the
// transaction ends, and fails the transaction when the term is over.
func (f Fence) Hold(ctx context.Context, q *db.Queries) error {
	return q.Fence(ctx, db.FenceParams{Name: f.Name, Epoch: f.Epoch})
}

// Fenced turns the failure of a fence (division by zero; no other statement of a leader divides) into
// ErrFenced and leaves other errors as they are.
func Fenced(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "22012" {
		return ErrFenced
	}
	return err
}

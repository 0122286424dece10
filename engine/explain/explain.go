// Package explain says why a run, a stage or a task is not running, or why it ran and how often. It asks the very
// functions that dispatch and resolve decide with: a Board made from the tables, and flow.Resolve. It reads only.
package explain

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/sql/versions"
)

// Source is where the answer comes from. It is safe for concurrent use.
type Source struct {
	Pool *pgxpool.Pool
	// Versions may be shared with other parts of the process.
	Versions *versions.Cache
	// Namespace that the run must belong to.
	Namespace string
}

// Explain reports on a run, a stage or a task, as the database shows them at one moment. A run, a stage or an index that
// does not exist is a *control.Error with CodeNotFound.
func Explain(ctx context.Context, from Source, t Target) (*Report, error) {
	return nil, errors.New("explain: not built yet")
}

package problem

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"axflow/api/gen"
	axsql "axflow/sql"
)

// classes say what a fault of the database is, by SQLSTATE or its first two letters. What is not here is a fault of ours.
var classes = map[string]gen.ProblemCode{
	"08":    gen.ProblemCodeUnavailable, // the connection
	"25006": gen.ProblemCodeUnavailable, // read only: a standby, after a fail-over
	"25P03": gen.ProblemCodeTimeout,     // idle in a transaction
	"40":    gen.ProblemCodeUnavailable, // a deadlock, which again may go well
	"53":    gen.ProblemCodeUnavailable, // out of connections, memory, disk
	"55P03": gen.ProblemCodeTimeout,     // waited too long for a lock
	"57014": gen.ProblemCodeTimeout,     // statement_timeout
	"57":    gen.ProblemCodeUnavailable, // it is being stopped, started, or repaired
	"58":    gen.ProblemCodeUnavailable, // the disk
	"22021": gen.ProblemCodeInvalid,     // text that it has no characters for
	"22P05": gen.ProblemCodeInvalid,
}

// database tells what a fault of the database, or of the way to it, is; "": it is none.
func database(err error) gen.ProblemCode {
	var connect *pgconn.ConnectError
	var pg *pgconn.PgError
	var network net.Error
	switch {
	case errors.Is(err, axsql.ErrSchemaOlder), errors.Is(err, axsql.ErrSchemaNewer), errors.Is(err, puddle.ErrClosedPool), errors.As(err, &connect):
		return gen.ProblemCodeUnavailable
	case errors.As(err, &pg):
		if code, ok := classes[pg.Code]; ok {
			return code
		}
		return classes[pg.Code[:min(2, len(pg.Code))]]
	case errors.Is(err, context.Canceled):
		return "" // not the database's doing
	case pgconn.SafeToRetry(err), errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF):
		return gen.ProblemCodeUnavailable
	default:
		return ""
	}
}

package worker

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// guarded is the pgx.Tx of an InTx handler. It refuses to end the transaction, by method or by statement. (A
// statement hidden behind another in one text is found out afterwards, and fails the task.)
type guarded struct {
	tx    pgx.Tx
	outer *guarded // of a savepoint
	over  atomic.Bool
}

func (g *guarded) end() { g.over.Store(true) }

// check tells why a statement is refused; nil if it is not.
func (g *guarded) check(sql string) error {
	for x := g; x != nil; x = x.outer {
		if x.over.Load() {
			return faultf(CodeTxEnded, "the transaction is over: use it only until the function that got it returns")
		}
	}
	if endsTx(sql) {
		return faultf(CodeTxEnded, "%s would end the transaction that finishes the task: leave that to AX, and use Tx.Begin for a savepoint", strings.TrimSpace(clip(sql)))
	}
	return nil
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}

// endsTx tells whether a statement begins or ends transactions.
func endsTx(sql string) bool {
	words := firstWords(sql, 3)
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "begin", "start", "commit", "end", "abort":
		return true
	case "prepare":
		return len(words) > 1 && words[1] == "transaction"
	case "rollback":
		if len(words) > 1 && (words[1] == "work" || words[1] == "transaction") {
			words = words[1:]
		}
		return len(words) < 2 || words[1] != "to" // a savepoint
	}
	return false
}

// firstWords returns up to n words that a statement begins with, in small letters, without comments.
func firstWords(sql string, n int) []string {
	var words []string
	for len(words) < n {
		sql = strings.TrimLeft(sql, " \t\r\n\f\v;")
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
			continue
		case strings.HasPrefix(sql, "/*"):
			sql = afterComment(sql)
			continue
		}
		end := 0
		for end < len(sql) && (sql[end]|0x20 >= 'a' && sql[end]|0x20 <= 'z' || sql[end] == '_') {
			end++
		}
		if end == 0 {
			break
		}
		words = append(words, strings.ToLower(sql[:end]))
		sql = sql[end:]
	}
	return words
}

// afterComment skips a comment, which may hold others.
func afterComment(sql string) string {
	depth := 0
	for i := 0; i+1 < len(sql); i++ {
		switch sql[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return sql[i+1:]
			}
		}
	}
	return ""
}

// Begin makes a savepoint, whose Commit releases it and whose Rollback rolls back to it.
func (g *guarded) Begin(ctx context.Context) (pgx.Tx, error) {
	if err := g.check(""); err != nil {
		return nil, err
	}
	tx, err := g.tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &guarded{tx: tx, outer: g}, nil
}

// Commit releases a savepoint. The transaction itself is AX's to commit.
func (g *guarded) Commit(ctx context.Context) error {
	if g.outer == nil {
		return g.check("commit")
	}
	return g.tx.Commit(ctx)
}

// Rollback rolls back to a savepoint. The transaction itself is rolled back when its function returns an error.
func (g *guarded) Rollback(ctx context.Context) error {
	if g.outer == nil {
		if err := g.check("rollback"); g.over.Load() {
			return pgx.ErrTxClosed // as of any transaction that has ended: it is often deferred
		} else if err != nil {
			return err
		}
	}
	return g.tx.Rollback(ctx)
}

func (g *guarded) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error) {
	if err := g.check(""); err != nil {
		return 0, err
	}
	return g.tx.CopyFrom(ctx, table, columns, rows)
}

func (g *guarded) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	for _, q := range b.QueuedQueries {
		if err := g.check(q.SQL); err != nil {
			return refused{err}
		}
	}
	if err := g.check(""); err != nil {
		return refused{err}
	}
	return g.tx.SendBatch(ctx, b)
}

func (g *guarded) LargeObjects() pgx.LargeObjects { return g.tx.LargeObjects() }

func (g *guarded) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	if err := g.check(sql); err != nil {
		return nil, err
	}
	return g.tx.Prepare(ctx, name, sql)
}

func (g *guarded) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	if err := g.check(sql); err != nil {
		return pgconn.CommandTag{}, err
	}
	return g.tx.Exec(ctx, sql, args...)
}

func (g *guarded) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	if err := g.check(sql); err != nil {
		return refusedRows{refused{err}}, err
	}
	return g.tx.Query(ctx, sql, args...)
}

func (g *guarded) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := g.check(sql); err != nil {
		return refusedRows{refused{err}}
	}
	return g.tx.QueryRow(ctx, sql, args...)
}

// Conn is nil: the connection is not the handler's.
func (g *guarded) Conn() *pgx.Conn { return nil }

// refused answers a batch that was not sent.
type refused struct{ err error }

func (r refused) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, r.err }
func (r refused) Query() (pgx.Rows, error)         { return refusedRows{r}, r.err }
func (r refused) QueryRow() pgx.Row                { return refusedRows{r} }
func (r refused) Close() error                     { return r.err }
func (r refused) Tx() pgx.Tx                       { return nil }

// refusedRows answers a query that was not sent.
type refusedRows struct{ refused }

func (r refusedRows) Close()                                       {}
func (r refusedRows) Err() error                                   { return r.err }
func (r refusedRows) CommandTag() pgconn.CommandTag                { return pgconn.CommandTag{} }
func (r refusedRows) FieldDescriptions() []pgconn.FieldDescription { return nil }
func (r refusedRows) Next() bool                                   { return false }
func (r refusedRows) Scan(...any) error                            { return r.err }
func (r refusedRows) Values() ([]any, error)                       { return nil, r.err }
func (r refusedRows) RawValues() [][]byte                          { return nil }
func (r refusedRows) Conn() *pgx.Conn                              { return nil }
func (r refusedRows) TypeMap() *pgtype.Map                         { return nil }

package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	axsql "axflow/sql"
	"axflow/sql/span"
	"axflow/stage"
)

// attemptLimit bounds one try of a transaction, so that a dead network cannot hold a committer.
const attemptLimit = 30 * time.Second

// errPoison says that the database refuses the very data, so that trying again is no use.
var errPoison = errors.New("the database refuses the data")

// checks are the constraints whose violation means bad data. Any other 23514 is a missing partition.
var checks = map[string]bool{"ready_holds_work": true, "parked_holds_work": true}

// poisonous tells errors of the data from those of the database: SQLSTATE 22 (data), 54 (a limit of the program),
// 23502 (null), the named checks, and what pgx cannot encode.
func poisonous(err error, conn *pgx.Conn) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case strings.HasPrefix(e.Code, "22"), strings.HasPrefix(e.Code, "54"), e.Code == "23502":
			return true
		case e.Code == "23514":
			return checks[e.ConstraintName]
		}
		return false
	}
	// Neither the server nor the network has complained: the arguments did not even leave.
	return conn != nil && !conn.IsClosed() && !pgconn.Timeout(err) && !errors.Is(err, context.Canceled)
}

// gone tells that a run's partition is not there: the run is past its retention.
func gone(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "23514" && e.ConstraintName == ""
}

// hopeless tells errors that no waiting mends: wrong schema, privileges, credentials, or a database that is not.
func hopeless(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(e.Code, "42") || strings.HasPrefix(e.Code, "28") || e.Code == "3D000")
}

func (c *committer) connect(ctx context.Context) error {
	if c.conn != nil && !c.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, c.w.cfg.ConnConfig.Copy())
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	axsql.Register(conn.TypeMap())
	c.conn = conn
	return nil
}

func (c *committer) disconnect() {
	if c.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.conn.Close(ctx) // nothing is open on it, or it is broken
	c.conn = nil
}

// persist runs a transaction that is safe to repeat until it commits. It returns ctx's error when that ends, and
// errPoison, wrapped, when the data of something divisible is at fault.
func (c *committer) persist(ctx context.Context, b *batch, what string, divisible bool, do func(context.Context, span.Conn) error) error {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := c.attempt(ctx, do)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case divisible && poisonous(err, c.conn):
			return fmt.Errorf("%w: %w", errPoison, err)
		}
		c.w.count.faults.Add(1)
		b.unsure = true
		c.disconnect()
		c.w.log.Error(what+" failed; it is repeated until it succeeds", "worker", b.worker, "results", b.results, "err", err)
		c.w.pause(ctx, pause+time.Duration(c.w.cfg.Rand()*float64(pause)))
	}
}

func (c *committer) attempt(ctx context.Context, do func(context.Context, span.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	if c.dry {
		return do(ctx, nil)
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	return do(ctx, c.conn)
}

// finishAll commits reports; false when ctx has ended. What the database refuses is looked for by halving, and
// becomes a failed result.
func (c *committer) finishAll(ctx context.Context, b *batch, reports []span.Report, receipt *span.Receipt) bool {
	var part span.Receipt
	err := c.persist(ctx, b, "committing results", true, func(ctx context.Context, conn span.Conn) (err error) {
		part, err = c.write(ctx, conn, b.worker, reports)
		return err
	})
	switch {
	case err == nil:
		receipt.Accepted = append(receipt.Accepted, part.Accepted...)
		receipt.Decided = append(receipt.Decided, part.Decided...)
		receipt.Ready = append(receipt.Ready, part.Ready...)
		receipt.Asked = append(receipt.Asked, part.Asked...)
		return true
	case !errors.Is(err, errPoison):
		return false
	}
	first, second := halve(reports)
	if len(second) > 0 {
		return c.finishAll(ctx, b, first, receipt) && c.finishAll(ctx, b, second, receipt)
	}
	r := &reports[0].Results[0]
	c.w.count.poisoned.Add(1)
	c.w.log.Error("a result is refused by the database and becomes a failure", "worker", b.worker, "run", reports[0].Run,
		"stage", reports[0].Ord, "shard", r.Index, "err", err)
	if r.Outcome == stage.Failed && !r.Again && r.Output == nil && r.Delay == 0 {
		// Even the plain failure is refused: there is nothing left to leave out.
		c.w.count.faults.Add(1)
		c.w.pause(ctx, time.Second)
	}
	now := c.w.clk.db(c.w.clk.now())
	*r = span.Result{Index: r.Index, Outcome: stage.Failed, Started: now, Finished: now,
		Error: failure{Code: CodeRefused, Message: "the database would not store the result: " + err.Error()}.encode()}
	return ctx.Err() == nil && c.finishAll(ctx, b, reports, receipt)
}

// halve divides reports into two of half as many results each. The second is empty if there is one result.
func halve(reports []span.Report) (first, second []span.Report) {
	n := 0
	for i := range reports {
		n += len(reports[i].Results)
	}
	half := n / 2
	if half == 0 {
		return reports, nil
	}
	for _, r := range reports {
		k := min(half, len(r.Results))
		half -= k
		if k > 0 {
			a := r
			a.Results = r.Results[:k:k]
			a.Last = r.Last && k == len(r.Results)
			first = append(first, a)
		}
		if k < len(r.Results) {
			z := r
			z.Results = r.Results[k:]
			second = append(second, z)
		}
	}
	return first, second
}

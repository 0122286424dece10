package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/pipe"
	"axflow/sql/span"
	"axflow/stage"
)

// TxLimit is how long the transaction of an InTx handler may last.
const TxLimit = 60 * time.Second

// InTx declares a stage whose writes to AX's own database commit together with its finish: exactly once, whatever
// is killed when. h computes first, for as long as it takes, and returns what is to be done inside the transaction;
// AX then begins one, calls that, takes the task off, and commits. If the task is not this worker's any more (it was
// given up, cancelled by force, or handed out again), everything is rolled back.
//
// The function gets a pgx.Tx that it cannot commit or roll back (savepoints work: Tx.Begin) and whose Conn is nil. It
// should be short, TxLimit at most: it holds a connection of the pool. Deferred constraints are checked when it
// returns. Settings that it makes must be SET LOCAL. A panic or an error rolls back and counts as a failure.
func InTx[P, O any](name string, h func(context.Context, P) (func(context.Context, pgx.Tx) (O, error), error), opts ...stage.Option) *stage.Stage[P, O] {
	var handler stage.Handler
	if h != nil {
		handler.Tx = func(ctx context.Context, c stage.Call) (stage.Commit, error) {
			p, err := stage.ParamsOf[P](c.Params)
			if err != nil {
				return nil, err
			}
			return commitOf(h(ctx, p))
		}
	}
	return stage.NewFrom[P, O](name, handler, opts...)
}

// InTxShards is InTx for a sharded stage: each shard commits by itself.
func InTxShards[P, O any](name string, plan func(context.Context, P) (shard.Plan, error), h func(context.Context, P, shard.Shard) (func(context.Context, pgx.Tx) (O, error), error), opts ...stage.Option) *shard.Stage[P, O] {
	return shard.NewFrom[P, O](name, plan, txShards(h), opts...)
}

// InTxAligned is InTx for a stage that is aligned to up: shard i commits by itself, after up's shard i.
func InTxAligned[P, U, O any](name string, up *shard.Stage[P, U], h func(context.Context, P, shard.Shard) (func(context.Context, pgx.Tx) (O, error), error), opts ...stage.Option) *shard.Stage[P, O] {
	return shard.AlignedFrom[P, U, O](name, up, txShards(h), opts...)
}

func txShards[P, O any](h func(context.Context, P, shard.Shard) (func(context.Context, pgx.Tx) (O, error), error)) stage.Handler {
	if h == nil {
		return stage.Handler{}
	}
	return stage.Handler{Tx: func(ctx context.Context, c stage.Call) (stage.Commit, error) {
		p, err := stage.ParamsOf[P](c.Params)
		if err != nil {
			return nil, err
		}
		return commitOf(h(ctx, p, shard.FromCall(c)))
	}}
}

func commitOf[O any](write func(context.Context, pgx.Tx) (O, error), err error) (stage.Commit, error) {
	if err != nil {
		return nil, err
	}
	if write == nil {
		return nil, stage.Permanent(errors.New("the handler returned neither an error nor a function to call in the transaction: return one of them"))
	}
	return func(ctx context.Context, tx any) ([]byte, error) {
		ptx, ok := tx.(pgx.Tx)
		if !ok {
			return nil, stage.Permanent(fmt.Errorf("the transaction is a %T, not a pgx.Tx", tx))
		}
		o, err := write(ctx, ptx)
		if err != nil {
			return nil, err
		}
		return stage.EncodeOutput(o)
	}, nil
}

// errUnknownCommit says that the answer to a commit was lost.
var errUnknownCommit = errors.New("the answer to the commit was lost")

// runTx computes, and commits the handler's writes together with the task's end.
func (t *task) runTx() {
	commit, err := t.compute()
	if t.verdict == awaiting {
		return
	}
	if err == nil {
		err = t.commitTx(commit)
	}
	switch {
	case t.verdict != reported:
		t.time(t.f.pool.w.clk.now())
	case errors.Is(err, errUnknownCommit):
		// Reporting an interruption settles it: if the commit took place, the task is not there any more and the
		// report is refused; else it runs again.
		t.result = t.resultOf(stage.Interrupted)
		t.result.Error = failure{Code: CodeInterrupted, Message: err.Error(), Retryable: true}.encode()
		t.time(t.f.pool.w.clk.now())
	default:
		t.settle(nil, err)
	}
}

func (t *task) compute() (commit stage.Commit, err error) {
	c, err := t.call()
	if err != nil {
		return nil, err
	}
	defer t.recovered(&err)
	commit, err = t.f.h.def.Handler.Tx(stage.WithEnv(t, t), c)
	if err = t.failed(err); err == nil && commit == nil {
		err = stage.Permanent(errors.New("the handler returned no function to call in the transaction"))
	}
	return commit, err
}

// enterTx books that the task is in a transaction from now on, whose end alone tells how the task has ended.
func (t *task) enterTx() error {
	p := t.f.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.cause != nil {
		return t.cause
	}
	t.txUntil = p.w.clk.now() + TxLimit
	return nil
}

func (t *task) commitTx(commit stage.Commit) error {
	w := t.f.pool.w
	select { // readers must find a connection too
	case w.txs <- struct{}{}:
		defer func() { <-w.txs }()
	case <-t.Done():
		return context.Cause(t)
	}
	conn, err := w.cfg.Pool.Acquire(t)
	if err != nil {
		return fmt.Errorf("taking a connection for the transaction: %w", err)
	}
	defer conn.Release() // which closes it if it is not at rest
	if err := t.enterTx(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t, TxLimit)
	defer cancel()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: beginTx(t.f.ID)})
	if err != nil {
		return fmt.Errorf("beginning the transaction: %w", err)
	}
	if w.wrapTx != nil {
		tx = w.wrapTx(tx)
	}
	output, err := t.write(ctx, commit, tx, conn)
	if err == nil {
		output, err = t.seal(output)
	}
	if err == nil {
		err = t.take(tx, output)
	}
	if err != nil || t.verdict == dropped {
		rollbackTx(tx)
		return err
	}
	return t.commit(tx)
}

// beginTx begins a transaction that the server ends when the handler does not, and that can be told from any that
// the handler might begin.
func beginTx(execution uuid.UUID) string {
	ms := TxLimit.Milliseconds()
	return fmt.Sprintf("begin; set local statement_timeout = %d; set local idle_in_transaction_session_timeout = %d; set local ax.execution = '%s'",
		ms, ms, execution)
}

// write calls the handler's function and checks what it has left.
func (t *task) write(ctx context.Context, commit stage.Commit, tx pgx.Tx, conn *pgxpool.Conn) ([]byte, error) {
	g := &guarded{tx: tx}
	output, err := func() (output []byte, err error) {
		defer g.end()
		defer func() {
			if r := recover(); r != nil {
				err = &crash{value: r, stack: debug.Stack()}
			}
		}()
		return commit(stage.WithEnv(ctx, t), g)
	}()
	if err = t.failed(err); err != nil {
		return nil, err
	}
	switch conn.Conn().PgConn().TxStatus() {
	case 'T':
	case 'E':
		return nil, errors.New("a statement in the transaction has failed and the handler has gone on: return its error, or wrap it in a savepoint (Tx.Begin)")
	default:
		return nil, errTxEnded
	}
	return output, t.f.pool.w.checkOutput(t.f, output)
}

// errTxEnded says that a handler went around the guard; what it has committed stays.
var errTxEnded = stage.Permanent(faultf(CodeTxEnded, "the handler has ended the transaction that it was given: leave the commit to AX"))

// take takes the task off its flight inside the transaction.
func (t *task) take(tx pgx.Tx, output []byte) error {
	f := t.f
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t), TxLimit)
	defer cancel()
	t.time(f.pool.w.clk.now())
	var owner []string
	var rows []db.FinishSpansRow
	p := pipe.New()
	_, _ = p.TxOwner(ctx)
	pipe.Values(p, &owner)
	p.Text("set constraints all immediate")
	_, _ = p.FinishSpans(ctx, db.FinishSpansParams{WorkerID: f.worker, Executions: []uuid.UUID{f.ID},
		Done: []string{shard.Of(int(t.index)).String()}, OfFlight: []int32{1}, Shards: []int32{t.index},
		Outcomes: []int16{int16(stage.Succeeded)}, StartedAt: []time.Time{t.result.Started},
		FinishedAt: []time.Time{t.result.Finished}, Outputs: [][]byte{output}, Errors: [][]byte{nil}, Retire: false})
	pipe.Rows(p, &rows)
	p.Text(span.BoundIdle) // the flight is locked from here on, and only the commit is to come
	if err := p.Send(ctx, tx); err != nil {
		return fmt.Errorf("finishing inside the transaction: %w", err)
	}
	if len(owner) != 1 || owner[0] != f.ID.String() {
		return errTxEnded
	}
	accepted := false
	for _, r := range rows {
		set, err := shard.ParseSet(r.Taken)
		accepted = accepted || err == nil && set.Contains(int(t.index))
	}
	if !accepted {
		f.pool.w.count.fenced.Add(1)
		f.pool.w.log.Warn("the task is not this worker's any more: its transaction is rolled back", append(f.attrs(), "shard", t.index)...)
		t.verdict = dropped
	}
	return nil
}

// commit ends the transaction. Its own fate does not depend on the task's context any more.
func (t *task) commit(tx pgx.Tx) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t), TxLimit)
	defer cancel()
	err := tx.Commit(ctx)
	if err == nil {
		t.result.Index, t.result.Outcome = t.index, stage.Succeeded
		t.verdict = committed
		t.f.pool.w.count.succeeded.Add(1)
		t.f.over(stage.Succeeded)
		return nil
	}
	if _, answered := errors.AsType[*pgconn.PgError](err); answered || errors.Is(err, pgx.ErrTxCommitRollback) {
		return fmt.Errorf("committing: %w", err)
	}
	return fmt.Errorf("%w: %w", errUnknownCommit, err)
}

func rollbackTx(tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = tx.Rollback(ctx) // if it fails, the connection is closed, which rolls back too
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/flow"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/payload"
	"axflow/sql/span"
	"axflow/stage"
)

// ChildStart is the run of a sub-flow that is to be started.
type ChildStart struct {
	Flow   flow.Definition
	Params []byte      // JSON
	Level  stage.Level // of the task that starts it
	Queue  string      // of the run that the task belongs to
	Parent stage.Info  // the task
}

// Children starts the runs of sub-flows.
type Children interface {
	// StartChild starts a run inside tx, so that it exists if and when tx commits, with the trigger "child", and returns its
	// id. An error that is not the database's fails the attempt; stage.Permanent and stage.RetryAfter are heeded.
	StartChild(ctx context.Context, tx pgx.Tx, s ChildStart) (uuid.UUID, error)
}

// task is the stage.ChildEnv of its handler.
var _ stage.ChildEnv = (*task)(nil)

// errAside says that a task could not be set aside to wait for its run: it is not this worker's any more, is being
// cancelled, or the answer was lost. It costs no attempt; if the task is still to be done, its next delivery finds the run.
var errAside = errors.New("the task could not be set aside to wait for its run")

// Child starts the run of a sub-flow, once for each attempt, and returns its result. Until the run has ended the task is
// parked and the error is stage.ErrAwait.
func (t *task) Child(ctx context.Context, r stage.ChildRequest) (stage.ChildResult, error) {
	def, ok := r.Flow.(flow.Definition)
	switch {
	case !ok || def == nil:
		return stage.ChildResult{}, stage.Permanent(fmt.Errorf("the sub-flow is a %T: give a flow", r.Flow))
	case t.f.Kind == span.Plan:
		return stage.ChildResult{}, stage.Permanent(fmt.Errorf("a plan cannot run flow %q: let a stage before it do so", def.Name()))
	case t.f.pool.w.cfg.Children == nil:
		return stage.ChildResult{}, stage.Permanent(fmt.Errorf("this worker cannot run flow %q: set worker.Config.Children", def.Name()))
	case t.verdict == awaiting:
		return stage.ChildResult{}, stage.ErrAwait
	}
	w := t.f.pool.w
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		run, err := t.await(ctx, def, r)
		switch {
		case err == nil && run == uuid.Nil:
			return stage.ChildResult{}, stage.ErrAwait
		case err == nil:
			var result stage.ChildResult
			if result, err = w.childResult(ctx, run, r.Stage); err == nil {
				return result, nil
			}
		}
		if !transient(err) || ctx.Err() != nil || t.Err() != nil {
			return stage.ChildResult{}, fmt.Errorf("running flow %q: %w", def.Name(), err)
		}
		w.count.faults.Add(1)
		w.log.Error("running a sub-flow failed; it is tried again", append(t.f.attrs(), "flow", def.Name(), "err", err)...)
		w.pause(t, pause)
	}
}

// await is one transaction: it finds or starts the task's run, and parks the task while that is open. It returns the
// run once it has ended.
func (t *task) await(ctx context.Context, def flow.Definition, r stage.ChildRequest) (ended uuid.UUID, err error) {
	w := t.f.pool.w
	select { // readers must find a connection too
	case w.txs <- struct{}{}:
		defer func() { <-w.txs }()
	case <-ctx.Done():
		return uuid.Nil, context.Cause(ctx)
	}
	conn, err := w.cfg.Pool.Acquire(ctx)
	if err != nil {
		return uuid.Nil, fmt.Errorf("taking a connection: %w", err)
	}
	defer conn.Release() // which closes it if it is not at rest
	if err := t.enterTx(); err != nil {
		return uuid.Nil, err
	}
	parked := false
	defer func() { t.exitTx(parked) }()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: "begin; " + span.BoundIdle})
	if err != nil {
		return uuid.Nil, fmt.Errorf("beginning the transaction: %w", err)
	}
	if w.wrapTx != nil {
		tx = w.wrapTx(tx)
	}
	ended, waits, err := t.childIn(ctx, tx, def, r)
	if err != nil || !waits {
		rollbackTx(tx)
		return ended, lostConn(conn, err)
	}
	if err := tx.Commit(ctx); err != nil {
		return uuid.Nil, fmt.Errorf("%w: %w", errAside, err)
	}
	parked = true
	return uuid.Nil, nil
}

// exitTx books that the task is in no transaction any more, and whether that has parked it.
func (t *task) exitTx(parked bool) {
	p := t.f.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	t.txUntil = 0
	if parked {
		t.verdict = awaiting
	}
}

// childIn is await inside its transaction. waits says that the transaction has something to commit. A run that is
// there already is locked before the flight is, which is the order of all locks.
func (t *task) childIn(ctx context.Context, tx pgx.Tx, def flow.Definition, r stage.ChildRequest) (ended uuid.UUID, waits bool, err error) {
	f := t.f
	q := db.New(tx)
	runs, err := q.ChildOf(ctx, db.ChildOfParams{ParentRun: f.Run, Ord: f.Ord, Generation: f.Generation, Shard: t.index, Attempt: f.Attempt})
	if err != nil {
		return uuid.Nil, false, fmt.Errorf("looking for the task's run: %w", err)
	}
	if len(runs) > 0 {
		rows, err := q.ShareRun(ctx, runs[0])
		if err != nil {
			return uuid.Nil, false, fmt.Errorf("locking run %s: %w", runs[0], err)
		}
		if len(rows) == 0 || stage.RunState(rows[0].State).Ended() {
			return runs[0], false, nil
		}
	}
	waits, err = span.Await(ctx, tx, f.worker, span.Handback{Execution: f.ID, Run: f.Run, Ord: f.Ord, Set: shard.Of(int(t.index))})
	switch {
	case err != nil:
		return uuid.Nil, false, err
	case !waits:
		return uuid.Nil, false, errAside
	case len(runs) > 0:
		return uuid.Nil, true, nil
	}
	parent, err := q.RunHeads(ctx, []uuid.UUID{f.Run})
	if err != nil || len(parent) == 0 {
		return uuid.Nil, false, fmt.Errorf("reading run %s: %w", f.Run, errors.Join(errAside, err))
	}
	run, err := f.pool.w.cfg.Children.StartChild(ctx, tx, ChildStart{Flow: def, Params: r.Params, Level: f.Level, Queue: parent[0].Queue, Parent: t.Info()})
	if err != nil {
		return uuid.Nil, false, fmt.Errorf("starting its run: %w", err)
	}
	err = q.AddChild(ctx, db.AddChildParams{ParentRun: f.Run, Ord: f.Ord, Generation: f.Generation, Shard: t.index, Attempt: f.Attempt, ChildRun: run})
	if err != nil {
		return uuid.Nil, false, fmt.Errorf("noting run %s: %w", run, err)
	}
	return uuid.Nil, true, nil
}

// childResult reads how a run has ended, and the output of one of its stages.
func (w *Worker) childResult(ctx context.Context, run uuid.UUID, stageName string) (stage.ChildResult, error) {
	heads, err := w.q.RunHeads(ctx, []uuid.UUID{run})
	if err != nil {
		return stage.ChildResult{}, fmt.Errorf("reading run %s: %w", run, err)
	}
	if len(heads) == 0 {
		return stage.ChildResult{}, stage.Permanent(fmt.Errorf("run %s has ended and was deleted before its result was read: retry the stage to start another", run))
	}
	result := stage.ChildResult{Run: run, State: stage.RunState(heads[0].State)}
	if result.State != stage.RunSucceeded {
		return result, nil
	}
	v, err := w.versions.get(ctx, w.q, heads[0].VersionID)
	if err != nil {
		return stage.ChildResult{}, err
	}
	ord, ok := v.graph.Ord(stageName)
	if !ok {
		return stage.ChildResult{}, stage.Permanent(fmt.Errorf("run %s was started with a version of flow %q that has no stage %q", run, v.flow, stageName))
	}
	result.Output, err = w.q.Output(ctx, db.OutputParams{RunID: run, Ord: int16(ord), Shard: 0})
	if errors.Is(err, pgx.ErrNoRows) { // it was skipped
		return result, nil
	}
	if err != nil {
		return stage.ChildResult{}, fmt.Errorf("reading the output of stage %q of run %s: %w", stageName, run, err)
	}
	at := payload.Place{Kind: payload.Output, Namespace: heads[0].Namespace, Run: run, Ord: ord}
	if result.Output, err = payload.Open(ctx, w.cfg.Codec, at, result.Output); err != nil {
		return stage.ChildResult{}, sealFault(err)
	}
	return result, nil
}

// errDatabase marks errors that another try may mend.
type errDatabase struct{ error }

func (e errDatabase) Unwrap() error { return e.error }

// lostConn marks an error as the database's if the connection has not survived it.
func lostConn(conn *pgxpool.Conn, err error) error {
	if err != nil && conn.Conn().IsClosed() {
		return errDatabase{err}
	}
	return err
}

// transient tells errors of the database that another try may mend.
func transient(err error) bool {
	if errors.Is(err, errAside) {
		return false
	}
	if _, ok := errors.AsType[errDatabase](err); ok {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	for _, class := range []string{"08", "25", "40", "53", "55", "57"} { // connection, transaction, serialisation, resources, locks, shutdown
		if strings.HasPrefix(e.Code, class) {
			return true
		}
	}
	return false
}

package worker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/flow"
	"axflow/sql/hint"
	"axflow/stage"
)

// sub is the sub-flow of these tests, and parent a flow whose stage "a" runs it.
type subParams struct {
	Day string `json:"day"`
}

var (
	subResult = stage.New("result", func(context.Context, subParams) (int, error) { return 0, errors.New("its runs are ended by hand") })
	subFlow   = flow.New("sub", subResult)
)

func parent(opts ...stage.Option) flow.Definition {
	return flow.New("f", flow.Sub("a", subFlow, subResult, func(_ context.Context, p day) (subParams, error) { return subParams(p), nil }, opts...))
}

// nursery starts runs of sub-flows as rows.
type nursery struct {
	starts atomic.Int32
	last   ChildStart
	// before is called inside the transaction; its error is the start's.
	before func(context.Context, pgx.Tx) error
}

func (n *nursery) StartChild(ctx context.Context, tx pgx.Tx, s ChildStart) (uuid.UUID, error) {
	n.starts.Add(1)
	n.last = s
	if n.before != nil {
		if err := n.before(ctx, tx); err != nil {
			return uuid.Nil, err
		}
	}
	id := uuid.Must(uuid.NewV7())
	// The tests' sub-flow is the only stage of its graph, as the parent's is of its: its version may stand for it.
	_, err := tx.Exec(ctx, `INSERT INTO ax.run (run_id, version_id, state, level, created_at, namespace, flow, queue, trigger, params)
	        SELECT $1, id, 1, 2, now(), 'default', 'sub', $2, 'child', $3 FROM ax.flow_version WHERE flow = 'sub'`, id, s.Queue, s.Params)
	if err == nil {
		_, err = tx.Exec(ctx, `INSERT INTO ax.stage (run_id, ord, state, shard_total) VALUES ($1, 0, 2, 1)`, id)
	}
	return id, err
}

func childLab(t *testing.T, f flow.Definition, n *nursery) *lab {
	t.Helper()
	l := newLab(t, f, func(c *Config) { c.Children = n })
	l.exec(`INSERT INTO ax.flow_version (namespace, flow, hash, graph) VALUES ('default', 'sub', $1, $2)`, subFlow.Version(), subFlow.Graph().Encode())
	l.release("a", 1, "")
	return l
}

// parked waits until the task waits for its run, and returns that.
func (l *lab) parked() (run uuid.UUID) {
	l.t.Helper()
	l.eventually("the task does not wait", `SELECT count(*) = 1 FROM ax.parked WHERE reason = 7 AND todo = '{[0,1)}'`)
	if err := l.pool.QueryRow(l.ctx, `SELECT child_run FROM ax.child ORDER BY attempt DESC LIMIT 1`).Scan(&run); err != nil {
		l.t.Fatal(err)
	}
	return run
}

// over ends a run of the sub-flow.
func (l *lab) over(run uuid.UUID, state stage.RunState, output string) {
	l.t.Helper()
	if output != "" {
		l.exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome, output)
		        VALUES ($1, $2, $2, now(), now(), now(), now(), 0, 1, 0, 1, 1, 1, 10, $3)`, run, uuid.New(), []byte(output))
	}
	l.exec(`UPDATE ax.stage SET state = $2::smallint, shard_total = CASE $2 WHEN 10 THEN 1 END, succeeded = CASE $2 WHEN 10 THEN 1 ELSE 0 END WHERE run_id = $1`, run, state)
	l.exec(`UPDATE ax.run SET state = $2, finished_at = now() WHERE run_id = $1`, run, state)
}

// wake does what the leader does when the run has ended: the task is handed out again, in the same attempt.
func (l *lab) wake(change ...func(*handOut)) {
	l.t.Helper()
	l.exec(`DELETE FROM ax.parked WHERE reason = 7`)
	l.hand("a", single, change...)
}

func TestChild(t *testing.T) {
	n := &nursery{}
	l := childLab(t, parent(), n)
	id := l.hand("a", single, func(h *handOut) { h.level = stage.P1 })
	run := l.parked()
	l.hears("the flight is over", func(e hint.Engine) bool {
		return len(e.Left) == 1 && e.Left[0].Flight == id && e.Left[0].Left == 0
	})
	want(t, "flights", l.count(`SELECT count(*) FROM ax.flight`), 0)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
	want(t, "params", string(n.last.Params), `{"day":"2026-01-01"}`)
	want(t, "flow", n.last.Flow.Name(), "sub")
	want(t, "level", n.last.Level, stage.P1)
	want(t, "queue", n.last.Queue, "default")
	want(t, "parent", n.last.Parent.Run, l.run)
	l.state("a", stage.StageRunning)

	// Woken too early, it waits on.
	l.wake()
	want(t, "the run", l.parked(), run)
	want(t, "runs", int(n.starts.Load()), 1)

	l.over(run, stage.RunSucceeded, `42`)
	l.wake()
	l.state("a", stage.StageSucceeded)
	want(t, "output", l.one("a", 0).output, `42`)
	want(t, "runs", int(n.starts.Load()), 1)
	l.check()
}

// A run that does not succeed fails the attempt; the next attempt starts another.
func TestChildThatDoesNotSucceed(t *testing.T) {
	for _, state := range []stage.RunState{stage.RunFailed, stage.RunCancelled} {
		n := &nursery{}
		l := childLab(t, parent(stage.Retry{MaxAttempts: 2}), n)
		l.hand("a", single)
		run := l.parked()
		l.over(run, state, "")
		l.wake()
		r := l.one("a", 0)
		want(t, "outcome", r.outcome, stage.Failed)
		want(t, "code", r.failure.Code, "child_failed")
		wantText(t, "message", r.failure.Message, run.String(), state.String())
		l.eventually("no second attempt", `SELECT count(*) = 1 FROM ax.ready WHERE attempt = 2`)
		l.exec(`DELETE FROM ax.ready`)
		l.hand("a", single, func(h *handOut) { h.attempt = 2 })
		second := l.parked()
		want(t, "a run of its own", second != run, true)
		l.over(second, stage.RunSucceeded, `1`)
		l.wake(func(h *handOut) { h.attempt = 2 })
		l.state("a", stage.StageSucceeded)
		want(t, "runs", int(n.starts.Load()), 2)
		l.check()
	}
}

// Whatever dies in between, one attempt starts one run.
func TestChildOnceWhateverDies(t *testing.T) {
	t.Run("session", func(t *testing.T) {
		n := &nursery{}
		n.before = func(ctx context.Context, tx pgx.Tx) error {
			if n.starts.Load() > 2 {
				return nil
			}
			_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
			return err
		}
		l := childLab(t, parent(), n)
		l.hand("a", single)
		l.parked()
		want(t, "tries", int(n.starts.Load()), 3)
		want(t, "runs", l.count(`SELECT count(*) FROM ax.run WHERE flow = 'sub'`), 1)
		want(t, "attempts burnt", l.count(`SELECT count(*) FROM ax.result`), 0)
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
	for _, happens := range []bool{true, false} {
		t.Run("answer", func(t *testing.T) {
			n := &nursery{}
			l := childLab(t, parent(), n)
			l.w.wrapTx = func(tx pgx.Tx) pgx.Tx { return unanswered{tx, happens} }
			l.hand("a", single)
			if happens {
				l.parked()
				l.eventually("the flight is not forgotten", `SELECT count(*) = 0 FROM ax.flight`)
				want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
			} else {
				want(t, "outcome", l.one("a", 0).outcome, stage.Interrupted)
				want(t, "ready again in the same attempt", l.count(`SELECT count(*) FROM ax.ready WHERE attempt = 1 AND delivery = 2`), 1)
				want(t, "runs", l.count(`SELECT count(*) FROM ax.run WHERE flow = 'sub'`), 0)
			}
			if err := l.end(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("ownership", func(t *testing.T) { // the task was handed to somebody else before it was set aside
		n := &nursery{}
		reached, proceed := make(chan struct{}), make(chan struct{})
		f := flow.New("f", flow.Sub("a", subFlow, subResult, func(context.Context, day) (subParams, error) {
			close(reached)
			<-proceed
			return subParams{}, nil
		}))
		l := childLab(t, f, n)
		id := l.hand("a", single)
		<-reached
		l.exec(`UPDATE ax.flight SET worker_id = $2 WHERE id = $1`, id, uuid.New())
		close(proceed)
		l.stats("the task does not end", func(s Stats) bool { return s.Lost+s.Interrupted > 0 })
		want(t, "runs", int(n.starts.Load()), 0)
		want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
		l.exec(`DELETE FROM ax.flight`)
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// A task whose stage is being cancelled starts no run any more.
func TestChildOfACancelledStage(t *testing.T) {
	n := &nursery{}
	reached, proceed := make(chan struct{}), make(chan struct{})
	f := flow.New("f", flow.Sub("a", subFlow, subResult, func(context.Context, day) (subParams, error) {
		close(reached)
		<-proceed
		return subParams{}, nil
	}))
	l := childLab(t, f, n)
	l.hand("a", single)
	<-reached
	l.exec(`UPDATE ax.stage SET state = 3 WHERE run_id = $1`, l.run)
	close(proceed)
	l.state("a", stage.StageCancelled)
	want(t, "runs", int(n.starts.Load()), 0)
	want(t, "outcome", l.one("a", 0).outcome, stage.Interrupted)
	want(t, "parked", l.count(`SELECT count(*) FROM ax.parked WHERE reason = 2`), 1)
	if err := l.end(); err != nil {
		t.Error(err)
	}
}

func TestChildRefusals(t *testing.T) {
	for _, c := range []struct {
		name    string
		start   error
		message string
		delayed bool
	}{
		{"for ever", stage.Permanent(errors.New("params too large")), "params too large", false},
		{"for now", stage.RetryAfter(time.Hour, errors.New("queue etl is full")), "queue etl is full", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &nursery{before: func(context.Context, pgx.Tx) error { return c.start }}
			l := childLab(t, parent(stage.Retry{MaxAttempts: 3}), n)
			l.hand("a", single)
			r := l.one("a", 0)
			wantText(t, "message", r.failure.Message, c.message, `flow "sub"`)
			want(t, "retries", l.count(`SELECT count(*) FROM ax.ready WHERE not_before > now() + interval '50 min'`) == 1, c.delayed)
			want(t, "children", l.count(`SELECT count(*) FROM ax.child`), 0)
			if err := l.end(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("without Children", func(t *testing.T) {
		l := newLab(t, parent(), nil)
		l.release("a", 1, "")
		l.hand("a", single)
		wantText(t, "message", l.one("a", 0).failure.Message, "worker.Config.Children")
		l.state("a", stage.StageFailed)
		l.check()
	})
	t.Run("ErrAwait without a run", func(t *testing.T) {
		l := newLab(t, oneStage(func(context.Context, day) (string, error) { return "", stage.ErrAwait }), nil)
		l.release("a", 1, "")
		l.hand("a", single)
		want(t, "code", l.one("a", 0).failure.Code, CodeAwait)
		l.state("a", stage.StageFailed)
		l.check()
	})
}

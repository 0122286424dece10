package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/flow"
	"axflow/shard"
	"axflow/sql/hint"
	"axflow/stage"
)

// write is the second half of an InTx handler.
type write = func(context.Context, pgx.Tx) (string, error)

func inTx(w write, opts ...stage.Option) flow.Definition {
	return flow.New("f", InTx("a", func(context.Context, day) (write, error) { return w, nil }, opts...))
}

func insert(ctx context.Context, tx pgx.Tx, v int) error {
	_, err := tx.Exec(ctx, `INSERT INTO effect (v) VALUES ($1)`, v)
	return err
}

func (l *lab) effects() *lab {
	l.exec(`CREATE TABLE parent (v int PRIMARY KEY)`)
	l.exec(`CREATE TABLE effect (v int, name text, p int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
	return l
}

func TestInTxCommits(t *testing.T) {
	l := newLab(t, inTx(func(ctx context.Context, tx pgx.Tx) (string, error) {
		inner, err := tx.Begin(ctx) // a savepoint
		if err != nil {
			return "", err
		}
		if err := insert(ctx, inner, 2); err != nil {
			return "", err
		}
		if err := inner.Rollback(ctx); err != nil {
			return "", err
		}
		if inner, err = tx.Begin(ctx); err != nil {
			return "", err
		}
		if err := insert(ctx, inner, 1); err != nil {
			return "", err
		}
		info, _ := stage.InfoFrom(ctx)
		return info.Stage, inner.Commit(ctx)
	}), nil).effects()
	l.release("a", 1, "")
	id := l.hand("a", single)
	l.state("a", stage.StageSucceeded)
	want(t, "output", l.one("a", 0).output, `"a"`)
	want(t, "effects", l.count(`SELECT sum(v) FROM effect`), 1)
	want(t, "flights", l.count(`SELECT count(*) FROM ax.flight`), 0)
	l.hearsStage("a")
	l.hears("the flight is over", func(n hint.Engine) bool {
		return len(n.Left) == 1 && n.Left[0].Flight == id && n.Left[0].Left == 0 && n.Left[0].Done == 1
	})
	want(t, "the definition says so", l.flow.Graph().Stages[0].Tx, true)
	l.check()
}

// Whatever goes wrong in the transaction, its writes are gone and the task has failed.
func TestInTxRollsBack(t *testing.T) {
	tests := map[string]struct {
		write func(ctx context.Context, tx pgx.Tx) (string, error)
		code  string
		says  string
		stays int // effects that a handler has committed itself
	}{
		"error": {func(context.Context, pgx.Tx) (string, error) { return "", errors.New("no") }, CodeHandler, "no", 0},
		"panic": {func(context.Context, pgx.Tx) (string, error) { panic("oh") }, CodePanic, "oh", 0},
		"a-deferred-constraint": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			_, err := tx.Exec(ctx, `UPDATE effect SET p = 7`)
			return "", err
		}, CodeHandler, "effect_p_fkey", 0},
		"a-failed-statement-that-is-passed-over": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			_, _ = tx.Exec(ctx, `SELECT 1/0`)
			return "", nil
		}, CodeHandler, "savepoint", 0},
		"a-large-output": {func(context.Context, pgx.Tx) (string, error) { return strings.Repeat("x", 1<<20), nil }, CodeOutputLimit, "1048576 bytes", 0},
		"commit":         {func(ctx context.Context, tx pgx.Tx) (string, error) { return "", tx.Commit(ctx) }, CodeTxEnded, "leave that to AX", 0},
		"commit-by-statement": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			_, err := tx.Exec(ctx, " -- done\nCOMMIT")
			return "", err
		}, CodeTxEnded, "COMMIT", 0},
		"commit-by-batch": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			b := new(pgx.Batch)
			b.Queue("SELECT 1")
			b.Queue("end")
			return "", tx.SendBatch(ctx, b).Close()
		}, CodeTxEnded, "end", 0},
		"commit-by-query": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			var n int
			return "", tx.QueryRow(ctx, "commit").Scan(&n)
		}, CodeTxEnded, "commit", 0},
		"rollback-by-statement-the-error-ignored": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			rows, _ := tx.Query(ctx, "rollback")
			_, err := pgx.CollectRows(rows, pgx.RowTo[int])
			return "", err
		}, CodeTxEnded, "rollback", 0},
		"commit-behind-another-statement": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			_, err := tx.Exec(ctx, `SELECT 1; COMMIT`)
			return "", err
		}, CodeTxEnded, "has ended the transaction", 1},
		"commit-and-a-transaction-of-its-own": {func(ctx context.Context, tx pgx.Tx) (string, error) {
			_, err := tx.Exec(ctx, `SELECT 1; COMMIT; BEGIN; INSERT INTO effect (v) VALUES (5)`)
			return "", err
		}, CodeTxEnded, "has ended the transaction", 1},
	}
	var nodes []stage.Node[day]
	for name, tc := range tests {
		nodes = append(nodes, InTx(name, func(context.Context, day) (write, error) {
			return func(ctx context.Context, tx pgx.Tx) (string, error) {
				if _, err := tx.Exec(ctx, `INSERT INTO effect (v, name) VALUES (1, $1)`, name); err != nil {
					return "", err
				}
				return tc.write(ctx, tx)
			}, nil
		}))
	}
	l := newLab(t, flow.New("f", nodes...), nil).effects()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l.release(name, 1, "")
			l.hand(name, single)
			r := l.one(name, 0)
			want(t, "outcome", r.outcome, stage.Failed)
			want(t, "code", r.failure.Code, tc.code)
			wantText(t, "message", r.failure.Message, tc.says)
			want(t, "effects", l.count(`SELECT count(*) FROM effect WHERE name = $1`, name), tc.stays)
		})
	}
	l.check()
}

// The transaction is the handler's until its function returns, not longer; and the connection never is.
func TestInTxKeepsItsConnection(t *testing.T) {
	kept := make(chan pgx.Tx, 1)
	l := newLab(t, inTx(func(_ context.Context, tx pgx.Tx) (string, error) {
		kept <- tx
		if tx.Conn() != nil {
			return "", errors.New("there is a connection")
		}
		return "", nil
	}), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	l.state("a", stage.StageSucceeded)
	tx := <-kept
	_, err := tx.Exec(l.ctx, "SELECT 1")
	want(t, "code", stage.CodeOf(err), CodeTxEnded)
	want(t, "a deferred rollback", tx.Rollback(l.ctx), pgx.ErrTxClosed)
	l.check()
}

// A worker that was given up while its handler computed: its writes are rolled back.
func TestInTxIsFenced(t *testing.T) {
	ready, proceed := make(chan struct{}), make(chan struct{})
	l := newLab(t, inTx(func(ctx context.Context, tx pgx.Tx) (string, error) {
		if err := insert(ctx, tx, 1); err != nil {
			return "", err
		}
		close(ready)
		<-proceed
		return "", nil
	}), func(c *Config) { c.Beat = time.Hour }).effects()
	l.release("a", 1, "")
	id := l.hand("a", single)
	<-ready
	// The leader hands it to another worker.
	l.exec(`DELETE FROM ax.flight WHERE id = $1`, id)
	l.hand("a", single, func(h *handOut) { h.worker, h.delivery, h.mute = l.run, 2, true })
	close(proceed)
	l.stats("it is fenced", func(s Stats) bool { return s.Fenced == 1 })
	want(t, "effects", l.count(`SELECT count(*) FROM effect`), 0)
	want(t, "results", l.count(`SELECT count(*) FROM ax.result`), 0)
	l.check()
}

// The session dies before the commit: an ordinary failure.
func TestInTxSessionDies(t *testing.T) {
	l := newLab(t, inTx(func(ctx context.Context, tx pgx.Tx) (string, error) { return "", insert(ctx, tx, 1) }), nil).effects()
	l.exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END $$`)
	l.exec(`CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
	unlock := l.lock(`SELECT pg_advisory_xact_lock(1)`)
	l.release("a", 1, "")
	l.hand("a", single)
	l.blocked(1)
	l.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
	want(t, "outcome", l.one("a", 0).outcome, stage.Failed)
	unlock()
	want(t, "effects", l.count(`SELECT count(*) FROM effect`), 0)
	l.check()
}

// unanswered is a transaction whose commit does or does not take place, and says nothing.
type unanswered struct {
	pgx.Tx
	happens bool
}

func (u unanswered) Commit(ctx context.Context) error {
	if u.happens {
		if err := u.Tx.Commit(ctx); err != nil {
			return err
		}
	} else if err := u.Tx.Rollback(ctx); err != nil {
		return err
	}
	return errors.New("connection reset by peer")
}

func TestUnknownCommitIsSettled(t *testing.T) {
	for _, happens := range []bool{true, false} {
		t.Run(fmt.Sprintf("happens=%t", happens), func(t *testing.T) {
			l := newLab(t, inTx(func(ctx context.Context, tx pgx.Tx) (string, error) { return "", insert(ctx, tx, 1) }), nil).effects()
			l.w.wrapTx = func(tx pgx.Tx) pgx.Tx { return unanswered{tx, happens} }
			l.release("a", 1, "")
			l.hand("a", single)
			if happens {
				l.state("a", stage.StageSucceeded)
				l.hearsStage("a")
				want(t, "outcome", l.one("a", 0).outcome, stage.Succeeded)
				want(t, "effects", l.count(`SELECT count(*) FROM effect`), 1)
			} else {
				want(t, "outcome", l.one("a", 0).outcome, stage.Interrupted)
				want(t, "ready", l.count(`SELECT count(*) FROM ax.ready WHERE attempt = 1 AND delivery = 2 AND not_before <= now()`), 1)
				want(t, "effects", l.count(`SELECT count(*) FROM effect`), 0)
			}
			l.eventually("the flight stays", `SELECT count(*) = 0 FROM ax.flight`)
			l.check()
		})
	}
}

// Shards in slow transactions do not slow the others, of their own stage or of another.
func TestSlowInTxSiblingsSlowNobody(t *testing.T) {
	proceed := make(chan struct{})
	started := make(chan struct{}, 16)
	slow := InTxShards("slow", func(context.Context, day) (shard.Plan, error) { return shard.N(6), nil },
		func(_ context.Context, _ day, s shard.Shard) (write, error) {
			return func(ctx context.Context, tx pgx.Tx) (string, error) {
				if err := insert(ctx, tx, s.Index); err != nil {
					return "", err
				}
				if s.Index < 5 {
					started <- struct{}{}
					<-proceed
				}
				return "", nil
			}, nil
		})
	plain := shard.New("plain", func(context.Context, day) (shard.Plan, error) { return shard.N(6), nil },
		func(context.Context, day, shard.Shard) (string, error) { return "", nil })
	l := newLab(t, flow.New("f", slow, plain), func(c *Config) { c.Slots = 8 }).effects()
	l.release("slow", 6, counted)
	for i := range 5 {
		l.hand("slow", shard.Of(i))
	}
	for range 5 {
		<-started
	}
	l.hand("slow", shard.Of(5))
	l.eventually("the quick sibling waits", `SELECT count(*) = 1 FROM ax.result WHERE shard = 5`)
	l.release("plain", 2000, counted)
	l.hand("plain", shard.Span(0, 2000))
	l.state("plain", stage.StageSucceeded)
	close(proceed)
	l.state("slow", stage.StageSucceeded)
	want(t, "effects", l.count(`SELECT count(*) FROM effect`), 6)
	l.check()
}

// A time-out in the transaction rolls it back.
func TestInTxTimesOut(t *testing.T) {
	l := newLab(t, inTx(func(ctx context.Context, tx pgx.Tx) (string, error) {
		if err := insert(ctx, tx, 1); err != nil {
			return "", err
		}
		_, err := tx.Exec(ctx, `SELECT pg_sleep(60)`)
		return "", err
	}, stage.Timeout{Execution: 50 * time.Millisecond}), nil).effects()
	l.release("a", 1, "")
	l.hand("a", single)
	want(t, "outcome", l.one("a", 0).outcome, stage.TimedOut)
	want(t, "effects", l.count(`SELECT count(*) FROM effect`), 0)
	l.check()
}

// A flight that a transaction has emptied, whose worker's memory of it is lost, is retired by the next beat.
func TestEmptyFlightIsRetired(t *testing.T) {
	l := newLab(t, inTx(func(context.Context, pgx.Tx) (string, error) { return "", nil }), nil)
	l.release("a", 1, "")
	l.exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt,
	        delivery, outcome) VALUES ($1, $1, $1, now(), now(), now(), now(), 0, 1, 0, 1, 1, 1, 10)`, l.run)
	l.hand("a", single, func(h *handOut) { h.mute = true; h.worker = l.run })
	l.exec(`UPDATE ax.flight SET todo = '{}', worker_id = $1`, l.w.ID())
	l.state("a", stage.StageSucceeded)
	l.hearsStage("a")
	want(t, "flights", l.count(`SELECT count(*) FROM ax.flight`), 0)
	l.check()
}

func TestStatementsThatEndTransactions(t *testing.T) {
	for sql, ends := range map[string]bool{
		"COMMIT": true, "commit;": true, "  End ": true, "ABORT": true, "rollback": true, "ROLLBACK TRANSACTION": true,
		"rollback work": true, "BEGIN": true, "start transaction": true, "PREPARE TRANSACTION 'x'": true, ";;commit": true,
		"/* a /* b */ c */ commit": true, "-- x\n-- y\ncommit": true, "commit and chain": true, "-- commit": false,
		"rollback to a": false, "ROLLBACK WORK TO SAVEPOINT a": false, "savepoint a": false, "release a": false, "PREPARE x AS SELECT 1": false,
		"SELECT 1": false, "": false, "/* commit": false, "endless": false, "insert into commit values (1)": false, "(select 1)": false,
	} {
		want(t, sql, endsTx(sql), ends)
	}
}

func TestInTxHandlerThatReturnsNothing(t *testing.T) {
	l := newLab(t, inTx(nil), nil)
	l.release("a", 1, "")
	l.hand("a", single)
	l.state("a", stage.StageFailed)
	wantText(t, "message", l.one("a", 0).failure.Message, "neither an error nor a function")
	l.check()
}

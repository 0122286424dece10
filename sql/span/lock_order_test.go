package span_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// product is a connection with the settings that AX gives its own: plans, and with them the order in which rows are
// met, are those of the product.
func (f *fixture) product() *pgx.Conn {
	f.t.Helper()
	cfg := f.pool.Config().ConnConfig.Copy()
	axsql.Configure(cfg)
	c, err := pgx.ConnectConfig(f.ctx, cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	axsql.Register(c.TypeMap())
	f.t.Cleanup(func() { _ = c.Close(f.ctx) })
	return c
}

// unindexed is such a connection whose plans meet rows as the table has them. An index has them in order, but a plan need
// not take it.
func (f *fixture) unindexed() *pgx.Conn {
	f.t.Helper()
	c := f.product()
	if _, err := c.Exec(f.ctx, `SET enable_seqscan = on; SET enable_indexscan = off; SET enable_bitmapscan = off`); err != nil {
		f.t.Fatal(err)
	}
	return c
}

// free tells whether nobody holds a lock on a row.
func (f *fixture) free(table, where string, args ...any) bool {
	f.t.Helper()
	return f.count(`SELECT count(*) FROM (SELECT 1 FROM `+table+` WHERE `+where+` FOR UPDATE SKIP LOCKED) AS unlocked`, args...) == 1
}

// row names one row.
type row struct {
	table, where string
	args         []any
}

// inOrder has a call lock three rows whose middle one somebody holds. In the one lock order the call then holds the
// first and has not come to the third; two calls that keep to it cannot wait for each other.
func (f *fixture) inOrder(rows [3]row, call func() error) {
	f.t.Helper()
	holder := f.conn()
	if _, err := holder.Exec(f.ctx, "begin"); err != nil {
		f.t.Fatal(err)
	}
	if _, err := holder.Exec(f.ctx, `SELECT 1 FROM `+rows[1].table+` WHERE `+rows[1].where+` FOR UPDATE`, rows[1].args...); err != nil {
		f.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- call() }()
	f.blockedUnless(1, func() bool { return len(done) > 0 })
	want(f.t, "the first row is free", f.free(rows[0].table, rows[0].where, rows[0].args...), false)
	want(f.t, "the third row is free", f.free(rows[2].table, rows[2].where, rows[2].args...), true)
	if _, err := holder.Exec(f.ctx, "commit"); err != nil {
		f.t.Fatal(err)
	}
	if err := <-done; err != nil {
		f.t.Error(err)
	}
}

// scatter rewrites rows from the last to the first, so that the table holds them in the opposite of their order.
func (f *fixture) scatter(rows [3]row) {
	f.t.Helper()
	for _, r := range slices.Backward(rows[:]) {
		f.exec(`UPDATE `+r.table+` SET generation = generation WHERE `+r.where, r.args...)
	}
}

// byID are three rows of a table, scattered.
func (f *fixture) byID(table string, ids []uuid.UUID) (rows [3]row) {
	f.t.Helper()
	for i, id := range ids {
		rows[i] = row{table, "id = $1", []any{id}}
	}
	f.scatter(rows)
	return rows
}

// three makes three rows of a stage of nine indices with rising ids.
func three(one func(set shard.Set) uuid.UUID) []uuid.UUID {
	return []uuid.UUID{one(shard.Span(0, 3)), one(shard.Span(3, 6)), one(shard.Span(6, 9))}
}

// ready makes a ready row.
func (f *fixture) ready(ord int, set shard.Set) uuid.UUID {
	f.t.Helper()
	id := uuid.Must(uuid.NewV7())
	f.exec(`INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses,
	                              level, namespace, queue, todo)
	        VALUES ($1, $2, now(), now(), 1, $3, $4, 1, 0, 1, 1, 0, 2, 'default', 'default', $5::text::int4multirange)`,
		id, f.run, set.Len(), ord, set.String())
	return id
}

// parked makes a parked row.
func (f *fixture) parked(ord int, set shard.Set, reason span.ParkReason) uuid.UUID {
	f.t.Helper()
	id := uuid.Must(uuid.NewV7())
	f.exec(`INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses,
	                               level, reason, namespace, queue, todo)
	        VALUES ($1, $2, now(), now(), 1, $3, $4, 1, 0, 1, 1, 0, 2, $5, 'default', 'default', $6::text::int4multirange)`,
		id, f.run, set.Len(), ord, int16(reason), set.String())
	return id
}

func TestFlightsAreLockedInOrder(t *testing.T) {
	worker := func(f *fixture) func(shard.Set) uuid.UUID {
		return func(set shard.Set) uuid.UUID { return f.flight(0, set, f.worker) }
	}
	t.Run("finish", func(t *testing.T) {
		f := newFixture(t)
		f.stage(0, 9)
		ids := three(worker(f))
		var reports []span.Report
		for i, id := range slices.Backward(ids) {
			reports = append(reports, f.report(id, 0, shard.Span(3*i, 3*i+3), stage.Succeeded))
		}
		c := f.unindexed()
		f.inOrder(f.byID("ax.flight", ids), func() error {
			_, err := span.Finish(f.ctx, c, f.worker, reports)
			return err
		})
		want(t, "state", f.state(0), stage.StageSucceeded)
		f.check()
	})
	t.Run("return", func(t *testing.T) {
		f := newFixture(t)
		f.stage(0, 9)
		ids := three(worker(f))
		var backs []span.Handback
		for i, id := range slices.Backward(ids) {
			backs = append(backs, span.Handback{Execution: id, Run: f.run, Set: shard.Span(3*i, 3*i+3)})
		}
		c := f.unindexed()
		f.inOrder(f.byID("ax.flight", ids), func() error {
			_, err := span.Return(f.ctx, c, f.worker, span.GivenBack, backs)
			return err
		})
		wantSet(t, "ready", f.set("ready", 0), shard.Span(0, 9))
		f.check()
	})
	t.Run("seize", func(t *testing.T) {
		f := newFixture(t)
		f.stage(0, 9)
		ids := three(worker(f))
		f.exec(`DELETE FROM ax.worker`)
		c, fence := f.unindexed(), f.fence()
		f.inOrder(f.byID("ax.flight", ids), func() error {
			_, _, err := span.Seize(f.ctx, c, fence, 100)
			return err
		})
		wantSet(t, "ready", f.set("ready", 0), shard.Span(0, 9))
		f.check()
	})
	t.Run("verb", func(t *testing.T) {
		f := newFixture(t)
		f.stage(0, 9)
		ids := three(worker(f))
		c := f.unindexed()
		f.inOrder(f.byID("ax.flight", ids), func() error {
			_, err := db.New(c).LockFlights(f.ctx, f.run)
			return err
		})
	})
}

func TestStagesAreLockedInOrder(t *testing.T) {
	for name, lock := range map[string]func(*fixture, *db.Queries) error{
		"finish": func(f *fixture, q *db.Queries) error {
			_, err := q.LockStages(f.ctx, db.LockStagesParams{StageRuns: []uuid.UUID{f.run, f.run, f.run}, Ords: []int16{2, 1, 0}, RunIds: []uuid.UUID{f.run}})
			return err
		},
		"verb": func(f *fixture, q *db.Queries) error {
			_, err := q.LockAllStages(f.ctx, f.run)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			var rows [3]row
			for ord := range rows {
				f.stage(ord, 1)
				rows[ord] = row{"ax.stage", "run_id = $1 AND ord = $2", []any{f.run, ord}}
			}
			f.scatter(rows)
			q := db.New(f.unindexed())
			f.inOrder(rows, func() error { return lock(f, q) })
		})
	}
}

func TestReadyIsLockedInOrder(t *testing.T) {
	for name, lock := range map[string]func(*fixture, *db.Queries, []uuid.UUID) error{
		"cut": func(f *fixture, q *db.Queries, ids []uuid.UUID) error {
			_, err := q.CutSpans(f.ctx, f.cuts(cut{ids[2], shard.Span(6, 9)}, cut{ids[1], shard.Span(3, 6)}, cut{ids[0], shard.Span(0, 3)}))
			return err
		},
		"cancel": func(f *fixture, q *db.Queries, _ []uuid.UUID) error {
			_, err := q.ParkReady(f.ctx, db.ParkReadyParams{RunID: f.run, Reason: int16(span.Cancelled)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.stage(0, 9)
			ids := three(func(set shard.Set) uuid.UUID { return f.ready(0, set) })
			q := db.New(f.unindexed())
			f.inOrder(f.byID("ax.ready", ids), func() error { return lock(f, q, ids) })
			want(t, "ready", f.count(`SELECT count(*) FROM ax.ready`), 0)
		})
	}
}

func TestParkedIsLockedInOrder(t *testing.T) {
	f := newFixture(t)
	f.stage(0, 9)
	ids := three(func(set shard.Set) uuid.UUID { return f.parked(0, set, span.Aligned) })
	q := db.New(f.unindexed())
	var wanted []string
	for range ids {
		wanted = append(wanted, shard.Span(0, 9).String())
	}
	backwards := slices.Clone(ids)
	slices.Reverse(backwards)
	f.inOrder(f.byID("ax.parked", ids), func() error {
		_, err := q.Unpark(f.ctx, db.UnparkParams{Ids: backwards, Wanted: wanted, Reason: int16(span.Aligned)})
		return err
	})
	want(t, "parked", f.count(`SELECT count(*) FROM ax.parked`), 0)
}

// Two starts that name the same keys in opposite orders.
func TestKeysAreClaimedInOrder(t *testing.T) {
	f := newFixture(t)
	claim := func(q *db.Queries, keys ...string) error {
		p := db.ClaimRunKeysParams{Namespace: "default", TtlS: 3600}
		for _, k := range keys {
			p.Flows, p.Keys, p.RunIds = append(p.Flows, "f"), append(p.Keys, k), append(p.RunIds, uuid.Must(uuid.NewV7()))
		}
		rows, err := q.ClaimRunKeys(f.ctx, p)
		if err == nil && len(rows) != len(keys) {
			err = fmt.Errorf("%d answers for %d keys", len(rows), len(keys))
		}
		return err
	}
	if err := claim(db.New(f.conn()), "a", "b", "c"); err != nil {
		t.Fatal(err)
	}
	var rows [3]row
	for i, k := range []string{"a", "b", "c"} {
		rows[i] = row{"ax.run_key", "key = $1", []any{k}}
	}
	q := db.New(f.unindexed())
	f.inOrder(rows, func() error { return claim(q, "c", "b", "a") })
}

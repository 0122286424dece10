package sql_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/internal/pgtest"
	axsql "axflow/sql"
	"axflow/sql/db"
)

// oldRun writes a run whose id is of a day long ago, with a result and a dead letter.
func oldRun(t *testing.T, d *pgtest.DB, day time.Time, finished *time.Time) uuid.UUID {
	t.Helper()
	id := axsql.DayBound(day.Add(12 * time.Hour))
	state := 10
	if finished == nil {
		state = 1
	}
	exec(t, d, `INSERT INTO ax.run (run_id, version_id, state, level, created_at, finished_at, namespace, flow, queue, trigger, params)
		VALUES ($1, 1, $2, 2, $3, $4, 'd', 'f', 'd', 't', '{}')`, id, state, day, finished)
	exec(t, d, `INSERT INTO ax.stage (run_id, ord, state) VALUES ($1, 0, 11)`, id)
	exec(t, d, `INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome)
		VALUES ($1, $1, $1, now(), now(), now(), now(), 0, 1, 0, 1, 1, 1, 11)`, id)
	exec(t, d, `INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, todo)
		VALUES ($1, $1, now(), now(), 1, 1, 0, 1, 0, 1, 1, 0, 2, 1, 'd', 'd', '{[0,1)}')`, id)
	return id
}

func retain(t *testing.T, d *pgtest.DB, keepFrom time.Time) []time.Time {
	t.Helper()
	conn := acquire(t, d)
	dropped, err := axsql.Retain(context.Background(), conn, keepFrom)
	if err != nil {
		t.Fatal(err)
	}
	return dropped
}

func acquire(t *testing.T, d *pgtest.DB) *pgxpool.Conn {
	t.Helper()
	conn, err := d.Pool.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Release)
	return conn
}

func runs(t *testing.T, d *pgtest.DB) (n int) {
	t.Helper()
	if err := d.Pool.QueryRow(context.Background(), `SELECT count(*) FROM ax.run`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRetainDropsWhatIsOverAndOldOnly(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	now := time.Now()
	days := make([]time.Time, 4)
	for i := range days {
		days[i] = axsql.Day(now).AddDate(0, 0, -40+i)
		if err := axsql.EnsurePartitions(ctx, d.Pool, days[i], 0); err != nil {
			t.Fatal(err)
		}
	}
	long, late := now.AddDate(0, 0, -39), now.AddDate(0, 0, -1)
	oldRun(t, d, days[0], &long)
	oldRun(t, d, days[1], nil)   // open
	oldRun(t, d, days[2], &late) // ran for weeks
	oldRun(t, d, days[3], &long)
	hold := acquire(t, d)
	tx, err := hold.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.New(tx).HoldDay(ctx, days[3]); err != nil { // a rerun is about to open its run again
		t.Fatal(err)
	}
	done := make(chan []time.Time, 1)
	go func() { done <- retain(t, d, now.AddDate(0, 0, -30)) }()
	pgtest.Eventually(t, 20*time.Second, func() (bool, string) {
		var waits bool
		err := d.Pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
		return err == nil && waits, "retention does not wait for the rerun"
	})
	if _, err := tx.Exec(ctx, `UPDATE ax.run SET state = 1, finished_at = NULL WHERE run_id = $1`, axsql.DayBound(days[3].Add(12*time.Hour))); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	dropped := <-done
	// EnsurePartitions makes the day before too: days[0]'s yesterday is empty and goes with it.
	if len(dropped) != 2 || !dropped[1].Equal(days[0]) {
		t.Errorf("dropped %v, want %v and the empty day before it", dropped, days[0])
	}
	if n := runs(t, d); n != 3 {
		t.Errorf("%d runs are left, want 3", n)
	}
	var parked int
	if err := d.Pool.QueryRow(ctx, `SELECT count(*) FROM ax.parked`).Scan(&parked); err != nil || parked != 3 {
		t.Errorf("%d parked rows are left (%v), want 3", parked, err)
	}
	if again := retain(t, d, now.AddDate(0, 0, -30)); len(again) != 0 {
		t.Errorf("the second time dropped %v, want nothing", again)
	}
}

// A drop that was interrupted, detached but not dropped, is continued.
func TestRetainContinues(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	day := axsql.Day(time.Now()).AddDate(0, 0, -40)
	if err := axsql.EnsurePartitions(ctx, d.Pool, day, 0); err != nil {
		t.Fatal(err)
	}
	long := time.Now().AddDate(0, 0, -39)
	oldRun(t, d, day, &long)
	exec(t, d, `UPDATE ax.partition SET dropping = true WHERE day = $1`, day)
	exec(t, d, `ALTER TABLE ax.run DETACH PARTITION ax.run_`+day.Format("20060102"))
	exec(t, d, `DROP TABLE ax.stage_`+day.Format("20060102"))
	if dropped := retain(t, d, time.Now().AddDate(0, 0, -30)); len(dropped) != 2 {
		t.Errorf("dropped %v, want the day and the empty one before it", dropped)
	}
	var left int
	if err := d.Pool.QueryRow(ctx, `SELECT count(*) FROM pg_class WHERE relname LIKE '%\_`+day.Format("20060102")+`'`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d tables of the day are left (%v)", left, err)
	}
	if _, err := db.New(d.Pool).HoldDay(ctx, day); err == nil {
		t.Error("a dropped day can be held")
	}
}

// Logs that are kept for a shorter time than runs go alone, and only those of days that are over.
func TestRetainLogsTakesLogsAlone(t *testing.T) {
	d := pgtest.New(t)
	ctx := context.Background()
	now := time.Now()
	days := make([]time.Time, 4)
	logs := func(day time.Time) (n int) {
		t.Helper()
		if err := d.Pool.QueryRow(ctx, `SELECT count(*) FROM ax.log WHERE run_id = $1`, axsql.DayBound(day.Add(12*time.Hour))).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	line := func(day time.Time) {
		t.Helper()
		exec(t, d, `INSERT INTO ax.log (run_id, id, execution_id, worker_id, at, shard, seq, dropped, ord, generation, attempt, delivery, level, message)
			VALUES ($1, gen_random_uuid(), $1, $1, now(), 0, 1, 0, 0, 1, 1, 1, 0, 'hello')`, axsql.DayBound(day.Add(12*time.Hour)))
	}
	long, late := now.AddDate(0, 0, -19), now.AddDate(0, 0, -1)
	for i, finished := range []*time.Time{&long, nil, &late, &long} {
		days[i] = axsql.Day(now).AddDate(0, 0, -20+i)
		if err := axsql.EnsurePartitions(ctx, d.Pool, days[i], 0); err != nil {
			t.Fatal(err)
		}
		oldRun(t, d, days[i], finished)
		line(days[i])
	}
	conn := acquire(t, d)
	emptied, err := axsql.RetainLogs(ctx, conn, now.AddDate(0, 0, -18))
	if err != nil || len(emptied) != 1 || !emptied[0].Equal(days[0]) {
		t.Errorf("emptied %v, %v, want %v: the others are open, ended lately, or young", emptied, err, days[0])
	}
	for i, right := range []int{0, 1, 1, 1} {
		if n := logs(days[i]); n != right {
			t.Errorf("day %d has %d lines, want %d", i, n, right)
		}
	}
	if n := runs(t, d); n != 4 {
		t.Errorf("%d runs are left, want 4", n)
	}
	line(days[0]) // a late line is stored as ever
	if emptied, err = axsql.RetainLogs(ctx, conn, now.AddDate(0, 0, -18)); err != nil || len(emptied) != 1 {
		t.Errorf("the next time emptied %v, %v, want the late line's day", emptied, err)
	}
	if emptied, err = axsql.RetainLogs(ctx, conn, now.AddDate(0, 0, -18)); err != nil || len(emptied) != 0 {
		t.Errorf("and then %v, %v, want nothing", emptied, err)
	}
}

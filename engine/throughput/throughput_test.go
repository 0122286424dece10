package throughput_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/engine/throughput"
	"axflow/internal/pgtest"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/stage"
)

const epoch = 7

// world is a database with a term, and what starts runs in it.
type world struct {
	t   *testing.T
	d   *pgtest.DB
	now time.Time // the database's, to the minute
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, d: pgtest.New(t)}
	w.exec(`INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at) VALUES ('l', $1, 'me', now() + interval '1 hour', now())`, epoch)
	w.exec(`INSERT INTO ax.flow_version (namespace, flow, hash, graph) VALUES ('default', 'f', 'h', '{}')`)
	if err := w.d.Pool.QueryRow(w.ctx(), "SELECT clock_timestamp()").Scan(&w.now); err != nil {
		t.Fatal(err)
	}
	for _, day := range []time.Time{w.now, w.now.AddDate(0, 0, -1), w.now.AddDate(0, 0, -2)} {
		if err := axsql.EnsurePartitions(w.ctx(), w.d.Pool, day, 0); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) ctx() context.Context { return pgtest.Context(w.t, time.Minute) }

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	if _, err := w.d.Pool.Exec(w.ctx(), statement, args...); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

// start makes runs of a namespace that were started so long ago.
func (w *world) start(namespace string, ago time.Duration, n int) {
	w.t.Helper()
	at := w.now.Add(-ago)
	for range n {
		id := axsql.DayBound(at)
		copy(id[8:], uuid.New().NodeID())
		id[15] = uuid.New()[0]
		w.exec(`INSERT INTO ax.run (run_id, version_id, state, level, created_at, namespace, flow, queue, trigger, params)
			VALUES ($1, 1, 1, 2, $2, $3, 'f', 'default', 'api', '{}')`, id, at, namespace)
	}
}

func (w *world) loop(ended *throughput.Ended, epoch int64) *throughput.Loop {
	return throughput.New(throughput.Config{Conn: w.d.Pool, Fence: axsql.Fence{Name: "l", Epoch: epoch}, Ended: ended, Logger: slog.New(slog.DiscardHandler)})
}

func (w *world) round(l *throughput.Loop) {
	w.t.Helper()
	if err := l.Round(w.ctx()); err != nil {
		w.t.Fatal(err)
	}
}

// sum is what the table holds of a namespace and kind, and in how many rows.
func (w *world) sum(namespace string, kind int) (started, succeeded, failed, rows int) {
	w.t.Helper()
	if err := w.d.Pool.QueryRow(w.ctx(), `SELECT coalesce(sum(started), 0), coalesce(sum(succeeded), 0), coalesce(sum(failed), 0), count(*)
		FROM ax.throughput WHERE namespace = $1 AND kind = $2`, namespace, kind).Scan(&started, &succeeded, &failed, &rows); err != nil {
		w.t.Fatal(err)
	}
	return started, succeeded, failed, rows
}

func TestRunsAreCountedOnce(t *testing.T) {
	w := newWorld(t)
	w.start("default", 30*time.Hour, 2) // too long ago
	w.start("default", 20*time.Hour, 3)
	w.start("default", 10*time.Minute, 4)
	w.start("other", 10*time.Minute, 5)
	var ended throughput.Ended
	ended.Add("default", stage.RunSucceeded)
	ended.Add("default", stage.RunSucceeded)
	ended.Add("default", stage.RunFailed)
	ended.Add("third", stage.RunCancelled)
	l := w.loop(&ended, epoch)
	w.round(l)
	w.round(l)
	w.round(w.loop(&ended, epoch)) // a new term counts on
	if started, succeeded, failed, _ := w.sum("default", 1); started != 7 || succeeded != 2 || failed != 1 {
		t.Errorf("%d started, %d succeeded, %d failed; want 7, 2, 1", started, succeeded, failed)
	}
	if started, _, _, _ := w.sum("other", 1); started != 5 {
		t.Errorf("the other namespace has %d started, want 5", started)
	}
	// What is started later is counted later.
	w.start("default", 5*time.Minute, 1) // below the mark: its transaction took that long
	w.start("default", 0, 2)             // too young still
	w.round(l)
	if started, _, _, _ := w.sum("default", 1); started != 7 {
		t.Errorf("%d started, want still 7", started)
	}
}

// A term that is over writes nothing, and what it had counted is not lost to the process.
func TestAFencedTermCountsNothing(t *testing.T) {
	w := newWorld(t)
	w.start("default", 10*time.Minute, 4)
	var ended throughput.Ended
	ended.Add("default", stage.RunSucceeded)
	if err := w.loop(&ended, epoch-1).Round(w.ctx()); !errors.Is(err, axsql.ErrFenced) {
		t.Fatalf("a term that is over: %v", err)
	}
	if started, succeeded, _, _ := w.sum("default", 1); started+succeeded != 0 {
		t.Errorf("it has counted %d and %d", started, succeeded)
	}
	w.round(w.loop(&ended, epoch))
	if started, succeeded, _, _ := w.sum("default", 1); started != 4 || succeeded != 1 {
		t.Errorf("%d started, %d succeeded; want 4, 1", started, succeeded)
	}
}

// Rows of many workers become one, minutes become quarters, and days go; the sums stay.
func TestTheTableStaysSmall(t *testing.T) {
	w := newWorld(t)
	minute := w.now.Truncate(time.Minute)
	add := func(ago time.Duration) {
		w.exec(`INSERT INTO ax.throughput VALUES ('default', 0, $1, 'q', gen_random_uuid(), 10, 8, 2)`, minute.Add(-ago))
	}
	for range 3 {
		add(0) // may still grow
		add(10 * time.Minute)
		add(20 * time.Hour)
		add(20*time.Hour + time.Minute)
		add(26 * time.Hour) // goes
	}
	w.round(w.loop(&throughput.Ended{}, epoch))
	quarters := 1 // two neighbouring minutes are in one quarter, or in two
	if minute.Add(-20*time.Hour).Truncate(15*time.Minute) != minute.Add(-20*time.Hour-time.Minute).Truncate(15*time.Minute) {
		quarters = 2
	}
	if started, succeeded, failed, rows := w.sum("default", 0); started != 120 || succeeded != 96 || failed != 24 || rows != 3+1+quarters {
		t.Errorf("%d, %d, %d in %d rows; want 120, 96, 24 in %d", started, succeeded, failed, rows, 3+1+quarters)
	}
	// Once more, with late-comers: they are added to what is there.
	add(10 * time.Minute)
	add(20 * time.Hour)
	w.round(w.loop(&throughput.Ended{}, epoch))
	if started, _, _, rows := w.sum("default", 0); started != 140 || rows != 3+1+quarters {
		t.Errorf("%d in %d rows; want 140 in %d", started, rows, 3+1+quarters)
	}
}

// Workers add to rows of their own.
func TestWorkersAdd(t *testing.T) {
	w := newWorld(t)
	q := db.New(w.d.Pool)
	for _, worker := range []uuid.UUID{uuid.New(), uuid.New()} {
		for range 2 {
			if err := q.AddTasks(w.ctx(), db.AddTasksParams{Namespace: "default", WorkerID: worker, Queues: []string{"a", "b"}, Started: []int64{5, 1},
				Succeeded: []int64{4, 0}, Failed: []int64{0, 1}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if started, succeeded, failed, _ := w.sum("default", 0); started != 24 || succeeded != 16 || failed != 4 {
		t.Errorf("%d, %d, %d; want 24, 16, 4", started, succeeded, failed)
	}
}

// An idle engine writes nothing.
func TestNothingIsWrittenWhereNothingHappens(t *testing.T) {
	w := newWorld(t)
	l := w.loop(&throughput.Ended{}, epoch)
	w.round(l) // folds
	for range 5 {
		w.round(l)
	}
	var rows int
	if err := w.d.Pool.QueryRow(w.ctx(), "SELECT count(*) FROM ax.counted").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d marks %v", rows, err)
	}
}

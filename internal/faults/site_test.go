package faults

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/history"
	"axflow/stage"
)

// testApp is the application_name of the tests' own sessions.
const testApp = "ax-fault-test"

// site is a database, the processes on it, and a client in the test.
type site struct {
	*flows
	t      *testing.T
	ctx    context.Context
	db     *pgtest.DB
	pool   *pgxpool.Pool
	bus    *hint.Bus
	client *axflow.Client
	gates  *gates

	engines map[string]*process // by name, the last of each

	// The TTLs of the processes that are started from now on, 0: long ones. Short is only what a test waits for.
	ttl, workerTTL time.Duration
	stretch        int // of short TTLs

	void     func(format string, args ...any) // in attempts
	presumed []*presumption

	mu    sync.Mutex
	acked map[uuid.UUID]int // acknowledged runs, and the shards of those of work, else -1
}

// ownSessions makes the test's pool tell its sessions from those of the processes.
func ownSessions(c *pgxpool.Config) {
	c.ConnConfig.RuntimeParams["application_name"] = testApp
	axsql.Configure(c.ConnConfig)
}

// newSite makes a site on a fresh database; tune may change how the test's client gets its hints.
func newSite(t *testing.T, db *pgtest.DB, tune func(*hint.Config)) *site {
	t.Helper()
	s := &site{flows: newFlows(nil), t: t, ctx: pgtest.Context(t, 5*time.Minute), db: db, pool: db.Pool, gates: newGates(t), engines: make(map[string]*process), stretch: 1, acked: make(map[uuid.UUID]int)}
	s.gates.check = s.check
	s.exec(effectTable)
	cfg := hint.Config{ConnConfig: db.Pool.Config().ConnConfig}
	if tune != nil {
		tune(&cfg)
	}
	var err error
	if s.bus, err = hint.New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.bus.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("bus: %v", err)
		}
	})
	if s.client, err = control.NewClient(s.ctx, control.Config{Pool: s.pool, Bus: s.bus}); err != nil {
		t.Fatal(err)
	}
	return s
}

// spawn starts a process on the site.
func (s *site) spawn(r role) *process {
	s.t.Helper()
	r.URL, r.Socket, r.TTL, r.WorkerTTL = s.db.URL, s.gates.path, s.ttl, s.workerTTL
	return spawn(s.t, r)
}

// engine and worker start a process that is only that.
func (s *site) engine(name string) *process {
	s.t.Helper()
	s.engines[name] = s.spawn(role{Name: name, Engine: true})
	return s.engines[name]
}

func (s *site) worker(name string) *process {
	s.t.Helper()
	return s.spawn(role{Name: name, Worker: true})
}

func (s *site) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(s.ctx, sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

// query reads one value.
func query[T any](s *site, sql string, args ...any) T {
	s.t.Helper()
	var v T
	if err := s.pool.QueryRow(s.ctx, sql, args...).Scan(&v); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// until waits until a query says true; the database may be down meanwhile.
func (s *site) until(what, sql string, args ...any) {
	s.t.Helper()
	pgtest.Eventually(s.t, patience, func() (bool, string) {
		var ok bool
		if err := s.pool.QueryRow(s.ctx, sql, args...).Scan(&ok); err != nil {
			return false, what + ": " + err.Error()
		}
		if !ok {
			s.check()
		}
		return ok, what
	})
}

// hold opens a transaction of the test, for locks; the returned function ends it.
func (s *site) hold(sql string, args ...any) (release func()) {
	s.t.Helper()
	tx, err := s.pool.Begin(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := tx.Exec(s.ctx, sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	release = func() { _ = tx.Rollback(context.WithoutCancel(s.ctx)) }
	s.t.Cleanup(release)
	return release
}

// start starts n runs of a flow and remembers those that the database has acknowledged.
func (s *site) start(f *flow.Flow[params], n int, p params) ([]uuid.UUID, error) {
	if p.Gates == nil {
		p.Gates = []string{}
	}
	all := make([]params, n)
	for i := range all {
		all[i] = p
	}
	ids, err := axflow.StartMany(s.ctx, s.client, f, all, axflow.Trigger("test"))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.acked[id] = -1
		if f == s.work {
			s.acked[id] = p.Shards
		}
	}
	return ids, err
}

// begin starts one run, which must succeed.
func (s *site) begin(f *flow.Flow[params], p params) uuid.UUID {
	s.t.Helper()
	ids, err := s.start(f, 1, p)
	if err != nil {
		s.t.Fatal(err)
	}
	return ids[0]
}

// ended waits for the end of runs.
func (s *site) ended(ids ...uuid.UUID) {
	s.t.Helper()
	s.until(fmt.Sprintf("the end of %d runs", len(ids)),
		"SELECT count(*) = $2 FROM ax.run WHERE run_id = ANY($1) AND finished_at IS NOT NULL", ids, len(ids))
}

// endings is how many runs have ended; -1 while the database does not answer.
func (s *site) endings() int {
	n := -1
	_ = s.pool.QueryRow(s.ctx, "SELECT count(*) FROM ax.run WHERE finished_at IS NOT NULL").Scan(&n)
	return n
}

// progress waits until n more runs have ended.
func (s *site) progress(n int, what string) {
	s.t.Helper()
	from, begun := -1, time.Now()
	pgtest.Eventually(s.t, patience, func() (bool, string) {
		now := s.endings()
		if from < 0 {
			from = now
		}
		return from >= 0 && now >= from+n, fmt.Sprintf("%s: %d runs have ended, want %d", what, now, from+n)
	})
	s.t.Logf("%s: %d more runs ended within %v", what, n, time.Since(begun).Round(time.Millisecond))
}

// stream starts runs, as a busy system does, until the returned function is called; starts that fail are tried
// again. A backlog bounds it, so that the end does not take for ever.
func (s *site) stream() (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var wg sync.WaitGroup
	const batch, backlog = 10, 150
	wg.Go(func() {
		pause := time.NewTicker(10 * time.Millisecond)
		defer pause.Stop()
		for ctx.Err() == nil {
			var open int
			err := s.pool.QueryRow(ctx, "SELECT count(*) FROM ax.run WHERE finished_at IS NULL").Scan(&open)
			if err == nil && open < backlog {
				_, _ = s.start(s.single, batch, params{})
				_, _ = s.start(s.work, 1, params{Shards: 20})
			}
			select {
			case <-ctx.Done():
			case <-pause.C:
			}
		}
	})
	stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	s.t.Cleanup(stop)
	return stop
}

// settled waits until everything has ended and checks it: every acknowledged run is there and has succeeded with the
// right result, every effect is there once, and the history is in order.
func (s *site) settled() {
	s.t.Helper()
	pgtest.Eventually(s.t, patience, func() (bool, string) {
		var open int
		if err := s.pool.QueryRow(s.ctx, "SELECT count(*) FROM ax.run WHERE finished_at IS NULL").Scan(&open); err != nil {
			return false, err.Error()
		}
		return open == 0, fmt.Sprintf("%d runs have not ended: %s", open, s.describe(open))
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.acked) == 0 {
		s.t.Error("no run was acknowledged: nothing was tested")
	}
	states := make(map[uuid.UUID]stage.RunState)
	rows, err := s.pool.Query(s.ctx, "SELECT run_id, state FROM ax.run")
	if err != nil {
		s.t.Fatal(err)
	}
	var id uuid.UUID
	var state stage.RunState
	if _, err := pgx.ForEachRow(rows, []any{&id, &state}, func() error { states[id] = state; return nil }); err != nil {
		s.t.Fatal(err)
	}
	for id, shards := range s.acked {
		if states[id] != stage.RunSucceeded {
			s.t.Errorf("run %s was acknowledged and has state %s", id, states[id])
			continue
		}
		if shards < 0 {
			continue
		}
		sum, err := axflow.Output(s.ctx, s.client, id, s.last)
		if want := shards * (shards - 1) / 2; err != nil || sum != want {
			s.t.Errorf("the shards of run %s add up to %d (%v), want %d", id, sum, err, want)
		}
	}
	if n := query[int](s, "SELECT count(*) FROM (SELECT 1 FROM effect GROUP BY run, shard HAVING count(*) > 1) d"); n > 0 {
		s.t.Errorf("%d effects are there more than once", n)
	}
	// Every success of an InTx shard is one effect of the same execution, and the other way round.
	if n := query[int](s, `SELECT count(*) FROM effect e FULL JOIN (
			SELECT r.* FROM ax.result r JOIN ax.run u ON u.run_id = r.run_id
			WHERE u.flow = 'effects' AND r.ord = $1 AND r.shard >= 0 AND r.outcome = 10) r
		ON r.run_id = e.run AND r.shard = e.shard AND r.execution_id = e.execution
		WHERE e.run IS NULL OR r.run_id IS NULL`, s.ord(s.effects, "effect")); n > 0 {
		s.t.Errorf("%d effects and finishes do not belong together", n)
	}
	found, err := history.Check(s.ctx, s.pool, history.Options{Ended: true})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, v := range found {
		s.t.Errorf("history: %s", v)
	}
	s.t.Logf("%d runs acknowledged, %d ended, %d results, %d terms", len(s.acked), len(states),
		query[int](s, "SELECT count(*) FROM ax.result"), query[int](s, "SELECT count(*) FROM ax.lease_term"))
}

func (s *site) ord(f flow.Definition, name string) int {
	ord, ok := f.Graph().Ord(name)
	if !ok {
		s.t.Fatalf("no stage %s", name)
	}
	return ord
}

// describe says where open runs stand.
func (s *site) describe(open int) string {
	if open == 0 {
		return ""
	}
	var text string
	err := s.pool.QueryRow(s.ctx, `
		SELECT string_agg(x.line, '; ') FROM (
			SELECT format('run %s (%s, state %s): %s; ready %s, flight %s, parked %s', r.run_id, r.flow, r.state,
			              (SELECT string_agg(format('stage %s state %s', s.ord, s.state), ', ' ORDER BY s.ord) FROM ax.stage s WHERE s.run_id = r.run_id),
			              (SELECT string_agg(y.todo::text || ' of ' || y.ord, ' ') FROM ax.ready y WHERE y.run_id = r.run_id),
			              (SELECT string_agg(f.todo::text || ' of ' || f.ord || ' at ' || f.worker_id, ' ') FROM ax.flight f WHERE f.run_id = r.run_id),
			              (SELECT string_agg(p.todo::text || ' of ' || p.ord || ' for ' || p.reason, ' ') FROM ax.parked p WHERE p.run_id = r.run_id)) AS line
			FROM ax.run r WHERE r.finished_at IS NULL ORDER BY r.run_id LIMIT 3) x`).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return text
}

// term is whose the last term is.
func (s *site) term() (holder string, epoch int64) {
	s.t.Helper()
	if err := s.pool.QueryRow(s.ctx, "SELECT holder, epoch FROM ax.lease WHERE name = 'leader'").Scan(&holder, &epoch); err != nil {
		s.t.Fatal(err)
	}
	return holder, epoch
}

// lease is who leads, and in which term.
func (s *site) lease() (holder string, epoch int64) {
	s.t.Helper()
	if err := s.pool.QueryRow(s.ctx, "SELECT holder, epoch FROM ax.lease WHERE name = 'leader' AND expires_at > clock_timestamp()").Scan(&holder, &epoch); err != nil {
		return "", 0
	}
	return holder, epoch
}

// leads waits until a process leads.
func (s *site) leads(p *process) (epoch int64) {
	s.t.Helper()
	pgtest.Eventually(s.t, patience, func() (bool, string) {
		var holder string
		holder, epoch = s.lease()
		return holder == p.name, fmt.Sprintf("%s leads, want %s", or(holder, "nobody"), p.name)
	})
	return epoch
}

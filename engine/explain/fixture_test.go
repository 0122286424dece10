package explain_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine/control"
	"axflow/engine/explain"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// site is a database whose rows a test writes by hand: nothing moves while it looks.
type site struct {
	t        testing.TB
	ctx      context.Context
	pool     *pgxpool.Pool
	client   *control.Client
	versions *versions.Cache
}

func newSite(t testing.TB) *site {
	t.Helper()
	d := pgtest.New(t, pgtest.Pool(func(cfg *pgxpool.Config) { axsql.ConfigurePool(cfg) }))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	bus, err := hint.New(hint.Config{ConnConfig: d.Pool.Config().ConnConfig})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, ctx: ctx, pool: d.Pool, versions: versions.New()}
	if s.client, err = control.NewClient(ctx, control.Config{Pool: d.Pool, Bus: bus, Versions: s.versions}); err != nil {
		t.Fatal(err)
	}
	return s
}

// on is the site for a subtest.
func (s *site) on(t testing.TB) *site {
	c := *s
	c.t = t
	return &c
}

func (s *site) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(s.ctx, query, args...); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
}

// lead makes an engine the leader for an hour.
func (s *site) lead() {
	s.t.Helper()
	s.exec(`INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at) VALUES ('leader', 7, 'engine-1/42', now() + interval '1 h', now())
		ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at`)
}

// worker registers one that can run the flows' stages, each with as many slots.
func (s *site) worker(slots int, labels []string, flows ...flow.Definition) uuid.UUID {
	s.t.Helper()
	id := uuid.Must(uuid.NewV7())
	handlers := map[string]int{}
	for _, f := range flows {
		for ord := range f.Graph().Stages {
			handlers[f.Graph().HandlerKey(ord)] = slots
		}
	}
	text, err := json.Marshal(handlers)
	if err != nil {
		s.t.Fatal(err)
	}
	s.exec(`INSERT INTO ax.worker (id, seen_at, started_at, state, urgent, namespace, host, pid, labels, handlers)
		VALUES ($1, clock_timestamp(), clock_timestamp(), 0, 0, 'default', 'box', 99, $2, $3)`, id, append([]string{}, labels...), text)
	return id
}

func (s *site) start(f flow.Definition, starts ...control.Start) uuid.UUID {
	s.t.Helper()
	v, err := s.client.Register(s.ctx, f)
	if err != nil {
		s.t.Fatal(err)
	}
	st := control.Start{}
	if len(starts) > 0 {
		st = starts[0]
	}
	st.Version = v
	started, err := s.client.Start(s.ctx, control.Batch{Trigger: "test"}, []control.Start{st})
	if err != nil {
		s.t.Fatal(err)
	}
	return started[0].Run
}

// row is a row of ready, flight or parked. Zero fields are those of a first attempt at P2 in the queue default.
type row struct {
	run               uuid.UUID
	ord               int
	todo              string
	kind              span.Kind
	attempt, delivery int
	level             *stage.Level
	queue, key        string
	due               time.Duration // from now on
	reason            span.ParkReason
	fingerprint       string
	worker            uuid.UUID
	losses            int
	ago               time.Duration // of becoming ready, dispatched or parked
}

func (s *site) size(r *row) int {
	set, err := shard.ParseSet(r.todo)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.attempt == 0 {
		r.attempt = 1
	}
	if r.delivery == 0 {
		r.delivery = 1
	}
	if r.level == nil {
		p2 := stage.P2
		r.level = &p2
	}
	if r.queue == "" {
		r.queue = "default"
	}
	return set.Len()
}

func (s *site) ready(r row) uuid.UUID {
	s.t.Helper()
	n, id := s.size(&r), uuid.Must(uuid.NewV7())
	s.exec(`INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, namespace, queue, key, todo)
		SELECT $1, r.run_id, clock_timestamp() + make_interval(secs => $3), clock_timestamp() - make_interval(secs => $4), r.version_id, $5, $6,
		       (SELECT generation FROM ax.stage s WHERE s.run_id = r.run_id AND s.ord = $6), $7, $8, $9, $10, $11, 'default', $12, nullif($13, ''), $14::text::int4multirange
		FROM ax.run r WHERE r.run_id = $2`, id, r.run, r.due.Seconds(), r.ago.Seconds(), n, r.ord, r.kind, r.attempt, r.delivery, r.losses, *r.level, r.queue, r.key, r.todo)
	return id
}

func (s *site) flight(r row) uuid.UUID {
	s.t.Helper()
	s.size(&r)
	id := uuid.Must(uuid.NewV7())
	s.exec(`INSERT INTO ax.flight (id, run_id, worker_id, ready_at, dispatched_at, version_id, epoch, par, ord, generation, kind, attempt, delivery, losses, level, namespace, queue, key, todo)
		SELECT $1, r.run_id, $3, clock_timestamp() - make_interval(secs => $4), clock_timestamp() - make_interval(secs => $4), r.version_id, 7, 1, $5,
		       (SELECT generation FROM ax.stage s WHERE s.run_id = r.run_id AND s.ord = $5), $6, $7, $8, $9, $10, 'default', $11, nullif($12, ''), $13::text::int4multirange
		FROM ax.run r WHERE r.run_id = $2`, id, r.run, r.worker, r.ago.Seconds(), r.ord, r.kind, r.attempt, r.delivery, r.losses, *r.level, r.queue, r.key, r.todo)
	return id
}

func (s *site) parked(r row) uuid.UUID {
	s.t.Helper()
	n, id := s.size(&r), uuid.Must(uuid.NewV7())
	s.exec(`INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, key, fingerprint, todo)
		SELECT $1, r.run_id, clock_timestamp() - make_interval(secs => $3), clock_timestamp(), r.version_id, $4, $5,
		       (SELECT generation FROM ax.stage s WHERE s.run_id = r.run_id AND s.ord = $5), $6, $7, $8, $9, $10, $11, 'default', $12, nullif($13, ''), nullif($14, ''), $15::text::int4multirange
		FROM ax.run r WHERE r.run_id = $2`, id, r.run, r.ago.Seconds(), n, r.ord, r.kind, r.attempt, r.delivery, r.losses, *r.level, r.reason, r.queue, r.key, r.fingerprint, r.todo)
	return id
}

// clear takes a stage's rows away and puts it into a state; total below 0 is none.
func (s *site) clear(run uuid.UUID, ord int, state stage.StageState, total int) {
	s.t.Helper()
	s.exec(`DELETE FROM ax.ready WHERE run_id = $1 AND ord = $2`, run, ord)
	s.exec(`UPDATE ax.stage SET state = $3::smallint, shard_total = nullif($4::int, -1), ready_at = coalesce(ready_at, clock_timestamp()),
		finished_at = CASE WHEN $3::smallint >= 10 THEN clock_timestamp() END WHERE run_id = $1 AND ord = $2`, run, ord, state, total)
}

// result records how an attempt ended.
func (s *site) result(run uuid.UUID, ord, index, attempt int, outcome stage.Outcome, worker uuid.UUID, message string) {
	s.t.Helper()
	var text []byte
	if message != "" {
		text, _ = json.Marshal(map[string]string{"code": "E1", "message": message})
	}
	s.exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome, error)
		SELECT $1, $2, gen_random_uuid(), now() - interval '5 s', now() - interval '4 s', now() - interval '3 s', now() - interval '1 s', $3, 7, $4,
		       (SELECT generation FROM ax.stage s WHERE s.run_id = $1 AND s.ord = $4), $5, 1, $6, $7`, run, worker, index, ord, attempt, outcome, text)
}

// why explains a run, a stage or a task.
func (s *site) why(run uuid.UUID, where ...any) *explain.Report {
	s.t.Helper()
	t := explain.Target{Run: run}
	for _, w := range where {
		switch w := w.(type) {
		case string:
			t.Stage = w
		case int:
			t.Shard = &w
		}
	}
	r, err := explain.Explain(s.ctx, explain.Source{Pool: s.pool, Versions: s.versions, Namespace: "default"}, t)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// says checks that a sentence holds each of the texts.
func says(t testing.TB, sentence string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(sentence, want) {
			t.Errorf("%q is not in %q", want, sentence)
		}
	}
}

// shut returns the closed gate of that name, failing if it is not there or open.
func shut(t testing.TB, gates []explain.Gate, name string) explain.Gate {
	t.Helper()
	for _, g := range gates {
		if g.Name == name && !g.Open {
			return g
		}
	}
	t.Fatalf("no closed gate %s among %+v", name, gates)
	return explain.Gate{}
}

type params struct {
	Customer string `json:"customer,omitempty"`
}

func nop(context.Context, params) (int, error) { return 0, nil }

func noPlan(context.Context, params) (shard.Plan, error) { return shard.N(1), nil }

func nopShard(context.Context, params, shard.Shard) (struct{}, error) { return struct{}{}, nil }

func level(l stage.Level) *stage.Level { return &l }

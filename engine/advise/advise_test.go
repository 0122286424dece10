package advise_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine/advise"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/hint"
	"axflow/stage"
)

type params struct{}

func nop(context.Context, params) (int, error) { return 0, nil }

// Figures written by hand: 200 attempts of 1 s to 200 s, and arrivals of two a second.
func TestGive(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	d := pgtest.New(t, pgtest.Pool(func(cfg *pgxpool.Config) { axsql.ConfigurePool(cfg) }))
	bus, err := hint.New(hint.Config{ConnConfig: d.Pool.Config().ConnConfig})
	if err != nil {
		t.Fatal(err)
	}
	client, err := control.NewClient(ctx, control.Config{Pool: d.Pool, Bus: bus})
	if err != nil {
		t.Fatal(err)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := d.Pool.Exec(ctx, query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	a := shard.New("a", func(context.Context, params) (shard.Plan, error) { return shard.N(1), nil },
		func(context.Context, params, shard.Shard) (struct{}, error) { return struct{}{}, nil }, stage.Timeout{Execution: 250 * time.Second})
	b := stage.New("b", nop, stage.Queue("mail")).After(a)
	f := flow.New("f", a, b)
	v, err := client.Register(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	started, err := client.Start(ctx, control.Batch{Trigger: "test"}, []control.Start{{Version: v}})
	if err != nil {
		t.Fatal(err)
	}
	run := started[0].Run
	exec(`DELETE FROM ax.ready`)
	// Shards 0..199 became ready 100 s ago, started 10 s later and took 1 s more each; 20 more failed first.
	exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), now() - interval '100 s', now() - interval '95 s', now() - interval '90 s',
		       now() - interval '90 s' + make_interval(secs => i + 1), i, 1, 0, 1, 1, 1, 10 FROM generate_series(0, 199) AS i`, run)
	exec(`INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt, delivery, outcome)
		SELECT $1, gen_random_uuid(), gen_random_uuid(), now() - interval '100 s', now() - interval '95 s', now() - interval '90 s', now(), i, 1, 0, 1, 1, 2, 11
		FROM generate_series(300, 319) AS i`, run)
	handlers, err := json.Marshal(map[string]int{f.Graph().HandlerKey(0): 50, f.Graph().HandlerKey(1): 4})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		exec(`INSERT INTO ax.worker (id, seen_at, started_at, state, urgent, namespace, host, pid, labels, handlers)
			VALUES ($1, clock_timestamp(), clock_timestamp(), 0, 0, 'default', 'box', 1, '{}', $2)`, uuid.New(), handlers)
	}
	exec(`INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, namespace, queue, todo)
		VALUES (gen_random_uuid(), $1, now() - interval '50 s', now() - interval '50 s', $2, 1, 1, 1, 0, 1, 1, 0, 2, 'default', 'mail', '{[0,1)}')`, run, v.ID)
	exec(`INSERT INTO ax.queue (namespace, name, concurrency) VALUES ('default', 'default', 100)`)

	got, err := advise.Give(ctx, advise.Source{Pool: d.Pool, Namespace: "default"}, advise.Ask{Flow: "f"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Timeouts) != 2 || len(got.Handlers) != 2 || len(got.Queues) != 2 || got.Partial {
		t.Fatalf("%+v", got)
	}
	// The P99 of 1..200 is at place 0.99 × 199: 198.01 s. 1.5 and 2 times are 297.015 and 396.02 s.
	x := got.Timeouts[0]
	if x.Stage != "a" || x.Samples != 200 || x.Failed != 20 || x.P50.Round(time.Millisecond) != 100500*time.Millisecond ||
		x.P99.Round(time.Millisecond) != 198010*time.Millisecond || x.Max != 200*time.Second {
		t.Errorf("durations: %+v", x)
	}
	if x.From != 300*time.Second || x.To != 400*time.Second || x.Fit != advise.FitTight {
		t.Errorf("%v to %v, %s; want 300 to 400 s (two digits, up), too tight", x.From, x.To, x.Fit)
	}
	if y := got.Timeouts[1]; y.Stage != "b" || y.Samples != 0 || y.Fit != advise.FitUnknown {
		t.Errorf("of the stage that never ran: %+v", y)
	}
	// 220 arrivals in the 100 s that are known; 220 × means.
	h := got.Handlers[0]
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.05*want {
			t.Errorf("%s: %v, want about %v", what, got, want)
		}
	}
	near("window", got.Window.Seconds(), 100)
	near("arrivals", h.PerSecond, 2.2)
	near("wait", h.Wait.Seconds(), 10)
	near("run time", h.Exec.Seconds(), (100.5*200+90*20)/220)
	near("concurrency", h.Needed, 2.2*99.55)
	if h.Stage != "a" || h.Slots != 100 || h.Workers != 2 || h.Each != 50 || !h.Short || h.WorkersFrom != 6 || h.WorkersTo != 7 {
		t.Errorf("capacity: %+v", h)
	}
	if got.Handlers[1].Waiting != 1 {
		t.Errorf("of stage b %d wait, want 1", got.Handlers[1].Waiting)
	}
	if q := got.Queues[0]; q.Name != "default" || !q.Short || *q.Limit != 100 {
		t.Errorf("queue default: %+v", q)
	}
	if q := got.Queues[1]; q.Name != "mail" || q.Waiting != 1 || q.Limit != nil {
		t.Errorf("queue mail: %+v", q)
	}

	_, err = advise.Give(ctx, advise.Source{Pool: d.Pool, Namespace: "default"}, advise.Ask{Flow: "g"})
	var refused *control.Error
	if !errors.As(err, &refused) || refused.Code != control.CodeNotFound {
		t.Errorf("an unknown flow: %v, want not_found", err)
	}
	all, err := advise.Give(ctx, advise.Source{Pool: d.Pool, Namespace: "elsewhere"}, advise.Ask{})
	if err != nil || len(all.Timeouts)+len(all.Handlers)+len(all.Queues) != 0 {
		t.Errorf("another namespace: %+v, %v", all, err)
	}
}

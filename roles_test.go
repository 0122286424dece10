package axflow_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"axflow"
	"axflow/api"
	"axflow/api/access"
	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/history"
	"axflow/stage"
	"axflow/worker"
)

type cargo struct {
	Rows int  `json:"rows"`
	Hold bool `json:"hold"`
}

// Engine, worker and client run as users that are members of their own role only: starts, shards, a failed attempt and its retry,
// a sub-flow, dead letters and their retry, a cancel, and tomorrow's partitions.
func TestEachPartRunsWithItsOwnRoleOnly(t *testing.T) {
	e := pgtest.NewEstate(t)
	ctx := pgtest.Context(t, 5*time.Minute)
	var failed atomic.Bool
	var healed atomic.Bool
	parts := shard.New("parts",
		func(_ context.Context, p cargo) (shard.Plan, error) { return shard.Count(int64(p.Rows)).Base(1), nil },
		func(ctx context.Context, p cargo, s shard.Shard) (int, error) {
			stage.Log(ctx).Info("at work")
			switch {
			case p.Hold:
				<-ctx.Done()
				return 0, ctx.Err()
			case s.Index == 3 && !failed.Swap(true):
				return 0, errors.New("the first time it fails")
			case s.Index == 5 && !healed.Load():
				return 0, stage.Permanent(errors.New("until it is healed"))
			}
			return s.Index, nil
		}, stage.Retry{MaxAttempts: 3, InitialInterval: 10 * time.Millisecond})
	leaf := stage.New("leaf", func(_ context.Context, p cargo) (int, error) { return p.Rows, nil })
	inner := flow.New("inner", leaf)
	sub := flow.Sub("sub", inner, leaf, func(_ context.Context, p cargo) (cargo, error) { return p, nil }).After(parts)
	whole := flow.New("whole", parts, sub)

	// The engine shall have a day to make, and one to drop.
	old := axsql.Day(time.Now()).AddDate(0, 0, -40)
	if err := axsql.EnsurePartitions(ctx, e.As(e.Owner), old, 0); err != nil {
		t.Fatal(err)
	}
	ahead := axsql.Day(time.Now()).AddDate(0, 0, axsql.DefaultAhead).Format("20060102")
	for _, name := range e.Strings("SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relname LIKE '%\\_" + ahead + "'") {
		e.Exec("DROP TABLE " + name)
	}
	e.Exec("DELETE FROM ax.partition WHERE day = '" + ahead + "'")

	everybody := &access.Principal{Actor: "local:test", Namespace: "default", Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}
	client := processAs(t, e, "client", axflow.Config{API: &api.Config{Listen: "127.0.0.1:0", Local: everybody}}, "api")
	processAs(t, e, "engine", axflow.Config{Engine: true}, "engine")
	processAs(t, e, "worker", axflow.Config{Flows: []flow.Definition{whole, inner}, TuneWorker: func(c *worker.Config) { c.Beat = 200 * time.Millisecond }}, "worker")

	who := control.Who{Actor: "test"}
	id, err := axflow.Start(ctx, client.Client(), whole, cargo{Rows: 10}, axflow.Key("one"))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := client.Client().Wait(ctx, id); err != nil || state != stage.RunFailed {
		t.Fatalf("the run with a dead shard: %v, %v, want failed", state, err)
	}
	healed.Store(true)
	if _, err := client.Client().Retry(ctx, id, who); err != nil {
		t.Fatal(err)
	}
	if state, err := client.Client().Wait(ctx, id); err != nil || state != stage.RunSucceeded {
		t.Fatalf("the run after its retry: %v, %v, want succeeded", state, err)
	}
	held, err := axflow.Start(ctx, client.Client(), whole, cargo{Rows: 2, Hold: true})
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Eventually(t, 30*time.Second, func() (bool, string) {
		var n int
		err := e.Pool.QueryRow(ctx, "SELECT count(*) FROM ax.flight WHERE run_id = $1 AND kind = 0", held).Scan(&n)
		return err == nil && n > 0, fmt.Sprint("flights: ", n, err)
	})
	if _, err := client.Client().Cancel(ctx, held, false, who); err != nil {
		t.Fatal(err)
	}
	if state, err := client.Client().Wait(ctx, held); err != nil || state != stage.RunCancelled {
		t.Fatalf("the run that was cancelled: %v, %v, want cancelled", state, err)
	}
	pgtest.Eventually(t, 30*time.Second, func() (bool, string) {
		made := e.Strings("SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE relkind = 'r' AND relname LIKE '%\\_" + ahead + "'")
		left := e.Strings("SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relname LIKE '%\\_" + old.Format("20060102") + "'")
		return len(made) > 4 && !slices.ContainsFunc(made, func(owner string) bool { return owner != e.Prefix+"_engine" }) && len(left) == 0,
			fmt.Sprintf("owners of tomorrow's partitions: %v; old ones that are left: %v", made, left)
	})
	pgtest.Eventually(t, 30*time.Second, func() (bool, string) {
		lines := e.Strings("SELECT DISTINCT message FROM ax.log")
		return len(lines) == 1, fmt.Sprint("what handlers have logged: ", lines)
	})
	for _, path := range []string{"runs", "runs?q=state:ended+flow:whole+tag:a%3Db+since:1h", "runs/" + id.String(), "runs/" + id.String() + "/logs", "runs/" + id.String() + "/explain",
		"runs/" + id.String() + "/journal", "runs/" + id.String() + "/failures", "runs/" + id.String() + "/stages/parts/shards", "runs/" + id.String() + "/stages/parts/shards/3",
		"flows", "flows/whole", "advice", "queues", "pools", "workers", "circuits", "dead-letters", "dead-letters/groups", "runs/" + id.String() + "/result", "runs/" + id.String() + "/progress", "runs/" + id.String() + "/stages/parts/shards/packed", "holds", "settings", "replays", "webhooks", "tokens", "audit", "server"} {
		res, err := (&http.Client{Timeout: time.Minute}).Get(client.Server().URL() + "/api/v1/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %.300s", path, res.Status, body)
		}
	}
	found, err := history.Check(ctx, e.Pool, history.Options{Ended: true})
	if err != nil || len(found) > 0 {
		t.Errorf("history: %v %v", found, err)
	}
}

// processAs runs a part of AX as a user that is a member of roles only, until the test ends. What it logs as warning or worse
// fails the test: a refused statement that is tried for ever would show nowhere else.
func processAs(t *testing.T, e *pgtest.Estate, name string, cfg axflow.Config, roles ...string) *axflow.Process {
	t.Helper()
	ctx := t.Context()
	cfg.DatabaseURL = e.Login(name, roles...)
	cfg.Logger = slog.New(slog.NewTextHandler(denied{t, name}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p, err := axflow.Open(ctx, cfg)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var super bool
	if err := p.Pool().QueryRow(ctx, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user").Scan(&super); err != nil || super {
		t.Fatalf("%s is a superuser (%v): nothing would be refused", name, err)
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		p.Close()
	})
	return p
}

// denied is a log that fails the test where a line says that PostgreSQL refused something.
type denied struct {
	t    *testing.T
	name string
}

func (d denied) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("42501")) || bytes.Contains(line, []byte("permission denied")) {
		d.t.Errorf("%s: %s", d.name, line)
	}
	return len(line), nil
}

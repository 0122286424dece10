// Package conformance holds the API to its own document: a fuzz over every operation, and a client that another
// generator than ours made.
package conformance

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow"
	"axflow/api"
	"axflow/api/access"
	"axflow/api/gen"
	"axflow/api/live"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/stage"
)

// Params are what the flow under test takes.
type Params struct {
	Rows int    `json:"rows"`
	Fail bool   `json:"fail,omitempty"`
	Kind string `json:"kind,omitempty" jsonschema:"enum=full,enum=delta"`
}

var (
	pull = stage.New("pull", func(_ context.Context, p Params) (int, error) { return p.Rows, nil })
	sum  = shard.New("sum", func(_ context.Context, p Params) (shard.Plan, error) { return shard.Count(int64(p.Rows)).Base(2), nil },
		func(_ context.Context, p Params, s shard.Shard) (int, error) {
			if p.Fail && s.Index == 1 {
				return 0, stage.Permanent(errors.New("shard 1 always fails"))
			}
			return s.Index, nil
		}).After(pull)
	report = stage.New("report", func(ctx context.Context, _ Params) (int, error) {
		total := 0
		for _, part := range sum.Outputs(ctx) {
			total += part
		}
		return total, nil
	}).After(sum)
	sums = flow.New("sums", pull, sum, report)
)

// lab is a server with an engine, a worker and a database of its own behind it.
type lab struct {
	t       *testing.T
	ctx     context.Context
	process *axflow.Process
	handler http.Handler
	seen    map[string]int // kinds of failures
}

func newLab(t *testing.T, principal *access.Principal) *lab {
	t.Helper()
	l := &lab{t: t, ctx: pgtest.Context(t, 4*time.Minute), seen: map[string]int{}}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := axflow.Open(l.ctx, axflow.Config{DatabaseURL: pgtest.New(t).URL, Flows: []flow.Definition{sums}, Engine: true, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	l.process = p
	run, stop := context.WithCancel(l.ctx)
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("running: %v", err)
		}
		p.Close()
	})
	hub, err := live.New(live.Config{Pool: p.Pool(), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	hubDone := make(chan error, 1)
	go func() { hubDone <- hub.Run(run) }()
	t.Cleanup(func() {
		stop()
		if err := <-hubDone; err != nil {
			t.Errorf("streaming: %v", err)
		}
	})
	server, err := api.New(api.Config{Client: p.Client(), Local: principal, Live: hub, Version: "test",
		Logger: slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		t.Fatal(err)
	}
	l.handler = server.Handler()
	return l
}

// testLog writes what the server says of its faults into the test's log.
type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Logf("%s", b)
	return len(b), nil
}

// admin may do everything in a namespace.
func admin(namespace string) *access.Principal {
	return &access.Principal{Actor: "test", Namespace: namespace, Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}
}

// ended starts a run and waits for its end.
func (l *lab) ended(p Params, want stage.RunState) uuid.UUID {
	l.t.Helper()
	id, err := axflow.Start(l.ctx, l.process.Client(), sums, p, axflow.Tags(map[string]string{"by": "lab"}))
	if err != nil {
		l.t.Fatal(err)
	}
	state, err := l.process.Client().Wait(l.ctx, id)
	if err != nil {
		l.t.Fatal(err)
	}
	if state != want {
		l.t.Fatalf("run %s has %v, want %v", id, state, want)
	}
	return id
}

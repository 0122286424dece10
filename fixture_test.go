package axflow_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/sql/history"
	"axflow/stage"
)

// lab is everything in one process on a database of its own.
type lab struct {
	t   *testing.T
	ctx context.Context
	p   *axflow.Process
}

// open runs engine and worker for flows until the test ends; then the history must be right and every run over.
func open(t *testing.T, tune func(*axflow.Config), flows ...flow.Definition) *lab {
	t.Helper()
	ctx := pgtest.Context(t, 2*time.Minute)
	d := pgtest.New(t)
	cfg := axflow.Config{DatabaseURL: d.URL, Flows: flows, Engine: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if tune != nil {
		tune(&cfg)
	}
	p, err := axflow.Open(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("running: %v", err)
		}
		found, err := history.Check(context.Background(), p.Pool(), history.Options{Ended: true})
		if err != nil || len(found) > 0 {
			t.Errorf("history: %v %v", found, err)
		}
		p.Close()
	})
	return &lab{t: t, ctx: ctx, p: p}
}

// start starts a run.
func start[P any](l *lab, f *flow.Flow[P], params P, opts ...axflow.Option) uuid.UUID {
	l.t.Helper()
	id, err := axflow.Start(l.ctx, l.p.Client(), f, params, opts...)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

// ends waits for a run's end.
func (l *lab) ends(id uuid.UUID, right stage.RunState) {
	l.t.Helper()
	state, err := l.p.Client().Wait(l.ctx, id)
	if err != nil {
		l.t.Fatal(err)
	}
	if state != right {
		l.t.Errorf("the run has %v, want %v; stages: %v", state, right, l.states(id))
	}
}

// states are the states of a run's stages, by name.
func (l *lab) states(id uuid.UUID) map[string]stage.StageState {
	l.t.Helper()
	rows, err := l.p.Pool().Query(l.ctx, `SELECT v.graph::jsonb->'stages'->s.ord::int->>'name', s.state FROM ax.stage s
		JOIN ax.run r ON r.run_id = s.run_id JOIN (SELECT id, convert_from(graph, 'UTF8') AS graph FROM ax.flow_version) v ON v.id = r.version_id
		WHERE s.run_id = $1`, id)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	states := make(map[string]stage.StageState)
	for rows.Next() {
		var name string
		var state stage.StageState
		if err := rows.Scan(&name, &state); err != nil {
			l.t.Fatal(err)
		}
		states[name] = state
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	return states
}

// wantStates compares the states of a run's stages.
func (l *lab) wantStates(id uuid.UUID, right map[string]stage.StageState) {
	l.t.Helper()
	got := l.states(id)
	for name, state := range right {
		if got[name] != state {
			l.t.Errorf("stage %s has %v, want %v", name, got[name], state)
		}
	}
}

// count is what a query counts.
func (l *lab) count(sql string, args ...any) (n int) {
	l.t.Helper()
	if err := l.p.Pool().QueryRow(l.ctx, sql, args...).Scan(&n); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// eventually waits until a query says true.
func (l *lab) eventually(what, sql string, args ...any) {
	l.t.Helper()
	pgtest.Eventually(l.t, 60*time.Second, func() (bool, string) {
		var ok *bool
		if err := l.p.Pool().QueryRow(l.ctx, sql, args...).Scan(&ok); err != nil {
			return false, what + ": " + err.Error()
		}
		return ok != nil && *ok, what
	})
}

func wantOutput[P, O comparable](l *lab, id uuid.UUID, s *stage.Stage[P, O], right O) {
	l.t.Helper()
	if got, err := axflow.Output(l.ctx, l.p.Client(), id, s); err != nil || got != right {
		l.t.Errorf("the output of %s: %v, %v, want %v", s.Def().Name, got, err, right)
	}
}

func want[T comparable](t *testing.T, what string, got, right T) {
	t.Helper()
	if got != right {
		t.Errorf("%s: %v, want %v", what, got, right)
	}
}

package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/api"
	"axflow/api/access"
	"axflow/api/client"
	"axflow/api/gen"
	"axflow/engine/control"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

type daily struct {
	Date string `json:"date" jsonschema:"format=date"`
	Rows int    `json:"rows,omitempty" jsonschema:"minimum=1"`
}

func once(context.Context, daily) (string, error)              { return "", nil }
func fourParts(context.Context, daily) (shard.Plan, error)     { return shard.Count(4), nil }
func onePart(context.Context, daily, shard.Shard) (int, error) { return 0, nil }

// recon is a stage of four shards and one after it.
func recon() *flow.Flow[daily] {
	parts := shard.New("parts", fourParts, onePart, stage.Retry{MaxAttempts: 1})
	return flow.New("recon", parts, stage.New("report", once).After(parts))
}

// stand is a database with one flow in two namespaces, and a server that serves who operates each. Nothing in it runs by itself.
type stand struct {
	t      *testing.T
	ctx    context.Context
	pool   *pgxpool.Pool
	bus    *hint.Bus
	client *control.Client
	ours   *gen.ClientWithResponses // who operates namespace default
	theirs *gen.ClientWithResponses // who operates namespace other
	raw    http.RoundTripper        // of ours
	worker uuid.UUID
}

func newStand(t *testing.T) *stand {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 120*time.Second)
	t.Cleanup(cancel)
	d := pgtest.New(t, pgtest.Pool(func(c *pgxpool.Config) { axsql.ConfigurePool(c) }))
	s := &stand{t: t, ctx: ctx, pool: d.Pool, worker: uuid.Must(uuid.NewV7())}
	var err error
	if s.bus, err = hint.New(hint.Config{Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	if s.client, err = control.NewClient(ctx, control.Config{Pool: s.pool, Bus: s.bus, Versions: versions.New()}); err != nil {
		t.Fatal(err)
	}
	s.exec(`INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at) VALUES ('leader', 1, 'test', now() + '1 hour', now())`)
	s.register(s.worker, "default")
	for _, namespace := range []string{"default", "other"} {
		if _, err := s.client.In(namespace).Register(ctx, recon()); err != nil {
			t.Fatal(err)
		}
	}
	s.ours, s.raw = s.serve("default", "local:ada")
	s.theirs, _ = s.serve("other", "local:bob")
	return s
}

// serve makes a client of a server that takes everybody for one principal.
func (s *stand) serve(namespace, actor string) (*gen.ClientWithResponses, http.RoundTripper) {
	s.t.Helper()
	server, err := api.New(api.Config{Client: s.client, Logger: slog.New(slog.DiscardHandler),
		Local: &access.Principal{Actor: actor, Namespace: namespace, Role: gen.RoleAdmin, Cluster: true, Via: gen.MeViaLocal}})
	if err != nil {
		s.t.Fatal(err)
	}
	trip := client.Local(server.Handler())
	c, err := client.New(client.Config{URL: "http://127.0.0.1", HTTP: &http.Client{Transport: trip}})
	if err != nil {
		s.t.Fatal(err)
	}
	return c, trip
}

func (s *stand) register(worker uuid.UUID, namespace string) {
	s.t.Helper()
	if err := db.New(s.pool).RegisterWorker(s.ctx, db.RegisterWorkerParams{ID: worker, Namespace: namespace, Host: "box", Pid: 42, Labels: []string{"gpu"},
		Handlers: []byte(`{"recon/parts@x": 4}`)}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stand) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.pool.Exec(s.ctx, sql, args...); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
}

func (s *stand) count(sql string, args ...any) (n int) {
	s.t.Helper()
	if err := s.pool.QueryRow(s.ctx, sql, args...).Scan(&n); err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// start starts a run of namespace default.
func (s *stand) start() uuid.UUID {
	s.t.Helper()
	v, err := s.client.Newest(s.ctx, "recon")
	if err != nil {
		s.t.Fatal(err)
	}
	started, err := s.client.Start(s.ctx, control.Batch{Trigger: "test"}, []control.Start{{Version: v, Params: []byte(`{"date":"2026-11-29"}`), Tags: map[string]string{"team": "blue"}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return started[0].Run
}

// running starts a run whose four shards are ready.
func (s *stand) running() uuid.UUID {
	s.t.Helper()
	run := s.start()
	s.work(run, nil) // the plan
	return run
}

// failed starts a run of which shard 2 has died.
func (s *stand) failed() uuid.UUID {
	s.t.Helper()
	run := s.running()
	s.work(run, func(index int32) bool { return index == 2 })
	return run
}

// work hands out what of a run is ready, and ends it; fail says which shards die.
func (s *stand) work(run uuid.UUID, fail func(int32) bool) {
	s.t.Helper()
	for _, f := range s.handOut(run) {
		s.finish(run, f, fail)
	}
}

type flight struct {
	id   uuid.UUID
	ord  int16
	kind int16
	set  shard.Set
}

// handOut hands out what of a run is ready.
func (s *stand) handOut(run uuid.UUID) []flight {
	s.t.Helper()
	rows, err := s.pool.Query(s.ctx, `SELECT id, ord, kind, todo::text FROM ax.ready WHERE run_id = $1 ORDER BY id`, run)
	if err != nil {
		s.t.Fatal(err)
	}
	p := db.CutSpansParams{Epoch: 1}
	var all []flight
	var id uuid.UUID
	var f flight
	var todo string
	if _, err := pgx.ForEachRow(rows, []any{&id, &f.ord, &f.kind, &todo}, func() (err error) {
		if f.set, err = shard.ParseSet(todo); err != nil {
			return err
		}
		f.id = uuid.Must(uuid.NewV7())
		all = append(all, f)
		p.ReadyIds, p.FlightIds, p.WorkerIds = append(p.ReadyIds, id), append(p.FlightIds, f.id), append(p.WorkerIds, s.worker)
		p.Pieces, p.Sizes, p.Pars, p.RunIds = append(p.Pieces, todo), append(p.Sizes, int32(f.set.Len())), append(p.Pars, 1), append(p.RunIds, run)
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
	if _, err := db.New(s.pool).CutSpans(s.ctx, p); err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *stand) finish(run uuid.UUID, f flight, fail func(int32) bool) {
	s.t.Helper()
	conn, err := s.pool.Acquire(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Release()
	now := time.Now()
	if f.kind == int16(span.Plan) {
		if _, err := span.FinishPlan(s.ctx, conn.Conn(), s.worker, span.PlanReport{Execution: f.id, Run: run, Ord: f.ord, Started: now, Finished: now,
			Layout: stage.Layout{Total: 4}}); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	r := span.Report{Execution: f.id, Run: run, Ord: f.ord, MaxAttempts: 1, Last: true}
	for i := range f.set.All() {
		x := span.Result{Index: int32(i), Outcome: stage.Succeeded, Started: now, Finished: now, Output: []byte(`1`)}
		if fail != nil && fail(x.Index) {
			x.Outcome, x.Output, x.Error, x.Fingerprint = stage.Failed, nil, []byte(`{"code":"handler_error","message":"boom 17"}`), "boom N"
		}
		r.Results = append(r.Results, x)
	}
	if _, err := span.Finish(s.ctx, conn.Conn(), s.worker, []span.Report{r}); err != nil {
		s.t.Fatal(err)
	}
}

// call sends a request as it is and returns the answer's status and body.
func (s *stand) call(method, path, body string) (int, []byte) {
	s.t.Helper()
	return s.callOn(s.raw, method, path, body)
}

// callOn is call on a server.
func (s *stand) callOn(trip http.RoundTripper, method, path, body string) (int, []byte) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.ctx, method, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body == "" {
		req.Body = http.NoBody
		req.ContentLength = 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := trip.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, text
}

// good sends a request that must be answered with a status, and reads the answer.
func good[T any](s *stand, status int, method, path, body string) (out T) {
	s.t.Helper()
	got, text := s.call(method, path, body)
	if got != status {
		s.t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, got, text, status)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		s.t.Fatalf("%s %s: %s: %v", method, path, text, err)
	}
	return out
}

// refused sends a request that must be refused with a status and a code, and, if fields are named, for these fields.
func (s *stand) refused(status int, code gen.ProblemCode, method, path, body string, fields ...string) gen.Problem {
	s.t.Helper()
	got, text := s.call(method, path, body)
	var p gen.Problem
	if err := json.Unmarshal(text, &p); err != nil || got != status || p.Code != code {
		s.t.Errorf("%s %s %s: %d %s, want %d %s", method, path, body, got, text, status, code)
		return p
	}
	var found []string
	for _, f := range p.Errors {
		found = append(found, f.Field)
	}
	if len(fields) > 0 && strings.Join(found, " ") != strings.Join(fields, " ") {
		s.t.Errorf("%s %s %s: fields %q, want %q (%s)", method, path, body, found, fields, text)
	}
	return p
}

// act sends an act and returns what it touched.
func (s *stand) act(method, path, body string) []gen.Touch {
	s.t.Helper()
	return good[gen.ActResult](s, http.StatusOK, method, path, body).Touched
}

func want[T comparable](t *testing.T, what string, got, right T) {
	t.Helper()
	if got != right {
		t.Errorf("%s: %v, want %v", what, got, right)
	}
}

// problemOf is the problem that a generated client got.
func problemOf(t *testing.T, res *http.Response, body []byte) *client.Error {
	t.Helper()
	var e *client.Error
	if err := client.Check(res, body); !errors.As(err, &e) {
		t.Fatalf("answer %s %s, want a problem", res.Status, body)
	}
	return e
}

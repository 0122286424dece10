package control_test

import (
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/engine/control"
	"axflow/engine/resolve"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

const (
	envRaceSeed   = "AX_RACE_SEED"   // the seed to play
	envRaceRounds = "AX_RACE_ROUNDS" // how many pairs of moves; default 12
)

func number(t *testing.T, name string, or uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return or
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q: give a whole number", name, text)
	}
	return n
}

// held is a flight as its worker knows it.
type held struct {
	id   uuid.UUID
	ord  int16
	kind int16
	set  shard.Set
}

func verb(name string, do func(*house, uuid.UUID, control.Who) ([]control.Touch, error)) move {
	return move{name, func(h *house, x subject, who control.Who) ([]control.Touch, error) { return do(h, x.run, who) }}
}

var p5 = stage.P5

// runMoves are the verbs on a run and its stages, and what a worker does meanwhile.
var runMoves = []move{
	verb("cancel", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Cancel(h.ctx, id, false, w)
	}),
	verb("cancel by force", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Cancel(h.ctx, id, true, w)
	}),
	verb("pause", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Pause(h.ctx, control.HoldRun, id.String(), w)
	}),
	verb("resume", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Resume(h.ctx, control.HoldRun, id.String(), w)
	}),
	verb("retry", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Retry(h.ctx, id, w)
	}),
	verb("retry shards", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.RetryShards(h.ctx, id, "a", shard.Of(2), w)
	}),
	verb("replay", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Replay(h.ctx, id, "", shard.Set{}, w)
	}),
	verb("discard", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Discard(h.ctx, id, "a", shard.Set{}, w)
	}),
	verb("rerun", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Rerun(h.ctx, id, "a", w)
	}),
	verb("rerun shards", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.RerunShards(h.ctx, id, "a", shard.Of(0), w)
	}),
	verb("skip", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Skip(h.ctx, id, "a", w)
	}),
	verb("skip shards", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.SkipShards(h.ctx, id, "a", shard.Of(2, 3), w)
	}),
	verb("skip what waits", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Skip(h.ctx, id, "join", w)
	}),
	verb("mark", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.MarkSuccess(h.ctx, id, "a", shard.Set{}, nil, w)
	}),
	verb("mark shards", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.MarkSuccess(h.ctx, id, "a", shard.Of(2, 3), []byte("1"), w)
	}),
	verb("level", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.SetLevel(h.ctx, id, "", &p5, w)
	}),
	verb("expedite", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Expedite(h.ctx, id, "", w)
	}),
	verb("demote", func(h *house, id uuid.UUID, w control.Who) ([]control.Touch, error) {
		return h.client.Demote(h.ctx, id, "a", w)
	}),
	{"finish", func(h *house, x subject, _ control.Who) ([]control.Touch, error) { return h.report(x, nil) }},
	{"finish badly", func(h *house, x subject, _ control.Who) ([]control.Touch, error) {
		return h.report(x, func(i int) bool { return i == 3 })
	}},
}

// runScenes are runs of fan, which are two moves away from where they were.
var runScenes = []scene{
	{"it begins", func(h *house) subject { return subject{run: h.start()} }, runDigest, runLocks},
	{"its plan runs", func(h *house) subject { return h.flying(h.start()) }, runDigest, runLocks},
	{"it waits to run", func(h *house) subject { return subject{run: h.planned()} }, runDigest, runLocks},
	{"it runs", func(h *house) subject { return h.flying(h.planned()) }, runDigest, runLocks},
	{"the last shard runs", func(h *house) subject {
		x := h.flying(h.planned())
		h.must(h.reportSome(x, nil, shard.Span(0, 3)))
		return x
	}, runDigest, runLocks},
	{"a shard is dead", func(h *house) subject {
		x := h.flying(h.planned())
		h.must(h.reportSome(x, func(i int) bool { return i == 2 }, shard.Span(0, 3)))
		return x
	}, runDigest, runLocks},
	{"it has failed", func(h *house) subject { return subject{run: h.ended(func(i int) bool { return i == 2 })} }, runDigest, runLocks},
	{"it has succeeded", func(h *house) subject { return subject{run: h.ended(nil)} }, runDigest, runLocks},
	{"it is being cancelled", func(h *house) subject {
		x := h.flying(h.planned())
		h.must(h.client.Cancel(h.ctx, x.run, false, me))
		return x
	}, runDigest, runLocks},
	{"it is paused", func(h *house) subject {
		x := h.flying(h.planned())
		h.must(h.client.Pause(h.ctx, control.HoldRun, x.run.String(), me))
		return x
	}, runDigest, runLocks},
	{"its dead are given up", func(h *house) subject {
		x := subject{run: h.ended(func(i int) bool { return i == 2 })}
		h.must(h.client.Discard(h.ctx, x.run, "a", shard.Set{}, me))
		return x
	}, runDigest, runLocks},
}

func (h *house) must(_ []control.Touch, err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// planned starts a run whose shards are ready.
func (h *house) planned() uuid.UUID {
	h.t.Helper()
	x := h.flying(h.start())
	h.must(h.report(x, nil))
	return x.run
}

// ended starts a run and lets it come to its end.
func (h *house) ended(fail func(int) bool) uuid.UUID {
	h.t.Helper()
	run := h.planned()
	for range 10 {
		h.decide(run)
		x := h.flying(run)
		if len(x.flight) == 0 {
			return run
		}
		h.must(h.report(x, fail))
	}
	h.t.Fatal("the run never ends")
	return run
}

// flying hands out what of a run is ready.
func (h *house) flying(run uuid.UUID) subject {
	h.t.Helper()
	rows, err := h.pool.Query(h.ctx, `SELECT id, ord, kind, todo::text FROM ax.ready WHERE run_id = $1 ORDER BY id`, run)
	if err != nil {
		h.t.Fatal(err)
	}
	x := subject{run: run}
	p := db.CutSpansParams{Epoch: 1}
	var id uuid.UUID
	var f held
	var todo string
	if _, err := pgx.ForEachRow(rows, []any{&id, &f.ord, &f.kind, &todo}, func() (err error) {
		f.id = uuid.Must(uuid.NewV7())
		if f.set, err = shard.ParseSet(todo); err != nil {
			return err
		}
		x.flight = append(x.flight, f)
		p.ReadyIds, p.FlightIds, p.WorkerIds = append(p.ReadyIds, id), append(p.FlightIds, f.id), append(p.WorkerIds, h.worker)
		p.Pieces, p.Sizes, p.Pars, p.RunIds = append(p.Pieces, todo), append(p.Sizes, int32(f.set.Len())), append(p.Pars, 1), append(p.RunIds, run)
		return nil
	}); err != nil {
		h.t.Fatal(err)
	}
	if len(x.flight) == 0 {
		return x
	}
	if _, err := db.New(h.pool).CutSpans(h.ctx, p); err != nil {
		h.t.Fatal(err)
	}
	return x
}

// report ends all that the worker holds; fail says which shards die.
func (h *house) report(x subject, fail func(int) bool) ([]control.Touch, error) {
	return h.reportSome(x, fail, shard.Span(0, 4))
}

// reportSome ends some of what the worker holds, and tells what of it was taken.
func (h *house) reportSome(x subject, fail func(int) bool, some shard.Set) ([]control.Touch, error) {
	conn, err := h.pool.Acquire(h.ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	var touched []control.Touch
	now := time.Now()
	for _, f := range x.flight {
		if f.kind == int16(span.Plan) {
			receipt, err := span.FinishPlan(h.ctx, conn.Conn(), h.worker, span.PlanReport{Execution: f.id, Run: x.run, Ord: f.ord, Started: now, Finished: now,
				Layout: stage.Layout{Total: 4}})
			if err != nil {
				return nil, err
			}
			touched = append(touched, taken(receipt, "plan")...)
			continue
		}
		set := f.set.Intersect(some)
		r := span.Report{Execution: f.id, Run: x.run, Ord: f.ord, MaxAttempts: 1, Last: set.Equal(f.set) || set.Contains(f.set.Max())}
		for i := range set.All() {
			y := span.Result{Index: int32(i), Outcome: stage.Succeeded, Started: now, Finished: now, Output: []byte(`"done"`)}
			if fail != nil && fail(i) {
				y.Outcome, y.Output, y.Error, y.Fingerprint = stage.Failed, nil, []byte(`{"code":"handler_error","message":"boom"}`), "boom"
			}
			r.Results = append(r.Results, y)
		}
		receipt, err := span.Finish(h.ctx, conn.Conn(), h.worker, []span.Report{r})
		if err != nil {
			return nil, err
		}
		touched = append(touched, taken(receipt, "shards")...)
	}
	return touched, nil
}

func taken(r span.Receipt, what string) []control.Touch {
	var all []control.Touch
	for _, a := range r.Accepted {
		if !a.Set.Empty() {
			all = append(all, control.Touch{Stage: what, Indices: a.Set, What: "taken"})
		}
	}
	return all
}

// decide is the leader's turn, for one run.
func (h *house) decide(run uuid.UUID) {
	h.t.Helper()
	conn, err := h.pool.Acquire(h.ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Release()
	r := &resolve.Resolver{Versions: h.versions, Fence: h.fence, Logger: slog.New(slog.DiscardHandler), Stuck: new(atomic.Uint64)}
	for range 2 { // what the first aligns may decide more
		if _, err := r.Resolve(h.ctx, conn.Conn(), resolve.News{Runs: []uuid.UUID{run}}, nil); err != nil {
			h.t.Fatal(err)
		}
		for ord := range h.version.Graph.Stages {
			if _, _, err := r.Align(h.ctx, conn.Conn(), span.StageKey{Run: run, Ord: int16(ord)}); err != nil {
				h.t.Fatal(err)
			}
		}
	}
}

// runDigest is what stands of a run once the leader has had its turn, but for ids and times.
func runDigest(h *house, x subject) string {
	h.t.Helper()
	h.decide(x.run)
	return h.text(`
		SELECT 'run ' || state || ' level ' || coalesce(forced_level::text, '-') || CASE WHEN finished_at IS NULL THEN ' open' ELSE ' ended' END AS line, 0 AS o FROM ax.run WHERE run_id = $1
		UNION ALL SELECT concat_ws(' ', 'stage', ord, 'generation', generation, 'state', state, 'total', shard_total, 'attempts', max_attempts, 'level', level,
			'verdict', verdict, 'reason', reason, succeeded, failed, skipped, cancelled), 1 FROM ax.stage WHERE run_id = $1
		UNION ALL SELECT concat_ws(' ', 'ready', ord, generation, kind, attempt, delivery, level, range_agg(todo)), 2 FROM ax.ready WHERE run_id = $1 GROUP BY ord, generation, kind, attempt, delivery, level
		UNION ALL SELECT concat_ws(' ', 'flight', ord, generation, kind, attempt, delivery, level, range_agg(todo)), 3 FROM ax.flight WHERE run_id = $1 GROUP BY ord, generation, kind, attempt, delivery, level
		UNION ALL SELECT concat_ws(' ', 'parked', ord, generation, kind, attempt, delivery, level, reason, range_agg(todo)), 4 FROM ax.parked WHERE run_id = $1 GROUP BY ord, generation, kind, attempt, delivery, level, reason
		UNION ALL SELECT concat_ws(' ', 'result', ord, generation, shard, attempt, delivery, outcome, count(*)), 5 FROM ax.result WHERE run_id = $1 GROUP BY ord, generation, shard, attempt, delivery, outcome
		UNION ALL SELECT concat_ws(' ', 'ask', a.kind, count(*)), 6 FROM ax.ask a JOIN ax.flight f ON f.id = a.execution_id WHERE f.run_id = $1 GROUP BY a.kind
		UNION ALL SELECT concat_ws(' ', 'hold', actor), 7 FROM ax.hold WHERE kind = 'run' AND name = $1::text
		UNION ALL SELECT concat_ws(' ', 'journal', kind, actor, ord, count(*)), 8 FROM ax.journal WHERE run_id = $1 GROUP BY kind, actor, ord
		UNION ALL SELECT concat_ws(' ', 'audit', actor, verb, count(*)), 9 FROM ax.audit WHERE starts_with(target, 'run/' || $1::text) GROUP BY actor, verb`, x.run)
}

// text is the lines of a query, in the order of o.
func (h *house) text(sql string, args ...any) (text string) {
	h.t.Helper()
	if err := h.pool.QueryRow(h.ctx, `SELECT coalesce(string_agg(line, E'\n' ORDER BY o, line), '') FROM (`+sql+`) x`, args...).Scan(&text); err != nil {
		h.t.Fatal(err)
	}
	return text
}

// fleetMove is a move about something that is no run.
type fleetMove struct {
	what string
	move
}

func onFleet(what, name string, do func(*control.Client, *house, subject, control.Who) ([]control.Touch, error)) fleetMove {
	return fleetMove{what, move{name, func(h *house, x subject, w control.Who) ([]control.Touch, error) { return do(h.client, h, x, w) }}}
}

func setQueue(capacity, version int) func(*control.Client, *house, subject, control.Who) ([]control.Touch, error) {
	return func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.SetQueue(h.ctx, control.QueueConfig{Name: x.name, Capacity: capacity, Version: version}, w)
	}
}

func clearQueue(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
	return c.ClearQueue(h.ctx, x.name, w)
}

func setPool(slots int) func(*control.Client, *house, subject, control.Who) ([]control.Touch, error) {
	return func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.SetPool(h.ctx, "f", x.name, slots, w)
	}
}

func setting(on bool) func(*control.Client, *house, subject, control.Who) ([]control.Touch, error) {
	return func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.SetSetting(h.ctx, x.name, on, w)
	}
}

var fleetMoves = []fleetMove{
	onFleet("a queue", "set to 100", setQueue(100, 0)),
	onFleet("a queue", "set to 200", setQueue(200, 0)),
	onFleet("a queue", "set version 1 to 300", setQueue(300, 1)),
	onFleet("a queue", "set version 1 to 400", setQueue(400, 1)),
	onFleet("a queue", "clear", clearQueue),
	onFleet("a queue that nobody has set", "set to 100", setQueue(100, 0)),
	onFleet("a queue that nobody has set", "set to 200", setQueue(200, 0)),
	onFleet("a queue that nobody has set", "clear", clearQueue),
	onFleet("a queue's hold", "pause", func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.Pause(h.ctx, control.HoldQueue, x.name, w)
	}),
	onFleet("a queue's hold", "resume", func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.Resume(h.ctx, control.HoldQueue, x.name, w)
	}),
	onFleet("a pool", "set to 3", setPool(3)),
	onFleet("a pool", "set to 5", setPool(5)),
	onFleet("a pool", "clear", func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.ClearPool(h.ctx, "f", x.name, w)
	}),
	onFleet("a circuit", "open", func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.OpenCircuit(h.ctx, control.CircuitDownstream, x.name, w)
	}),
	onFleet("a circuit", "close", func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.CloseCircuit(h.ctx, control.CircuitDownstream, x.name, w)
	}),
	onFleet("a setting", "on", setting(true)),
	onFleet("a setting", "off", setting(false)),
	onFleet("a worker", "drain", func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.DrainWorker(h.ctx, x.id, w)
	}),
	onFleet("a worker", "leave", func(_ *control.Client, h *house, x subject, _ control.Who) ([]control.Touch, error) {
		return nil, db.New(h.pool).LeaveWorker(h.ctx, x.id)
	}),
	onFleet("a replay", "cancel", func(c *control.Client, h *house, x subject, w control.Who) ([]control.Touch, error) {
		return c.CancelReplay(h.ctx, x.id, w)
	}),
}

// fleetScene makes one of what moves are about, under a name of its own.
func fleetScene(what string) scene {
	return scene{what, func(h *house) subject {
		h.t.Helper()
		x := subject{id: uuid.Must(uuid.NewV7())}
		x.name = "q" + x.id.String()
		switch what {
		case "a queue":
			h.must(setQueue(50, 0)(h.client, h, x, me))
		case "a setting":
			x.name = "aging"
			h.exec(`DELETE FROM ax.setting`)
			h.exec(`DELETE FROM ax.audit WHERE starts_with(target, 'setting/')`)
		case "a worker":
			if err := db.New(h.pool).RegisterWorker(h.ctx, db.RegisterWorkerParams{ID: x.id, Namespace: "default", Host: "box", Labels: []string{}, Handlers: []byte(`{}`)}); err != nil {
				h.t.Fatal(err)
			}
		case "a replay":
			h.exec(`INSERT INTO ax.replay (id, namespace, state, filter, total, actor) VALUES ($1, 'default', 'running', '{}', 1, 'me')`, x.id)
		}
		return x
	}, fleetDigest, fleetLocks}
}

func fleetDigest(h *house, x subject) string {
	h.t.Helper()
	return h.text(`
		SELECT concat_ws(' ', 'queue', capacity, version) AS line, 0 AS o FROM ax.queue WHERE name = $1
		UNION ALL SELECT concat_ws(' ', 'hold', actor), 1 FROM ax.hold WHERE name = $1
		UNION ALL SELECT concat_ws(' ', 'pool', slots, actor), 2 FROM ax.pool WHERE handler = 'f/' || $1
		UNION ALL SELECT concat_ws(' ', 'circuit', state, manual, actor, version), 3 FROM ax.circuit WHERE name = $1
		UNION ALL SELECT concat_ws(' ', 'setting', value, version), 4 FROM ax.setting WHERE name = $1
		UNION ALL SELECT concat_ws(' ', 'worker', state, drain_asked_at IS NOT NULL), 5 FROM ax.worker WHERE id = $2::uuid
		UNION ALL SELECT concat_ws(' ', 'replay', state, note, finished_at IS NOT NULL), 6 FROM ax.replay WHERE id = $2::uuid
		UNION ALL SELECT concat_ws(' ', 'audit', actor, verb, count(*)), 7 FROM ax.audit WHERE target LIKE '%/' || $1 OR target LIKE '%/' || $2::text GROUP BY actor, verb`, x.name, x.id)
}

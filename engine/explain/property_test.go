package explain_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/engine/dispatch"
	"axflow/engine/dispatch/board"
	"axflow/engine/explain"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/stage"
)

// seeds is how many random states are looked at.
const seeds = 16

// A task without a reason is a bug: in any state of the tables, whatever is neither with a worker nor over has a closed gate or
// is the next that is handed out. And the reasons are true: what the Board hands out has no closed gate but, maybe, its
// turn, and what is said to be next is handed out.
func TestWhateverWaitsHasAReason(t *testing.T) {
	site := newSite(t)
	w := newWorld(site)
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w.site = site.on(t)
			w.rand = rand.New(rand.NewPCG(seed, 3))
			w.build()
			w.check()
		})
		if t.Failed() {
			return
		}
	}
}

// world is a random state.
type world struct {
	*site
	rand    *rand.Rand
	flows   []flow.Definition
	gpu     flow.Definition
	workers []uuid.UUID
	runs    []uuid.UUID
	graphs  map[uuid.UUID]*flow.Graph
	led     bool
}

func newWorld(s *site) *world {
	w := &world{site: s}
	pull := stage.New("pull", nop)
	recon := shard.New("recon", noPlan, nopShard, stage.Limit(3)).After(pull)
	book := shard.Aligned("book", recon, nopShard)
	report := stage.New("report", nop, stage.WithRule(stage.AllDone)).After(book, pull)
	gpu := flow.New("gpu", shard.New("s", noPlan, nopShard, stage.Requires("gpu"), stage.Retry{MaxAttempts: 5}, stage.Rate{Starts: 4, Per: time.Hour},
		stage.RetryWindow{Retries: 2, Per: time.Hour}))
	setup := stage.New("setup", nop)
	work := stage.New("work", nop, stage.Breaker{}, stage.Downstream("warehouse"), stage.Queue("etl"), stage.Key{From: "params.customer", Limit: 2}).After(setup)
	down := stage.New("down", nop, stage.Teardown(setup)).After(work)
	inside := stage.New("in", nop, stage.Timeout{Overall: time.Hour})
	child := flow.New("child", inside)
	parent := flow.New("parent", flow.Sub("sub", child, inside, func(context.Context, params) (params, error) { return params{}, nil }))
	w.gpu = gpu
	w.flows = []flow.Definition{flow.New("daily", pull, recon, book, report), gpu, flow.New("pair", setup, work, down), child, parent}
	return w
}

func (w *world) chance(percent int) bool { return w.rand.IntN(100) < percent }

func pick[T any](w *world, from ...T) T { return from[w.rand.IntN(len(from))] }

// build writes a state.
func (w *world) build() {
	for _, table := range []string{"lease", "worker", "ready", "flight", "parked", "result", "stage", "run", "child", "expiry", "hold", "circuit", "queue", "rate", "setting", "journal"} {
		w.exec("DELETE FROM ax." + table)
	}
	w.workers, w.runs, w.graphs = nil, nil, map[uuid.UUID]*flow.Graph{}
	if w.led = w.chance(90); w.led {
		w.lead()
	}
	for range w.rand.IntN(4) + w.rand.IntN(2) {
		var can []flow.Definition
		for _, f := range w.flows {
			if w.chance(90) {
				can = append(can, f)
			}
		}
		id := w.worker(1+w.rand.IntN(8), pick(w, nil, []string{"gpu"}), can...)
		if w.chance(15) {
			w.exec(`UPDATE ax.worker SET state = 1 WHERE id = $1`, id)
		}
		w.workers = append(w.workers, id)
	}
	for range 4 + w.rand.IntN(8) {
		w.run(pick(w, w.flows...))
	}
	w.policies()
}

// run writes a run: each stage whose upstreams are decided is released, decided, or still waits for the engine.
func (w *world) run(f flow.Definition) {
	id := w.start(f, control.Start{Level: level(stage.Level(w.rand.IntN(stage.Levels)))})
	g := f.Graph()
	w.runs, w.graphs[id] = append(w.runs, id), g
	w.exec(`DELETE FROM ax.ready WHERE run_id = $1`, id)
	states := make([]stage.StageState, len(g.Stages))
	over := true
	for ord, spec := range g.Stages {
		decided, followed := true, false
		for _, u := range spec.Upstreams {
			decided = decided && states[u].Decided()
		}
		if spec.Kind == stage.Aligned {
			followed = states[spec.AlignedTo] == stage.StageRunning
		}
		switch {
		case (decided || followed) && w.chance(55):
			states[ord] = stage.StageRunning
			if spec.Kind == stage.Sharded && w.chance(30) {
				states[ord] = stage.StagePlanning
			}
		case decided && w.chance(80):
			states[ord] = pick(w, stage.StageSucceeded, stage.StageSucceeded, stage.StageSucceeded, stage.StageSucceeded, stage.StageFailed, stage.StageSkipped, stage.StageUpstreamFailed)
		}
		w.stage(id, ord, &spec, states[ord])
		over = over && states[ord].Decided()
	}
	switch {
	case over && w.chance(50):
		w.exec(`UPDATE ax.run SET state = 10, finished_at = now() WHERE run_id = $1`, id)
	case w.chance(10):
		w.exec(`UPDATE ax.run SET stuck = 'bad_graph' WHERE run_id = $1`, id)
	}
}

// shards of sharded stages.
const shards = 40

func (w *world) stage(run uuid.UUID, ord int, spec *flow.StageSpec, state stage.StageState) {
	total := 1
	if spec.Kind != stage.Single {
		total = shards
	}
	switch state {
	case stage.StageWaiting:
		w.exec(`UPDATE ax.stage SET state = 0, shard_total = NULL WHERE run_id = $1 AND ord = $2`, run, ord)
		return
	case stage.StagePlanning:
		w.clear(run, ord, state, -1)
		w.place(run, ord, spec, "{[-1,0)}", span.Plan)
		return
	case stage.StageRunning:
	default:
		w.clear(run, ord, state, total)
		return
	}
	w.clear(run, ord, state, total)
	for at := 0; at < total; {
		end := min(total, at+1+w.rand.IntN(8))
		if !w.chance(30) { // the others have succeeded
			w.place(run, ord, spec, fmt.Sprintf("{[%d,%d)}", at, end), span.Shards)
		}
		at = end
	}
}

// place puts tasks into one of the tables.
func (w *world) place(run uuid.UUID, ord int, spec *flow.StageSpec, todo string, kind span.Kind) {
	r := row{run: run, ord: ord, todo: todo, kind: kind, attempt: pick(w, 1, 1, 2, 3), delivery: pick(w, 1, 1, 1, 2, 3), queue: spec.Queue,
		level: level(stage.Level(w.rand.IntN(stage.Levels))), ago: time.Duration(w.rand.IntN(120)) * time.Second}
	if spec.Key != nil && kind == span.Shards {
		r.key = "pair/work/" + pick(w, "1", "2", "")
	}
	switch {
	case spec.Child == "" && w.chance(55):
		r.due = pick(w, -time.Minute, -time.Second, -time.Second, time.Hour)
		w.ready(r)
	case w.chance(50):
		r.worker = uuid.New()
		if len(w.workers) > 0 && w.chance(80) {
			r.worker = pick(w, w.workers...)
		}
		w.flight(r)
	default:
		reasons := []span.ParkReason{span.Dead, span.Poison, span.Skipped, span.Cancelled, span.Discarded, span.Expired}
		if spec.Kind == stage.Aligned {
			reasons = []span.ParkReason{span.Aligned, span.Aligned, span.UpstreamFailed}
		}
		if spec.Child != "" {
			reasons = append(reasons, span.Child, span.Child, span.Child)
		}
		r.reason = pick(w, reasons...)
		w.parked(r)
	}
}

// policies pauses, limits, opens and fills.
func (w *world) policies() {
	hold := func(kind, name string) {
		w.exec(`INSERT INTO ax.hold (namespace, kind, name, actor) VALUES ('default', $1, $2, 'kim') ON CONFLICT DO NOTHING`, kind, name)
	}
	if w.chance(20) {
		hold("queue", pick(w, "default", "etl"))
	}
	if w.chance(20) {
		hold("flow", pick(w, w.flows...).Name())
	}
	if w.chance(20) {
		hold("run", pick(w, w.runs...).String())
	}
	for _, c := range [][2]string{{"downstream", "warehouse"}, {"handler", "pair/work"}} {
		if w.chance(40) {
			w.exec(`INSERT INTO ax.circuit (namespace, kind, name, state, until, actor) VALUES ('default', $1, $2, $3, now() + interval '1 h', 'leader/7')`, c[0], c[1],
				pick(w, 0, 1, 2))
		}
	}
	for _, q := range []string{"default", "etl"} {
		if w.chance(30) {
			w.exec(`INSERT INTO ax.queue (namespace, name, capacity, concurrency, depth, pressure, published_at) VALUES ('default', $1, 100, $2, 97, $3, now())`, q,
				pick[any](w, nil, 1, 5), w.rand.IntN(4))
		}
	}
	for _, name := range []string{"rate/default/gpu/s", "retry/default/gpu/s"} {
		if w.chance(40) {
			w.exec(`INSERT INTO ax.rate (name, width_ms, slot, counts, unstarted)
				VALUES ($1, 225000, (extract(epoch FROM now()) * 1000)::bigint / 225000, array_append(array_fill(0, ARRAY[16]), $2::int), 0)`, name, w.rand.IntN(5))
		}
	}
	for _, name := range []string{"aging", "weights", "breaker", "pressure"} {
		if w.chance(10) {
			w.exec(`INSERT INTO ax.setting (name, value) VALUES ($1, 'false')`, name)
		}
	}
}

// check looks at every run, stage and piece.
func (w *world) check() {
	w.t.Helper()
	granted := w.granted()
	for _, run := range w.runs {
		r := w.why(run)
		if r.Diagnosis == "" {
			w.t.Errorf("run %s (%s) has no diagnosis", run, r.State)
		}
		ended := r.State == "succeeded"
		if !ended && len(r.Stages) == 0 && !slices.ContainsFunc(r.Gates, func(g explain.Gate) bool { return !g.Open }) {
			w.t.Errorf("run %s has neither undecided stages nor a closed gate", run)
		}
		for ord, spec := range w.graphs[run].Stages {
			w.checkStage(run, spec.Name, ended)
			w.checkPieces(run, ord, spec.Name, granted)
		}
	}
}

func (w *world) checkStage(run uuid.UUID, name string, ended bool) {
	w.t.Helper()
	r := w.why(run, name)
	where := fmt.Sprintf("stage %s of run %s, %s", name, run, r.State)
	if r.Diagnosis == "" {
		w.t.Errorf("%s has no diagnosis", where)
	}
	state, err := stage.ParseStageState(r.State)
	if err != nil {
		w.t.Fatal(err)
	}
	shut := slices.ContainsFunc(r.Gates, func(g explain.Gate) bool { return !g.Open })
	if state == stage.StageWaiting && !shut && !ended {
		w.t.Errorf("%s has no closed gate: %+v", where, r.Gates)
	}
	tasks, alive := 0, 0
	for _, g := range r.Groups {
		tasks += g.Tasks
		switch g.Fate {
		case explain.FateSucceeded:
		case explain.FateInFlight:
			alive++
		case explain.FateReady, explain.FateDelayed, explain.FateRetrying, explain.FateAligned, explain.FateChild:
			alive++
			if !g.Blocked() && !g.NextGrant() {
				w.t.Errorf("%s: %d tasks %s wait without a reason: %+v", where, g.Tasks, g.Fate, g.Gates)
			}
		default:
			if !g.Blocked() {
				w.t.Errorf("%s: %d tasks are %s without a reason", where, g.Tasks, g.Fate)
			}
		}
		if g.Diagnosis == "" {
			w.t.Errorf("%s: a group of %s has no diagnosis", where, g.Fate)
		}
	}
	var total *int
	if err := w.pool.QueryRow(w.ctx, `SELECT shard_total FROM ax.stage s WHERE run_id = $1 AND ord = $2`, run, w.ordOf(run, name)).Scan(&total); err != nil {
		w.t.Fatal(err)
	}
	if total != nil && state == stage.StageRunning && tasks != *total {
		w.t.Errorf("%s: its groups have %d tasks, it has %d", where, tasks, *total)
	}
	if state == stage.StageRunning && alive == 0 && !shut {
		w.t.Errorf("%s: nothing of it is to run, and nothing says what it waits for", where)
	}
}

func (w *world) ordOf(run uuid.UUID, name string) int {
	ord, ok := w.graphs[run].Ord(name)
	if !ok {
		w.t.Fatalf("no stage %s", name)
	}
	return ord
}

// granted are the spans that a dispatcher would hand out next.
func (w *world) granted() map[uuid.UUID]bool {
	w.t.Helper()
	q := db.New(w.pool)
	now, err := q.Now(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	v, err := dispatch.ReadBoard(w.ctx, q, w.versions, now, dispatch.ViewOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	out := make(map[uuid.UUID]bool)
	for _, g := range v.Round(now, 10_000) {
		out[g.Span] = true
	}
	return out
}

// checkPieces explains the first task of every ready row, and compares with what the Board does.
func (w *world) checkPieces(run uuid.UUID, ord int, name string, granted map[uuid.UUID]bool) {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, `SELECT id, lower(todo) FROM ax.ready WHERE run_id = $1 AND ord = $2`, run, ord)
	if err != nil {
		w.t.Fatal(err)
	}
	type piece struct {
		id    uuid.UUID
		first int
	}
	var pieces []piece
	for rows.Next() {
		var p piece
		if err := rows.Scan(&p.id, &p.first); err != nil {
			w.t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	for _, p := range pieces {
		r := w.why(run, name, p.first)
		next := true
		for _, g := range r.Gates {
			next = next && g.Open
			if !g.Open && g.Name != board.GateTurn && granted[p.id] && w.led && g.Name != explain.GateBudget {
				w.t.Errorf("task %d of stage %s of run %s is handed out next, but gate %s is closed: %s", p.first, name, run, g.Name, g.Reason)
			}
		}
		if next && !granted[p.id] {
			w.t.Errorf("task %d of stage %s of run %s is said to be next, but is not handed out: %+v", p.first, name, run, r.Gates)
		}
	}
}

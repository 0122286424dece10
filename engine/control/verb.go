package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/hint"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// Who says who acts and why: the run's journal and the audit keep it. Every verb takes one.
type Who struct {
	Actor  string
	Reason string
	// DryRun makes a verb a question: it does all it would do, under the same locks, and takes it back, so that its touches
	// are exactly those that the verb would have at this moment, and its error the one that it would have. Nothing is
	// written, and nobody is told.
	DryRun bool
}

// errDry takes a dry run back.
var errDry = errors.New("dry run")

// deed is one verb's transaction on one run, which it has locked.
type deed struct {
	tx      pgx.Tx
	q       *db.Queries
	run     db.LockRunRow
	v       *versions.Version
	stages  []db.LockAllStagesRow // by ord, once locked
	flights []db.LockFlightsRow   // once locked

	touched  []Touch
	detail   map[string]any     // for journal and audit
	entries  []span.Entry       // further lines of the journal, of kind entryKind
	retire   map[int16]bool     // stages that may be decided now
	news     hint.Engine        // for the engine, after the commit
	workers  map[uuid.UUID]bool // to be told, after the commit
	children []uuid.UUID        // runs to cancel, after the commit
}

// rerunShard is the kind of the journal's entries that say which succeeded shards run again: the history checker asks
// for them.
const rerunShard = "rerun_shard"

// act runs one verb on one run: run, flights and stages are locked in this order, the stages that the verb left with
// nothing to do are decided, and journal and audit are written, all in one transaction. A verb that touches nothing leaves
// no trace. Then those who are concerned are told.
func (c *Client) act(ctx context.Context, id uuid.UUID, verb, stageName string, who Who, do func(context.Context, *deed) error) ([]Touch, *deed, error) {
	if err := who.check(); err != nil {
		return nil, nil, err
	}
	d := &deed{retire: make(map[int16]bool), workers: make(map[uuid.UUID]bool), detail: make(map[string]any)}
	err := pgx.BeginTxFunc(ctx, c.cfg.Pool, pgx.TxOptions{BeginQuery: "begin; " + span.BoundIdle}, func(tx pgx.Tx) error {
		if err := d.begin(ctx, tx, c.cfg.Versions, id, c.cfg.Namespace); err != nil {
			return err
		}
		if err := do(ctx, d); err != nil {
			return err
		}
		return d.end(ctx, verb, stageName, who)
	})
	if err != nil && !errors.Is(err, errDry) {
		return nil, nil, err
	}
	if err == nil {
		c.tell(d)
	}
	return d.touched, d, nil
}

// begin locks the run and reads its version.
func (d *deed) begin(ctx context.Context, tx pgx.Tx, cache *versions.Cache, id uuid.UUID, namespace string) error {
	d.tx, d.q = tx, db.New(tx)
	run, err := d.q.LockRun(ctx, db.LockRunParams{RunID: id, Namespace: namespace})
	if errors.Is(err, pgx.ErrNoRows) {
		return notFound(id)
	}
	if err != nil {
		return fmt.Errorf("locking run %s: %w", id, err)
	}
	d.run = run
	if d.v, err = cache.Get(ctx, d.q, run.VersionID); err != nil {
		return err
	}
	return nil
}

// lock locks the run's flights, then its stages.
func (d *deed) lock(ctx context.Context) (err error) {
	if d.flights, err = d.q.LockFlights(ctx, d.run.RunID); err != nil {
		return fmt.Errorf("locking the flights of run %s: %w", d.run.RunID, err)
	}
	if d.stages, err = d.q.LockAllStages(ctx, d.run.RunID); err != nil {
		return fmt.Errorf("locking the stages of run %s: %w", d.run.RunID, err)
	}
	return nil
}

// end decides what can be decided, and writes who did it.
func (d *deed) end(ctx context.Context, verb, stageName string, who Who) error {
	if len(d.touched) == 0 {
		return errDry // nothing was done: nothing to commit
	}
	if len(d.retire) > 0 {
		keys := make([]span.StageKey, 0, len(d.retire))
		for ord := range d.retire {
			keys = append(keys, span.StageKey{Run: d.run.RunID, Ord: ord})
		}
		decided, err := span.Retire(ctx, d.tx, keys, nil)
		if err != nil {
			return err
		}
		for _, x := range decided {
			d.news.Stages = append(d.news.Stages, x.StageKey)
		}
	}
	if who.DryRun {
		return errDry
	}
	target := "run/" + d.run.RunID.String()
	if stageName != "" {
		target += "/" + stageName
		d.detail["stage"] = stageName
	}
	if err := audit(ctx, d.q, d.run.Namespace, verb, target, who, d.detail); err != nil {
		return err
	}
	if who.Reason != "" {
		d.detail["reason"] = who.Reason
	}
	if err := span.Write(ctx, d.q, verb, who.Actor, []span.Entry{{Run: d.run.RunID, Ord: -1, Detail: d.detail}}); err != nil {
		return fmt.Errorf("writing the journal of run %s: %w", d.run.RunID, err)
	}
	if len(d.entries) > 0 {
		if err := span.Write(ctx, d.q, rerunShard, who.Actor, d.entries); err != nil {
			return fmt.Errorf("writing the journal of run %s: %w", d.run.RunID, err)
		}
	}
	return nil
}

// tell is what follows a verb's commit.
func (c *Client) tell(d *deed) {
	d.news.Runs = append(d.news.Runs, d.run.RunID)
	c.cfg.Bus.ToEngine(d.news)
	for _, id := range slices.Collect(maps.Keys(d.workers)) {
		c.cfg.Bus.ToWorker(id, hint.Worker{Asks: true})
	}
}

// audit writes who did what, in the transaction of the act.
func audit(ctx context.Context, q *db.Queries, namespace, verb, target string, who Who, detail map[string]any) error {
	p := db.InsertAuditParams{Namespace: namespace, ID: uuid.Must(uuid.NewV7()), Actor: who.Actor, Verb: verb, Target: target, Reason: who.Reason}
	if len(detail) > 0 {
		text, err := json.Marshal(detail)
		if err != nil {
			return fmt.Errorf("encoding what %s did: %w", verb, err)
		}
		p.Detail = text
	}
	if err := q.InsertAudit(ctx, p); err != nil {
		return fmt.Errorf("writing the audit of %s: %w", verb, err)
	}
	return nil
}

// ord finds a stage by name.
func (d *deed) ord(stageName string) (int16, error) {
	ord, ok := d.v.Graph.Ord(stageName)
	if !ok {
		return 0, &Error{Code: CodeNotFound, Text: fmt.Sprintf("flow %s version %s has no stage %q", d.v.Flow, d.v.Hash, stageName)}
	}
	return int16(ord), nil
}

// steer finds a stage of a run that is not being cancelled, and locks the run's flights and stages.
func (d *deed) steer(ctx context.Context, stageName string) (ord int16, err error) {
	if ord, err = d.ord(stageName); err != nil {
		return 0, err
	}
	if err = d.notCancelling(); err != nil {
		return 0, err
	}
	return ord, d.lock(ctx)
}

func (d *deed) name(ord int16) string { return d.v.Graph.Stages[ord].Name }

func (d *deed) state(ord int16) stage.StageState { return stage.StageState(d.stages[ord].State) }

func (d *deed) touch(ord int16, set shard.Set, format string, args ...any) {
	t := Touch{Run: d.run.RunID, Ord: int(ord), Indices: set, What: fmt.Sprintf(format, args...)}
	if ord >= 0 {
		t.Stage = d.name(ord)
	}
	d.touched = append(d.touched, t)
}

func (d *deed) conflict(format string, args ...any) error {
	return &Error{Code: CodeConflict, Text: fmt.Sprintf(format, args...)}
}

// notCancelling refuses what makes no sense while the run drains.
func (d *deed) notCancelling() error {
	if stage.RunState(d.run.State) == stage.RunCancelling {
		return d.conflict("run %s is being cancelled: wait for its end, then rerun what is wanted", d.run.RunID)
	}
	return nil
}

// take takes indices of a stage, and remembers whose workers must hear of it.
func (d *deed) take(ctx context.Context, ord int16, set shard.Set, ready, flights bool, parked ...span.ParkReason) ([]span.Took, error) {
	took, err := span.Take(ctx, d.tx, span.Want{StageKey: d.key(ord), Generation: d.stages[ord].Generation, Set: set,
		Ready: ready, Flights: flights, Parked: parked})
	if err != nil {
		return nil, fmt.Errorf("stage %s of run %s: %w", d.name(ord), d.run.RunID, err)
	}
	for _, t := range took {
		if t.Worker != uuid.Nil {
			d.workers[t.Worker] = true
			d.news.Left = append(d.news.Left, hint.Left{Flight: t.ID, Left: t.Left})
		}
	}
	return took, nil
}

// put gives indices of a stage their places.
func (d *deed) put(ctx context.Context, ord int16, puts []span.Put) error {
	ready, err := span.PutAll(ctx, d.tx, d.key(ord), d.stages[ord].Generation, d.state(ord), puts)
	if err != nil {
		return fmt.Errorf("stage %s of run %s: %w", d.name(ord), d.run.RunID, err)
	}
	d.news.Ready = append(d.news.Ready, ready...)
	return nil
}

func (d *deed) key(ord int16) span.StageKey { return span.StageKey{Run: d.run.RunID, Ord: ord} }

// reopenStage puts a stage back to work in its generation, and raises how many attempts its shards have. A stage that runs
// only gets the attempts.
func (d *deed) reopenStage(ctx context.Context, ord int16, to stage.StageState, attempts int) error {
	s := &d.stages[ord]
	if from := d.state(ord); from != to && !from.CanMove(to) {
		return d.conflict("stage %s of run %s is %s: rerun it instead", d.name(ord), d.run.RunID, from)
	}
	if err := d.q.RaiseAttempts(ctx, db.RaiseAttemptsParams{MaxAttempts: int16(min(attempts, 30_000)), State: int16(to), RunID: d.run.RunID, Ord: ord,
		Generation: s.Generation, FromStates: []int16{s.State}}); err != nil {
		return fmt.Errorf("opening stage %s of run %s again: %w", d.name(ord), d.run.RunID, err)
	}
	s.State = int16(to)
	d.retire[ord] = true
	return d.reopenRun(ctx)
}

// setOf is the union of what was taken.
func setOf(took []span.Took) shard.Set {
	var all shard.Set
	for _, t := range took {
		all = all.Union(t.Set)
	}
	return all
}

// some names a set for people, cut where it is long.
func some(set shard.Set) string {
	text := set.String()
	if len(text) > 120 {
		text = text[:120] + "…"
	}
	return fmt.Sprintf("%s (%d)", text, set.Len())
}

func numbers[S ~int16](states []S) []int16 {
	out := make([]int16, len(states))
	for i, s := range states {
		out[i] = int16(s)
	}
	return out
}

func sets(texts []string) (shard.Set, error) {
	var all shard.Set
	for _, t := range texts {
		s, err := shard.ParseSet(t)
		if err != nil {
			return all, fmt.Errorf("reading a set of indices: %w", err)
		}
		all = all.Union(s)
	}
	return all, nil
}

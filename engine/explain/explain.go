// Package explain says why a run, a stage or a task is not running, or why it ran and how often. It asks the very
// functions that dispatch and resolve decide with: a Board made from the tables, and flow.Resolve. It reads only, in one
// transaction, so that what it says was true at one moment.
package explain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"axflow/engine/control"
	"axflow/sql/db"
	"axflow/sql/versions"
	"axflow/stage"
)

// Source is where the answer comes from. It is safe for concurrent use.
type Source struct {
	Pool *pgxpool.Pool
	// Versions may be shared with other parts of the process. Default: a cache for this call.
	Versions *versions.Cache
	// Namespace that the run must belong to.
	Namespace string
}

// How much is looked at one by one; totals count everything.
const (
	mostBrief   = 3      // rows of a sort, of a run's stages
	mostFull    = 40     // rows of a sort, of one stage
	mostStages  = 50     // undecided stages of a run
	mostResults = 20     // results of a task
	mostWork    = 10_000 // results of a stage
	mostActs    = 20     // journal entries
	mostErrors  = 10     // groups of dead tasks by error
)

// Explain reports on a run, a stage or a task, as the database shows them at one moment. A run, a stage or an index that
// does not exist is a *control.Error with CodeNotFound.
func Explain(ctx context.Context, from Source, t Target) (*Report, error) {
	if from.Versions == nil {
		from.Versions = versions.New()
	}
	if t.Shard != nil && t.Stage == "" {
		return nil, &control.Error{Code: control.CodeInvalid, Text: fmt.Sprintf("index %d of no stage: name the stage", *t.Shard)}
	}
	var report *Report
	err := pgx.BeginTxFunc(ctx, from.Pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		s := &session{tx: tx, q: db.New(tx), from: from}
		x, err := s.scene(ctx, t)
		if err != nil {
			return err
		}
		report, err = x.report(ctx, t)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("explaining run %s: %w", t.Run, err)
	}
	return report, nil
}

// session is one call: one transaction, and what several runs share.
type session struct {
	tx    pgx.Tx
	q     *db.Queries
	from  Source
	books *books
	depth int // of sub-flows' runs
}

// report tells of what the target names.
func (x *scene) report(ctx context.Context, t Target) (*Report, error) {
	if t.Stage == "" {
		return x.ofRun(ctx)
	}
	if t.Shard == nil {
		r := x.ofStage(x.ord, true)
		if err := x.stagePast(ctx, &r); err != nil {
			return nil, err
		}
		if err := x.adoptChild(ctx, &r); err != nil {
			return nil, err
		}
		return &r, nil
	}
	return x.ofTask(ctx, *t.Shard)
}

// head is what every report of the run begins with.
func (x *scene) head() Report {
	return Report{Run: x.run.RunID, Flow: x.run.Flow, At: x.now}
}

func notFound(format string, args ...any) error {
	return &control.Error{Code: control.CodeNotFound, Text: fmt.Sprintf(format, args...)}
}

// taskKey names a task of the run.
type taskKey struct {
	ord, generation int16
	shard           int32
}

// scene is a run as it stands.
type scene struct {
	*session
	now      time.Time
	run      db.WhyRunRow
	state    stage.RunState
	version  *versions.Version // nil: this binary cannot read it
	lease    *db.WhyLeaseRow
	ord      int  // of the stage that is asked for; -1: all
	shard    *int // of the task that is asked for
	stages   []standing
	errors   map[taskKey]db.WhyErrorsRow
	children map[taskKey]uuid.UUID
	holds    map[[2]string]db.WhyHoldsRow
	circuits map[[2]string]db.WhyCircuitsRow
	queues   map[string]db.WhyQueuesRow
}

// standing is one stage: its row, and the rows of its tasks.
type standing struct {
	row     db.WhyStagesRow
	state   stage.StageState
	ready   []db.WhyReadyRow
	flights []db.WhyFlightsRow
	parked  []db.WhyParkedRow
}

// scene reads a run, with the rows of all its stages, of one, or of one task.
func (s *session) scene(ctx context.Context, t Target) (*scene, error) {
	run, err := s.q.WhyRun(ctx, t.Run)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && run.Namespace != s.from.Namespace {
		return nil, notFound("there is no run %s here", t.Run)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the run: %w", err)
	}
	x := &scene{session: s, now: run.Now, run: run, state: stage.RunState(run.State), ord: -1, shard: t.Shard}
	if x.version, err = s.from.Versions.Get(ctx, s.q, run.VersionID); err != nil && !s.from.Versions.Unreadable(err) {
		return nil, err
	}
	if t.Stage != "" {
		if x.version == nil {
			return nil, &control.Error{Code: control.CodeConflict, Text: fmt.Sprintf("the version of flow %s that the run is pinned to cannot be read by this binary: explain the run without a stage, or use the newer one", run.Flow)}
		}
		ord, ok := x.version.Graph.Ord(t.Stage)
		if !ok {
			return nil, notFound("flow %s version %s has no stage %q", x.version.Flow, x.version.Hash, t.Stage)
		}
		x.ord = ord
	}
	if err := x.readPolicies(ctx); err != nil {
		return nil, err
	}
	if err := x.readStages(ctx, t); err != nil {
		return nil, err
	}
	for i := range x.stages {
		if len(x.stages[i].ready) > 0 && x.version != nil {
			return x, x.open(ctx, x.now)
		}
	}
	return x, nil
}

// Package history checks what AX promises against what a database holds: no index lost or finished twice, no
// work on decided stages, counts that equal rows, epochs that never step back, what flow control must keep, nothing
// satisfied that still waits. Fault tests run it after every fault; `ax doctor` runs it on any database.
package history

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/flow"
	"axflow/sql/db"
	"axflow/stage"
)

// Violation is one broken promise.
type Violation struct {
	Rule   string    // which promise
	Run    uuid.UUID // zero where it concerns no run
	Detail string    // the rows that break it
}

func (v Violation) String() string { return fmt.Sprintf("%s: run %s: %s", v.Rule, v.Run, v.Detail) }

// Options say what more is to be true than what must hold at any moment.
type Options struct {
	Lease string        // the leader's lease name; default "leader"
	Ended bool          // every run has ended: nothing runs any more
	Grace time.Duration // how long a satisfied stage may wait before it counts; default 2 s
}

// Check reads the database once, in one repeatable-read transaction, and returns every violation it finds, at
// most 100 of a kind. No violation and a nil error is the right answer. It only reads; on a large database it
// reads all results, so it takes its time.
func Check(ctx context.Context, conn interface {
	BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
}, opts Options) ([]Violation, error) {
	if opts.Lease == "" {
		opts.Lease = "leader"
	}
	if opts.Grace == 0 {
		opts.Grace = 2 * time.Second
	}
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("beginning the check: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	// What AX's own sessions turn off suits reading whole tables best.
	const plain = "SET LOCAL enable_seqscan = on; SET LOCAL enable_nestloop = on; SET LOCAL plan_cache_mode = auto"
	if _, err := tx.Exec(ctx, plain); err != nil {
		return nil, fmt.Errorf("preparing the check: %w", err)
	}
	c := &checker{q: db.New(tx), opts: opts}
	for _, rule := range []func(context.Context) error{c.identity, c.finishes, c.counts, c.work, c.runs, c.epochs, c.policies, c.waiting} {
		if err := rule(ctx); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

type checker struct {
	q     *db.Queries
	opts  Options
	found []Violation
}

func (c *checker) add(rule string, run uuid.UUID, format string, args ...any) {
	c.found = append(c.found, Violation{rule, run, fmt.Sprintf(format, args...)})
}

func (c *checker) identity(ctx context.Context) error {
	rows, err := c.q.BrokenIdentity(ctx)
	if err != nil {
		return fmt.Errorf("checking the identity: %w", err)
	}
	for _, r := range rows {
		c.add("every shard in exactly one place", r.RunID, "stage %d generation %d: total %d, held %d, succeeded %d, miscounted %t",
			r.Ord, r.Generation, r.ShardTotal, r.Held, r.Won, r.Miscounted)
	}
	return nil
}

func (c *checker) finishes(ctx context.Context) error {
	rows, err := c.q.DoubleFinishes(ctx)
	if err != nil {
		return fmt.Errorf("checking for double finishes: %w", err)
	}
	for _, r := range rows {
		c.add("one finish a shard", r.RunID, "stage %d generation %d shard %d finished %d times", r.Ord, r.Generation, r.Shard, r.Finishes)
	}
	order, err := c.q.AttemptsOutOfOrder(ctx)
	if err != nil {
		return fmt.Errorf("checking the order of attempts: %w", err)
	}
	for _, r := range order {
		c.add("one owner at a time", r.RunID, "stage %d generation %d shard %d: attempt %d delivery %d overlaps a later one",
			r.Ord, r.Generation, r.Shard, r.Attempt, r.Delivery)
	}
	return nil
}

func (c *checker) counts(ctx context.Context) error {
	rows, err := c.q.WrongFinalCounts(ctx)
	if err != nil {
		return fmt.Errorf("checking final counts: %w", err)
	}
	for _, r := range rows {
		c.add("stored counts equal rows", r.RunID,
			"stage %d generation %d: stored %d/%d/%d/%d, rows %d/%d/%d/%d (succeeded/failed/cancelled/skipped)",
			r.Ord, r.Generation, r.Succeeded, r.Failed, r.Cancelled, r.Skipped, r.Won, r.Dead, r.ParkedCancelled, r.ParkedSkipped)
	}
	return nil
}

func (c *checker) work(ctx context.Context) error {
	rows, err := c.q.DecidedWithWork(ctx)
	if err != nil {
		return fmt.Errorf("checking for work on decided stages: %w", err)
	}
	for _, r := range rows {
		c.add("no work on decided stages", r.RunID, "stage %d generation %d is %s and has a %s row", r.Ord, r.Generation,
			stage.StageState(r.State), r.Place)
	}
	return nil
}

func (c *checker) policies(ctx context.Context) error {
	rows, err := c.q.BrokenPolicies(ctx, c.opts.Grace.Seconds())
	if err != nil {
		return fmt.Errorf("checking flow control: %w", err)
	}
	for _, r := range rows {
		c.add(r.Rule, r.RunID, "stage %d: %s", r.Ord, r.Detail)
	}
	return nil
}

func (c *checker) runs(ctx context.Context) error {
	open, err := c.q.OpenStagesOfEndedRuns(ctx)
	if err != nil {
		return fmt.Errorf("checking ended runs: %w", err)
	}
	for _, r := range open {
		c.add("ended runs have decided stages", r.RunID, "stage %d is %s, the run %s", r.Ord, stage.StageState(r.State), stage.RunState(r.RunState))
	}
	odd, err := c.q.EndedRunsWithoutEnd(ctx)
	if err != nil {
		return fmt.Errorf("checking run states: %w", err)
	}
	for _, r := range odd {
		c.add("an ended run has an end", r.RunID, "state %s", stage.RunState(r.State))
	}
	return nil
}

func (c *checker) epochs(ctx context.Context) error {
	back, err := c.q.EpochsOutOfOrder(ctx)
	if err != nil {
		return fmt.Errorf("checking epochs: %w", err)
	}
	for _, r := range back {
		c.add("epochs never step back", uuid.Nil, "lease %s: epoch %d at %s, epoch %d at %s", r.Name, r.Epoch, r.AcquiredAt, r.LaterEpoch, r.LaterAt)
	}
	stale, err := c.q.StaleHandouts(ctx, c.opts.Lease)
	if err != nil {
		return fmt.Errorf("checking hand-outs: %w", err)
	}
	for _, r := range stale {
		c.add("a stale leader writes nothing", r.RunID, "stage %d shard %d: epoch %d handed out at %s, epoch %d began %s", r.Ord, r.Shard,
			r.Epoch, r.DispatchedAt, r.NewerEpoch, r.AcquiredAt)
	}
	return nil
}

// waiting asks flow.Resolve, the one place that knows the rules, about every open run.
func (c *checker) waiting(ctx context.Context) error {
	const page = 500
	graphs := make(map[int32]*flow.Graph)
	var now time.Time
	after := uuid.Nil
	for {
		rows, err := c.q.UnfinishedRuns(ctx, db.UnfinishedRunsParams{After: after, Most: page})
		if err != nil {
			return fmt.Errorf("reading open runs: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		after = rows[len(rows)-1].RunID
		ids := make([]uuid.UUID, len(rows))
		for i, r := range rows {
			ids[i] = r.RunID
			if c.opts.Ended {
				c.add("every run ends", r.RunID, "state %s, stuck %q", stage.RunState(r.State), r.Stuck)
			}
		}
		if now.IsZero() {
			if now, err = c.q.Now(ctx); err != nil {
				return fmt.Errorf("reading the clock: %w", err)
			}
		}
		if err := c.satisfied(ctx, ids, graphs, now); err != nil {
			return err
		}
	}
}

func (c *checker) satisfied(ctx context.Context, ids []uuid.UUID, graphs map[int32]*flow.Graph, now time.Time) error {
	heads, err := c.q.RunHeads(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading runs: %w", err)
	}
	stages, err := c.q.StagesOf(ctx, ids)
	if err != nil {
		return fmt.Errorf("reading stages: %w", err)
	}
	status := make(map[uuid.UUID]map[int]flow.Status, len(ids))
	newest := make(map[uuid.UUID]time.Time, len(ids))
	for _, s := range stages {
		m := status[s.RunID]
		if m == nil {
			m = make(map[int]flow.Status)
			status[s.RunID] = m
		}
		m[int(s.Ord)] = flow.Status{State: stage.StageState(s.State), Planned: s.ShardTotal >= 0, Total: int(max(s.ShardTotal, 0))}
		if s.FinishedAt != nil && s.FinishedAt.After(newest[s.RunID]) {
			newest[s.RunID] = *s.FinishedAt
		}
	}
	for _, h := range heads {
		if now.Sub(newest[h.RunID]) < c.opts.Grace {
			continue
		}
		g := graphs[h.VersionID]
		if g == nil {
			v, err := c.q.Version(ctx, h.VersionID)
			if err != nil {
				return fmt.Errorf("reading flow version %d: %w", h.VersionID, err)
			}
			if g, err = flow.ParseGraph(v.Graph); err != nil {
				c.add("graphs can be read", h.RunID, "version %d: %v", h.VersionID, err)
				continue
			}
			graphs[h.VersionID] = g
		}
		look := func(ord int) (flow.Status, bool) { s, ok := status[h.RunID][ord]; return s, ok }
		decide := flow.Resolve
		if stage.RunState(h.State) == stage.RunCancelling {
			decide = flow.ResolveCancelling
		}
		for _, d := range decide(g, look, nil) {
			c.add("nothing satisfied waits", h.RunID, "stage %d could be decided (%v) since %s", d.Ord, d.Act, newest[h.RunID])
		}
		if state, over := flow.Outcome(g, look); over {
			c.add("nothing satisfied waits", h.RunID, "every stage is decided, the run should be %s since %s", state, newest[h.RunID])
		}
	}
	return nil
}

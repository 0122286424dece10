package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	axsql "axflow/sql"
)

// past gives the sandbox a past: copies of runs that have ended, at times of the days before, and the throughput that goes with
// them. Nothing else makes old runs, so this writes them to the tables.
func (c *content) past(ctx context.Context, size string) error {
	copies, days := 160, 2
	if size == "huge" {
		copies, days = 20_000, 6
	}
	pool := c.p.Pool()
	var now time.Time
	if err := pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return fmt.Errorf("reading the database's clock: %w", err)
	}
	for d := range days + 1 {
		if err := axsql.EnsurePartitions(ctx, pool, now.AddDate(0, 0, -d), 0); err != nil {
			return err
		}
	}
	// Small runs only: a copy of one of 2,000 shards would say no more.
	rows, err := pool.Query(ctx, `SELECT r.run_id FROM ax.run r WHERE r.finished_at IS NOT NULL AND r.flow IN ('daily-recon', 'billing', 'onboarding', 'wide')
		AND NOT EXISTS (SELECT 1 FROM ax.child c WHERE c.parent_run = r.run_id OR c.child_run = r.run_id) ORDER BY r.run_id`)
	if err != nil {
		return fmt.Errorf("looking for runs to copy: %w", err)
	}
	models, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(models) == 0 {
		return fmt.Errorf("looking for runs to copy, of %d: %w", len(models), err)
	}
	from, to := make(map[uuid.UUID][]uuid.UUID), make(map[uuid.UUID][]float64)
	for i := range copies {
		model := models[c.rnd.IntN(len(models))]
		// More by day than by night, and none so young that it could be taken for new.
		ago := time.Duration(float64(days)*24*float64(time.Hour)*(float64(i)+c.rnd.Float64())/float64(copies)) + 2*time.Minute
		from[model] = append(from[model], idAt(now.Add(-ago), c.rnd))
		to[model] = append(to[model], ago.Seconds())
	}
	for _, model := range models {
		if err := c.copyRun(ctx, model, from[model], to[model], size == "small"); err != nil {
			return fmt.Errorf("copying run %s: %w", model, err)
		}
	}
	return c.pastThroughput(ctx, now)
}

// idAt is a run's id of a time.
func idAt(at time.Time, rnd *rand.Rand) uuid.UUID {
	id := axsql.DayBound(at)
	for i := 6; i < 16; i++ {
		id[i] = byte(rnd.Uint32())
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id
}

// copyRun copies a run to other ids, each so many seconds earlier, with its stages, and its results where they are few.
func (c *content) copyRun(ctx context.Context, model uuid.UUID, ids []uuid.UUID, ago []float64, results bool) error {
	statements := []string{
		`INSERT INTO ax.run (run_id, version_id, state, level, version, created_at, finished_at, deadline, namespace, flow, queue, trigger, params, tags)
		 SELECT k.id, r.version_id, r.state, r.level, r.version, r.created_at - k.ago, r.finished_at - k.ago, r.deadline - k.ago, r.namespace, r.flow, r.queue,
		        (ARRAY['api', 'cli', 'page'])[1 + k.i % 3], r.params, r.tags FROM ax.run r, k WHERE r.run_id = $1`,
		`INSERT INTO ax.stage (run_id, ord, generation, state, shard_total, succeeded, failed, skipped, cancelled, since, ready_at, finished_at, reason)
		 SELECT k.id, s.ord, s.generation, s.state, s.shard_total, s.succeeded, s.failed, s.skipped, s.cancelled, s.since - k.ago, s.ready_at - k.ago,
		        s.finished_at - k.ago, s.reason FROM ax.stage s, k WHERE s.run_id = $1`,
	}
	// What was dead was given up: the dead letters are those of today.
	statements = append(statements, `INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level,
	        reason, namespace, queue, todo, fingerprint)
		 SELECT gen_random_uuid(), k.id, p.parked_at - k.ago, p.ready_at - k.ago, p.version_id, p.n, p.ord, p.generation, p.kind, p.attempt, p.delivery, p.losses, p.level,
		        9, p.namespace, p.queue, p.todo, p.fingerprint FROM ax.parked p, k WHERE p.run_id = $1`)
	if results {
		statements = append(statements, `INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord,
		        generation, attempt, delivery, outcome, output, error)
		 SELECT k.id, r.worker_id, r.execution_id, r.ready_at - k.ago, r.dispatched_at - k.ago, r.started_at - k.ago, r.finished_at - k.ago, r.shard, r.epoch, r.ord,
		        r.generation, r.attempt, r.delivery, r.outcome, r.output, r.error FROM ax.result r, k WHERE r.run_id = $1`)
	}
	const k = `WITH k AS (SELECT x.id, x.i, make_interval(secs => x.ago) AS ago FROM unnest($2::uuid[], $3::float8[]) WITH ORDINALITY AS x (id, ago, i)) `
	for _, s := range statements {
		if _, err := c.p.Pool().Exec(ctx, k+s, model, ids, ago); err != nil {
			return err
		}
	}
	return nil
}

// pastThroughput is what would have been counted in the last day: a wave with the hours, and some noise.
func (c *content) pastThroughput(ctx context.Context, now time.Time) error {
	_, err := c.p.Pool().Exec(ctx, `INSERT INTO ax.throughput (namespace, kind, minute, queue, source, started, succeeded, failed)
		SELECT 'default', kind, minute, CASE kind WHEN 0 THEN 'default' ELSE '' END, '00000000-0000-0000-0000-000000000000', n, n - n / 40, n / 40
		FROM (SELECT kind, minute, (CASE kind WHEN 0 THEN 260 ELSE 4 END * (1.4 + sin(extract(epoch FROM minute) / 13750)
		             + 0.5 * sin(extract(epoch FROM minute) / 700) + 0.3 * sin(extract(epoch FROM minute) / 61)))::bigint AS n
		      FROM generate_series(0, 1) AS kind, generate_series(date_trunc('minute', $1::timestamptz) - interval '24 hours', date_trunc('minute', $1::timestamptz) - interval '1 minute', '1 minute') AS minute) x
		ON CONFLICT DO NOTHING`, now)
	if err != nil {
		return fmt.Errorf("writing the throughput of the past: %w", err)
	}
	return nil
}

-- What engine/explain reads, in one read-only transaction. Every statement is bounded: of a stage with many rows it
-- reads some of each sort, with the sort's totals beside them.

-- name: WhyRun :one
SELECT run_id, version_id, state, level, forced_level, created_at, finished_at, deadline, namespace, flow, queue, trigger,
       stuck, error, clock_timestamp()::timestamptz AS now
FROM ax.run WHERE run_id = @run_id;

-- name: WhyLease :one
SELECT epoch, holder, expires_at, renewed_at FROM ax.lease WHERE name = @name;

-- name: WhyStages :many
SELECT s.ord, s.generation, s.state, s.max_attempts, s.shard_total, s.succeeded, s.failed, s.skipped, s.cancelled, s.since,
       s.ready_at, s.finished_at, s.reason, s.key, s.tolerate, s.verdict, e.expires_at
FROM ax.stage s
LEFT JOIN ax.expiry e ON e.run_id = s.run_id AND e.ord = s.ord AND e.generation = s.generation
WHERE s.run_id = @run_id
ORDER BY s.ord;

-- name: WhyReady :many
-- Ready rows by sort: stage, kind, first attempt or retry, due or not. The first rows of each sort, with its totals.
SELECT x.id, x.run_id, x.not_before, x.ready_at, x.version_id, x.n, x.ord, x.generation, x.kind, x.attempt, x.delivery, x.losses,
       x.level, x.namespace, x.queue, coalesce(x.key, '')::text AS key, lower(x.todo)::int AS first, left(x.todo::text, 120)::text AS todo,
       x.due::bool AS due, x.all_rows::int AS all_rows, x.all_tasks::int AS all_tasks, x.last_due::timestamptz AS last_due
FROM (SELECT r.id, r.run_id, r.not_before, r.ready_at, r.version_id, r.n, r.ord, r.generation, r.kind, r.attempt, r.delivery,
             r.losses, r.level, r.namespace, r.queue, r.key, r.todo, r.not_before <= @now::timestamptz AS due,
             row_number() OVER (PARTITION BY r.ord, r.kind, r.attempt > 1, r.not_before <= @now::timestamptz
                                ORDER BY r.not_before, r.id) AS place,
             count(*) OVER (PARTITION BY r.ord, r.kind, r.attempt > 1, r.not_before <= @now::timestamptz) AS all_rows,
             sum(r.n) OVER (PARTITION BY r.ord, r.kind, r.attempt > 1, r.not_before <= @now::timestamptz) AS all_tasks,
             max(r.not_before) OVER (PARTITION BY r.ord, r.kind, r.attempt > 1, r.not_before <= @now::timestamptz) AS last_due
      FROM ax.ready r
      WHERE r.run_id = @run_id AND (@ord::int < 0 OR r.ord = @ord::int)
        AND (@shard::int < -1 OR r.todo @> @shard::int)) x
WHERE x.place <= @most::int
ORDER BY x.ord, x.not_before, x.id;

-- name: WhyFlights :many
-- Flights by stage, the oldest first, with what their workers say of them.
SELECT x.id, x.worker_id, x.ready_at, x.dispatched_at, x.ord, x.generation, x.kind, x.attempt, x.delivery, x.level, x.par,
       (SELECT coalesce(sum(upper(y) - lower(y)), 0) FROM unnest(x.todo) AS y)::int AS n,
       lower(x.todo)::int AS first, left(x.todo::text, 120)::text AS todo, x.all_rows::int AS all_rows,
       x.all_tasks::int AS all_tasks, w.host, w.pid, w.seen_at, w.state AS worker_state,
       coalesce((SELECT jsonb_agg(e) FROM jsonb_array_elements(w.running) AS e WHERE e ->> 'execution' = x.id::text), '[]')::jsonb AS running,
       coalesce((SELECT min(a.asked_at) FROM ax.ask a WHERE a.execution_id = x.id AND a.kind = 1), 'epoch')::timestamptz AS cancel_asked,
       coalesce((SELECT min(a.asked_at) FROM ax.ask a WHERE a.execution_id = x.id AND a.kind = 2), 'epoch')::timestamptz AS back_asked
FROM (SELECT f.id, f.worker_id, f.ready_at, f.dispatched_at, f.ord, f.generation, f.kind, f.attempt, f.delivery, f.level, f.par,
             f.todo, row_number() OVER (PARTITION BY f.ord ORDER BY f.dispatched_at, f.id) AS place,
             count(*) OVER (PARTITION BY f.ord, f.kind) AS all_rows,
             sum((SELECT sum(upper(y) - lower(y)) FROM unnest(f.todo) AS y)) OVER (PARTITION BY f.ord, f.kind) AS all_tasks
      FROM ax.flight f
      WHERE f.run_id = @run_id AND (@ord::int < 0 OR f.ord = @ord::int) AND NOT isempty(f.todo)
        AND (@shard::int < -1 OR f.todo @> @shard::int)) x
LEFT JOIN ax.worker w ON w.id = x.worker_id
WHERE x.place <= @most::int
ORDER BY x.ord, x.dispatched_at, x.id;

-- name: WhyParked :many
-- Parked rows by sort: stage, kind, reason, and of dead ones the error. The first rows of each sort, with its totals.
SELECT x.id, x.parked_at, x.n, x.ord, x.generation, x.kind, x.attempt, x.delivery, x.losses, x.reason,
       coalesce(x.fingerprint, '')::text AS fingerprint, lower(x.todo)::int AS first, left(x.todo::text, 120)::text AS todo,
       x.all_rows::int AS all_rows, x.all_tasks::int AS all_tasks
FROM (SELECT p.id, p.parked_at, p.n, p.ord, p.generation, p.kind, p.attempt, p.delivery, p.losses, p.reason, p.fingerprint, p.todo,
             row_number() OVER (PARTITION BY p.ord, p.kind, p.reason, p.fingerprint ORDER BY p.parked_at, p.id) AS place,
             count(*) OVER (PARTITION BY p.ord, p.kind, p.reason, p.fingerprint) AS all_rows,
             sum(p.n) OVER (PARTITION BY p.ord, p.kind, p.reason, p.fingerprint) AS all_tasks
      FROM ax.parked p
      WHERE p.run_id = @run_id AND (@ord::int < 0 OR p.ord = @ord::int)
        AND (@shard::int < -1 OR p.todo @> @shard::int)) x
WHERE x.place <= @most::int
ORDER BY x.ord, x.all_tasks DESC, x.parked_at, x.id
LIMIT 5000;

-- name: WhyErrors :many
-- The newest failure of each of the named tasks.
SELECT DISTINCT ON (r.ord, r.generation, r.shard) r.ord, r.generation, r.shard, r.attempt, r.outcome, r.finished_at, r.error
FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = ANY(@ords::smallint[]) AND r.generation = ANY(@generations::smallint[])
  AND r.shard = ANY(@shards::int[]) AND r.outcome IN (11, 15)
ORDER BY r.ord, r.generation, r.shard, r.attempt DESC, r.delivery DESC;

-- name: WhyResults :many
-- One task's results, the newest first.
SELECT r.worker_id, r.ready_at, r.dispatched_at, r.started_at, r.finished_at, r.generation, r.attempt, r.delivery, r.outcome,
       r.error, count(*) OVER ()::int AS all_results
FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.shard = @shard
ORDER BY r.generation DESC, r.attempt DESC, r.delivery DESC
LIMIT @most;

-- name: WhyWork :one
-- How often a stage's tasks ran, of at most so many results of the generation.
SELECT count(*)::int AS results, count(DISTINCT x.worker_id)::int AS workers, coalesce(max(x.attempt), 0)::int AS attempts
FROM (SELECT r.worker_id, r.attempt FROM ax.result r
      WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation
      LIMIT @most) x;

-- name: WhyChildren :many
SELECT c.ord, c.generation, c.shard, c.attempt, c.child_run
FROM ax.child c
WHERE c.parent_run = @run_id AND c.ord = ANY(@ords::smallint[]) AND c.generation = ANY(@generations::smallint[])
  AND c.shard = ANY(@shards::int[])
ORDER BY c.ord, c.generation, c.shard, c.attempt DESC
LIMIT 1000;

-- name: WhyJournal :many
-- The newest entries of a run's journal that concern a stage (-1: any).
SELECT j.at, j.ord, j.generation, j.kind, j.actor, j.detail
FROM ax.journal j
WHERE j.run_id = @run_id AND (@ord::int < 0 OR coalesce(j.ord, -1) IN (-1, @ord::int))
ORDER BY j.id DESC
LIMIT @most;

-- name: WhyHolds :many
-- What is paused of a run, its flow and its queues.
SELECT kind, name, actor, reason, held_at
FROM ax.hold
WHERE namespace = @namespace AND kind = ANY(@kinds::text[]) AND name = ANY(@names::text[]);

-- name: WhyQueues :many
SELECT name, capacity, concurrency, depth, pressure, published_at
FROM ax.queue
WHERE namespace = @namespace AND name = ANY(@names::text[]);

-- name: WhyCircuits :many
SELECT kind, name, state, manual, failures, opened_at, until, last_error, actor, reason
FROM ax.circuit
WHERE namespace = @namespace AND kind = ANY(@kinds::text[]) AND name = ANY(@names::text[]) AND state <> 0;

-- name: WhyBeats :one
-- How old the oldest heartbeat is that the workers' gates were judged by.
SELECT coalesce(min(w.seen_at), clock_timestamp())::timestamptz AS oldest FROM ax.worker w;

-- What people look at of a run: failures, journal, stages and shards. All by run and so by one partition; every statement reads
-- a bounded number of rows.

-- name: Failures :many
-- Failed attempts of stages before a place in their order, the newest first.
SELECT f.ord, f.generation, f.shard, f.attempt, f.delivery, f.outcome, f.worker_id, f.execution_id, f.ready_at, f.dispatched_at,
       f.started_at, f.finished_at, f.error
FROM (SELECT unnest(@ords::smallint[]) AS ord) o
CROSS JOIN LATERAL (
    SELECT r.ord, r.generation, r.shard, r.attempt, r.delivery, r.outcome, r.worker_id, r.execution_id, r.ready_at, r.dispatched_at,
           r.started_at, r.finished_at, r.error
    FROM ax.result r
    WHERE r.run_id = @run_id AND r.ord = o.ord AND r.outcome NOT IN (10, 13) AND r.finished_at <= @before
      AND (r.finished_at, r.ord, r.generation, r.shard, r.attempt, r.delivery)
          < (@before, @before_ord::smallint, @before_generation::smallint, @before_shard::int, @before_attempt::smallint, @before_delivery::smallint)
    ORDER BY r.finished_at DESC, r.generation DESC, r.shard DESC, r.attempt DESC, r.delivery DESC
    LIMIT @most) f
ORDER BY f.finished_at DESC, f.ord DESC, f.generation DESC, f.shard DESC, f.attempt DESC, f.delivery DESC
LIMIT @most;

-- name: JournalLines :many
SELECT id, at, coalesce(ord, -1)::smallint AS ord, coalesce(generation, 0)::smallint AS generation, kind, actor, detail
FROM ax.journal WHERE run_id = @run_id AND id > @after ORDER BY id LIMIT @most;

-- name: LastOutputs :many
-- The outputs of unsharded stages in their current generations: the newest success of each, unless they are larger together
-- than most_bytes.
SELECT x.ord, (coalesce(sum(octet_length(x.output)) OVER (), 0) > @most_bytes::bigint)::bool AS too_large,
       (CASE WHEN sum(octet_length(x.output)) OVER () <= @most_bytes::bigint THEN x.output END)::bytea AS output
FROM (SELECT DISTINCT ON (r.ord) r.ord, r.output FROM ax.result r
      JOIN ax.stage s ON s.run_id = r.run_id AND s.ord = r.ord AND s.generation = r.generation
      WHERE r.run_id = @run_id AND s.run_id = @run_id AND r.ord = ANY(@ords::smallint[]) AND r.shard = 0 AND r.outcome = 10
      ORDER BY r.ord, r.attempt DESC, r.delivery DESC) x
ORDER BY x.ord;

-- name: StageNow :one
SELECT generation, state, shard_total, clock_timestamp()::timestamptz AS now
FROM ax.stage WHERE run_id = @run_id AND ord = @ord;

-- name: ShardRows :many
-- Where the shards of a stage stand, and its plan, that are not done: rows of those that share their fate.
SELECT 1::smallint AS place, r.kind, 0::smallint AS reason, r.attempt, (r.not_before <= @now::timestamptz)::bool AS due, r.not_before::timestamptz AS at,
       r.id AS worker_id, r.todo::text AS todo
FROM ax.ready r WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation
UNION ALL
SELECT 2::smallint, f.kind, 0::smallint, f.attempt, true, f.dispatched_at, f.worker_id, f.todo::text
FROM ax.flight f WHERE f.run_id = @run_id AND f.ord = @ord AND f.generation = @generation AND NOT isempty(f.todo)
UNION ALL
SELECT 3::smallint, p.kind, p.reason, p.attempt, true, p.parked_at, p.id, p.todo::text
FROM ax.parked p WHERE p.run_id = @run_id AND p.ord = @ord AND p.generation = @generation;

-- name: NewestResults :many
-- The newest attempts of the named shards.
SELECT DISTINCT ON (r.shard) r.shard, r.attempt, r.delivery, r.outcome, r.worker_id, r.execution_id, r.ready_at, r.dispatched_at,
       r.started_at, r.finished_at, r.error
FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.shard = ANY(@shards::int[])
ORDER BY r.shard, r.attempt DESC, r.delivery DESC;

-- name: NewestTimes :many
-- Of the shards from first to before last: when their newest attempts ran and where. A page is a range of indices and not a
-- number of rows, so that no plan can sort a million rows for each page.
SELECT DISTINCT ON (r.shard) r.shard, r.attempt, r.worker_id, r.started_at, r.finished_at
FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.shard >= @first AND r.shard < @last
ORDER BY r.shard, r.attempt DESC, r.delivery DESC;

-- name: KeyChunks :many
SELECT chunk, keys FROM ax.shard_input
WHERE run_id = @run_id AND ord = @ord AND generation = @generation AND chunk = ANY(@chunks::int[]) AND keys IS NOT NULL;

-- name: StageDurations :one
-- How long the attempts took that succeeded: those of the last so many shards.
SELECT count(*)::int AS samples,
       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY x.took), 0)::float8 AS p50_s,
       coalesce(percentile_cont(0.95) WITHIN GROUP (ORDER BY x.took), 0)::float8 AS p95_s,
       coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY x.took), 0)::float8 AS p99_s,
       coalesce(max(x.took), 0)::float8 AS max_s
FROM (SELECT extract(epoch FROM r.finished_at - r.started_at)::float8 AS took FROM ax.result r
      WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.shard >= 0 AND r.outcome = 10
      ORDER BY r.shard DESC, r.attempt DESC LIMIT @most) x;

-- name: DeadOfStage :many
-- The dead letters of a stage by normalised error, the largest group first.
SELECT coalesce(p.fingerprint, '')::text AS fingerprint, sum(p.n)::bigint AS n, range_agg(p.todo)::text AS todo,
       min(lower(p.todo))::int AS first
FROM ax.parked p
WHERE p.run_id = @run_id AND p.ord = @ord AND p.generation = @generation AND p.reason IN (1, 6, 8)
GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT @most;

-- name: NewestFailures :many
-- The newest failed attempts of the named shards.
SELECT DISTINCT ON (r.shard) r.shard, r.error FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.shard = ANY(@shards::int[]) AND r.outcome NOT IN (10, 13)
ORDER BY r.shard, r.attempt DESC, r.delivery DESC;

-- name: ListFlows :many
-- Flows by name, with their newest runs.
SELECT f.name, f.owner, f.version_id, f.updated_at, v.hash,
       coalesce(l.run_id, '00000000-0000-0000-0000-000000000000')::uuid AS last_run, coalesce(l.state, 0)::smallint AS last_state,
       coalesce(l.created_at, 'epoch')::timestamptz AS last_created_at, l.finished_at AS last_finished_at
FROM ax.flow f
JOIN ax.flow_version v ON v.id = f.version_id
LEFT JOIN LATERAL (
    SELECT r.run_id, r.state, r.created_at, r.finished_at FROM ax.run r
    WHERE r.namespace = @namespace AND r.flow = f.name ORDER BY r.run_id DESC LIMIT 1) l ON true
WHERE f.namespace = @namespace AND f.name > @after::text AND (@part::text = '' OR strpos(lower(f.name), lower(@part)) > 0)
ORDER BY f.name LIMIT @most;

-- name: CountOpen :many
-- Open runs of the named flows, among so many of the namespace's.
SELECT x.flow, count(*)::int AS n
FROM (SELECT r.flow FROM ax.run r
      WHERE r.namespace = @namespace AND r.state IN (1, 2) AND r.state <> 10 LIMIT @most) x
WHERE x.flow = ANY(@flows::text[])
GROUP BY x.flow;

-- name: FlowVersions :many
-- Versions of a flow before an id, the newest first.
SELECT v.id, v.hash, v.created_at, (v.id = f.version_id)::bool AS newest
FROM ax.flow_version v JOIN ax.flow f ON f.namespace = v.namespace AND f.name = v.flow
WHERE v.namespace = @namespace AND v.flow = @flow AND v.id < @before
ORDER BY v.id DESC LIMIT @most;

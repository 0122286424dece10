-- Dead letters: indices parked as dead (1), poisoned (6) or expired (8), and their replays.

-- name: DeadRows :many
-- Parked rows of dead letters that a filter picks, in the order of their ids from after on, with the error of the newest
-- failed attempt of the first index of each.
SELECT p.id, p.run_id, p.ord, p.generation, p.attempt, p.reason, p.n, coalesce(p.fingerprint, '')::text AS fingerprint,
       p.parked_at, p.todo::text AS todo, v.flow, p.version_id, e.error
FROM ax.parked p
JOIN ax.flow_version v ON v.id = p.version_id
LEFT JOIN LATERAL (
    SELECT r.error FROM ax.result r
    WHERE r.run_id = p.run_id AND r.ord = p.ord AND r.generation = p.generation AND r.shard = lower(p.todo)
      AND r.outcome NOT IN (10, 13)
    ORDER BY r.attempt DESC, r.delivery DESC LIMIT 1) e ON true
WHERE p.namespace = @namespace AND p.reason IN (1, 6, 8) AND p.id > @after
  AND (sqlc.narg(run)::uuid IS NULL OR p.run_id = sqlc.narg(run)::uuid)
  AND (@flow::text = '' OR v.flow = @flow)
  AND (@fingerprint::text = '' OR p.fingerprint = @fingerprint)
  AND (sqlc.narg(since)::timestamptz IS NULL OR p.parked_at >= sqlc.narg(since)::timestamptz)
  AND (sqlc.narg(until)::timestamptz IS NULL OR p.parked_at < sqlc.narg(until)::timestamptz)
ORDER BY p.id
LIMIT @most;

-- name: NewestDead :many
-- DeadRows the other way round: the newest first, before an id.
SELECT p.id, p.run_id, p.ord, p.generation, p.attempt, p.reason, p.n, coalesce(p.fingerprint, '')::text AS fingerprint,
       p.parked_at, p.todo::text AS todo, v.flow, p.version_id, e.error
FROM ax.parked p
JOIN ax.flow_version v ON v.id = p.version_id
LEFT JOIN LATERAL (
    SELECT r.error FROM ax.result r
    WHERE r.run_id = p.run_id AND r.ord = p.ord AND r.generation = p.generation AND r.shard = lower(p.todo)
      AND r.outcome NOT IN (10, 13)
    ORDER BY r.attempt DESC, r.delivery DESC LIMIT 1) e ON true
WHERE p.namespace = @namespace AND p.reason IN (1, 6, 8) AND p.id < @before
  AND (sqlc.narg(run)::uuid IS NULL OR p.run_id = sqlc.narg(run)::uuid)
  AND (@flow::text = '' OR v.flow = @flow)
  AND (@fingerprint::text = '' OR p.fingerprint = @fingerprint)
  AND (sqlc.narg(since)::timestamptz IS NULL OR p.parked_at >= sqlc.narg(since)::timestamptz)
  AND (sqlc.narg(until)::timestamptz IS NULL OR p.parked_at < sqlc.narg(until)::timestamptz)
ORDER BY p.id DESC
LIMIT @most;

-- name: ResultsOf :many
-- All attempts of one index, oldest first.
SELECT generation, attempt, delivery, outcome, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at,
       output, error
FROM ax.result
WHERE run_id = @run_id AND ord = @ord AND shard = @shard
ORDER BY generation, attempt, dispatched_at, delivery;

-- name: WhereIs :many
-- Where one index of a stage stands.
SELECT 1::smallint AS place, 0::smallint AS reason, r.not_before::timestamptz AS not_before FROM ax.ready r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.todo @> @shard::int
UNION ALL
SELECT 2::smallint, 0::smallint, f.dispatched_at FROM ax.flight f
WHERE f.run_id = @run_id AND f.ord = @ord AND f.generation = @generation AND f.todo @> @shard::int
UNION ALL
SELECT 3::smallint, p.reason, p.parked_at FROM ax.parked p
WHERE p.run_id = @run_id AND p.ord = @ord AND p.generation = @generation AND p.todo @> @shard::int;

-- name: InsertReplay :exec
INSERT INTO ax.replay (id, namespace, state, filter, per_second, canary, total, actor, reason)
VALUES (@id, @namespace, @state, @filter, sqlc.narg(per_second), @canary, @total, @actor, @reason);

-- name: Replays :many
-- Newest first; before is exclusive, for the next page.
SELECT id, state, filter, per_second, canary, total, moved, failed, note, actor, reason, created_at, updated_at, finished_at
FROM ax.replay
WHERE namespace = @namespace AND id < @before AND (sqlc.narg(id)::uuid IS NULL OR id = sqlc.narg(id)::uuid)
ORDER BY id DESC LIMIT @most;

-- name: OpenReplays :many
SELECT id FROM ax.replay WHERE finished_at IS NULL ORDER BY id;

-- name: LockReplay :one
-- The next step of a replay is its holder's. elapsed_s is the time since its last step.
SELECT id, namespace, state, filter, per_second, canary, total, moved, failed, cursor, note, actor, reason, created_at, finished_at,
       extract(epoch FROM clock_timestamp() - updated_at)::float8 AS elapsed_s
FROM ax.replay WHERE id = @id FOR UPDATE;

-- name: AdvanceReplay :exec
UPDATE ax.replay
SET state = @state, moved = @moved, failed = @failed, cursor = @cursor, note = @note, updated_at = clock_timestamp(),
    finished_at = CASE WHEN @ended::bool THEN clock_timestamp() END
WHERE id = @id;

-- name: HeldOf :many
-- What a generation of a stage still holds anywhere, plan tasks too: one statement, so one snapshot.
SELECT 1::smallint AS place, r.id, 0::smallint AS reason, r.todo::text AS todo FROM ax.ready r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation
UNION ALL
SELECT 2::smallint, f.id, 0::smallint, f.todo::text FROM ax.flight f
WHERE f.run_id = @run_id AND f.ord = @ord AND f.generation = @generation
UNION ALL
SELECT 3::smallint, p.id, p.reason, p.todo::text FROM ax.parked p
WHERE p.run_id = @run_id AND p.ord = @ord AND p.generation = @generation;

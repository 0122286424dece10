-- name: CancelRun :execrows
-- The run is locked. Ended runs are left alone.
UPDATE ax.run SET state = @state, version = version + 1
WHERE run_id = @run_id AND state = ANY(@from_states::smallint[]);

-- name: CancelStages :many
-- Waiting stages are cancelled at once; released ones drain. Those to keep (teardowns) are left alone.
UPDATE ax.stage
SET state = CASE WHEN state = 0 THEN 12 ELSE 3 END, finished_at = CASE WHEN state = 0 THEN clock_timestamp() END
WHERE run_id = @run_id AND state IN (0, 1, 2) AND NOT (ord = ANY(coalesce(@keep::smallint[], '{}')))
RETURNING ord, state;

-- name: LockFlights :many
-- Locks a run's flights in the one order.
SELECT id, worker_id, ord, generation FROM ax.flight WHERE run_id = @run_id ORDER BY id FOR UPDATE;

-- name: LockAllStages :many
-- Locks all stages of a run in the one order.
SELECT ord, generation, state, shard_total, max_attempts, level, key, verdict, coalesce(reason, '')::text AS reason
FROM ax.stage WHERE run_id = @run_id ORDER BY ord FOR NO KEY UPDATE;

-- name: ParkReady :many
-- Moves every ready row of a run (its stages are locked), but those of stages to keep, to parked.
WITH taken AS (
    DELETE FROM ax.ready r
    WHERE r.id IN (SELECT x.id FROM ax.ready x
                   WHERE x.run_id = @run_id AND NOT (x.ord = ANY(coalesce(@keep::smallint[], '{}')))
                   ORDER BY x.id FOR UPDATE)
    RETURNING r.id, r.run_id, r.ready_at, r.version_id, r.n, r.ord, r.generation, r.kind, r.attempt, r.delivery, r.losses,
              r.level, r.namespace, r.queue, r.key, r.todo
)
INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses,
                       level, reason, namespace, queue, key, todo)
SELECT id, run_id, now(), ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, @reason,
       namespace, queue, key, todo FROM taken
RETURNING ord, todo::text AS todo;

-- name: ReparkWaiting :many
-- Shards that wait for aligned upstream shards or for a run that they have started will wait no more.
UPDATE ax.parked SET reason = @reason
WHERE run_id = @run_id AND reason IN (4, 7) AND NOT (ord = ANY(coalesce(@keep::smallint[], '{}')))
RETURNING ord, todo::text AS todo;

-- name: RaiseAttempts :exec
-- An operator's retry gives the stage's dead shards further attempts and opens it again.
UPDATE ax.stage
SET max_attempts = greatest(coalesce(max_attempts, 0), @max_attempts::smallint), state = @state, finished_at = NULL,
    succeeded = 0, failed = 0, skipped = 0, cancelled = 0, verdict = NULL,
    reason = CASE WHEN verdict IS NULL THEN reason END
WHERE run_id = @run_id AND ord = @ord AND generation = @generation AND state = ANY(@from_states::smallint[]);

-- name: ReopenRun :execrows
-- A deadline that passed while the run was over says nothing of its second life.
UPDATE ax.run
SET state = @state, finished_at = NULL, version = version + 1,
    deadline = CASE WHEN late_noted_at IS NOT NULL OR deadline > now() THEN deadline END
WHERE run_id = @run_id AND state = ANY(@from_states::smallint[]);

-- name: RaiseGeneration :exec
-- A rerun: the stages start over as waiting in the next generation. Their live rows go with DropLive.
UPDATE ax.stage
SET generation = generation + 1, state = 0, shard_total = NULL, max_attempts = NULL, cut = NULL, succeeded = 0, failed = 0,
    skipped = 0, cancelled = 0, since = clock_timestamp(), ready_at = NULL, finished_at = NULL, reason = NULL,
    tolerate = NULL, verdict = NULL
WHERE run_id = @run_id AND ord = ANY(@ords::smallint[]);

-- name: DropFlights :exec
DELETE FROM ax.flight WHERE run_id = @run_id AND ord = ANY(@ords::smallint[]);

-- name: DropReady :exec
DELETE FROM ax.ready WHERE run_id = @run_id AND ord = ANY(@ords::smallint[]);

-- name: DropParked :exec
DELETE FROM ax.parked WHERE run_id = @run_id AND ord = ANY(@ords::smallint[]);

-- name: Journal :exec
INSERT INTO ax.journal (run_id, id, ord, generation, kind, actor, detail)
SELECT unnest(@run_ids::uuid[]), unnest(@ids::uuid[]), unnest(@ords::smallint[]), unnest(@generations::smallint[]), @kind,
       @actor, unnest(@details::jsonb[]);

-- name: ParkFlights :many
-- A forced cancel: the (locked) flights of a run are parked where they stand, which fences their workers.
WITH taken AS (
    DELETE FROM ax.flight f WHERE f.run_id = @run_id
    RETURNING f.run_id, f.ready_at, f.version_id, f.ord, f.generation, f.kind, f.attempt, f.delivery, f.losses, f.level,
              f.namespace, f.queue, f.key, f.todo, f.id
)
INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses,
                       level, reason, namespace, queue, key, todo)
SELECT id, run_id, now(), ready_at, version_id, (SELECT sum(upper(x) - lower(x)) FROM unnest(todo) AS x)::int, ord, generation,
       kind, attempt, delivery, losses, level, @reason, namespace, queue, key, todo
FROM taken WHERE NOT isempty(todo)
RETURNING ord, todo::text AS todo;

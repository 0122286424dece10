-- name: RegisterWorker :exec
INSERT INTO ax.worker (id, seen_at, started_at, state, urgent, namespace, host, pid, labels, handlers)
VALUES (@id, clock_timestamp(), clock_timestamp(), 0, @urgent, @namespace, @host, @pid, @labels, @handlers);

-- name: Beat :one
-- A worker's heartbeat. alive 0 says that the leader gave it up: it must drop everything and register anew.
-- The answer holds the worker's flights and what is asked of it; circuits names those of its namespace that are not
-- closed, by kind:name, with when their rows were written last: what was handed out after that was handed out by a
-- leader that knew. pools holds the sizes that operators set, by flow/stage. drain says that an
-- operator wants the worker to end.
WITH w AS (
    UPDATE ax.worker
    SET beat = beat + 1, seen_at = clock_timestamp(), cpu = @cpu, memory = @memory,
        state = CASE WHEN drain_asked_at IS NULL THEN sqlc.arg(state)::smallint ELSE 1 END,
        handlers = @handlers, running = @running, circuits = coalesce(sqlc.narg(circuits)::jsonb, circuits)
    WHERE id = @id
    RETURNING id, namespace, drain_asked_at
), cleared AS (
    DELETE FROM ax.ask a
    WHERE a.worker_id = @id AND NOT EXISTS (SELECT 1 FROM ax.flight f WHERE f.id = a.execution_id)
)
SELECT (SELECT count(*) FROM w)::int AS alive, clock_timestamp()::timestamptz AS now,
       coalesce((SELECT array_agg(f.id) FROM ax.flight f WHERE f.worker_id = @id), '{}')::uuid[] AS flights,
       coalesce((SELECT array_agg(a.execution_id) FROM ax.ask a WHERE a.worker_id = @id AND a.kind = 1), '{}')::uuid[] AS cancels,
       coalesce((SELECT array_agg(a.execution_id) FROM ax.ask a WHERE a.worker_id = @id AND a.kind = 2), '{}')::uuid[] AS givebacks,
       coalesce((SELECT jsonb_object_agg(c.kind || ':' || c.name,
                                         jsonb_build_object('state', c.state, 'manual', c.manual, 'since', c.updated_at))
                 FROM ax.circuit c WHERE c.namespace = (SELECT w.namespace FROM w) AND c.state <> 0), '{}')::jsonb AS circuits,
       coalesce((SELECT jsonb_object_agg(p.handler, p.slots)
                 FROM ax.pool p WHERE p.namespace = (SELECT w.namespace FROM w)), '{}')::jsonb AS pools,
       coalesce((SELECT s.value = 'false'::jsonb FROM ax.setting s WHERE s.name = 'breaker'), false)::bool AS breaker_off,
       EXISTS (SELECT 1 FROM w WHERE w.drain_asked_at IS NOT NULL)::bool AS drain;

-- name: LeaveWorker :exec
-- A worker that has drained takes itself off the list.
DELETE FROM ax.worker WHERE id = @id;

-- name: Workers :many
-- What the leader sees of the workers.
SELECT w.id, w.beat, w.state, w.urgent, w.cpu, w.memory, w.namespace, w.host, w.labels, w.handlers, w.running, w.seen_at,
       w.circuits
FROM ax.worker w ORDER BY w.id;

-- name: Orphans :one
-- Whether any flight has lost its owner.
SELECT EXISTS (SELECT 1 FROM ax.flight f WHERE NOT EXISTS (SELECT 1 FROM ax.worker w WHERE w.id = f.worker_id))::bool AS orphans;

-- name: FlightStages :many
-- Which stages flights belong to.
SELECT id, run_id, ord, version_id FROM ax.flight WHERE id = ANY(@ids::uuid[]);

-- name: BuryWorkers :many
-- Removes workers whose beat has not moved since the leader counted it.
DELETE FROM ax.worker w
USING (SELECT unnest(@ids::uuid[]) AS id, unnest(@beats::bigint[]) AS beat) d
WHERE w.id = d.id AND w.beat = d.beat
RETURNING w.id;

-- name: AssignedFlights :many
-- A worker's flights among ids, with what running them needs.
SELECT f.id, f.run_id, f.version_id, f.par, f.ord, f.generation, f.kind, f.attempt, f.delivery, f.level, f.namespace, f.queue,
       f.ready_at, f.dispatched_at, f.todo::text AS todo
FROM ax.flight f
WHERE f.worker_id = @worker_id AND f.id = ANY(@ids::uuid[])
ORDER BY f.dispatched_at, f.id;

-- name: RunHeads :many
SELECT run_id, version_id, state, level, namespace, flow, trace_id, queue, params
FROM ax.run WHERE run_id = ANY(@run_ids::uuid[]);

-- name: StageHead :one
SELECT generation, state, shard_total, max_attempts, cut
FROM ax.stage WHERE run_id = @run_id AND ord = @ord;

-- name: StageCounts :one
-- How the shards of a stage ended; final once it is decided.
SELECT state, coalesce(shard_total, 0)::int AS total, succeeded, failed, skipped, cancelled
FROM ax.stage WHERE run_id = @run_id AND ord = @ord;

-- name: ChildOf :many
-- The run that one attempt of a task has started, if it has.
SELECT child_run FROM ax.child
WHERE parent_run = @parent_run AND ord = @ord AND generation = @generation AND shard = @shard AND attempt = @attempt;

-- name: ShareRun :many
-- Keeps a run from ending until the transaction does.
SELECT version_id, state FROM ax.run WHERE run_id = @run_id FOR SHARE;

-- name: AddChild :exec
INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run)
VALUES (@parent_run, @ord, @generation, @shard, @attempt, @child_run);

-- name: ShardInputs :many
-- The chunks that hold some indices: those of a retry may lie far apart.
SELECT chunk, keys, inputs FROM ax.shard_input
WHERE run_id = @run_id AND ord = @ord AND generation = @generation AND chunk = ANY(@chunks::int[])
ORDER BY chunk;

-- name: Output :one
-- The newest success of one shard in its stage's current generation.
SELECT r.output FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.shard = @shard AND r.outcome = 10
  AND r.generation = (SELECT s.generation FROM ax.stage s WHERE s.run_id = @run_id AND s.ord = @ord)
ORDER BY r.attempt DESC, r.delivery DESC
LIMIT 1;

-- name: Outputs :many
-- The outputs of the shards from first to before last in index order: the newest success of each. A page is a range
-- of indices and not a number of rows, so that no plan can sort a million rows for each thousand.
SELECT DISTINCT ON (r.shard) r.shard, r.output FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.outcome = 10 AND r.shard >= @first AND r.shard < @last
  AND r.generation = (SELECT s.generation FROM ax.stage s WHERE s.run_id = @run_id AND s.ord = @ord)
ORDER BY r.shard, r.attempt DESC, r.delivery DESC;

-- name: InsertShardInputs :copyfrom
INSERT INTO ax.shard_input (run_id, ord, generation, chunk, keys, inputs)
VALUES (@run_id, @ord, @generation, @chunk, @keys, @inputs);

-- name: TxOwner :one
-- Whose transaction this is; empty when it is not the one that a handler was given.
SELECT coalesce(current_setting('ax.execution', true), '')::text AS execution;

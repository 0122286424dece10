-- What the operator verbs need. Each runs in a transaction that has locked the run first, then its flights, then its
-- stages (control.sql).

-- name: LockRun :one
-- Locks one run of a namespace, whatever its state, for a verb. A run of another namespace is not even waited for.
SELECT run_id, version_id, state, level, forced_level, namespace, flow, queue, trigger
FROM ax.run WHERE run_id = @run_id AND namespace = @namespace FOR NO KEY UPDATE;

-- name: TakeStageReady :many
-- Takes wanted indices of a (locked) stage out of its ready rows.
WITH l AS MATERIALIZED (
    SELECT r.id, r.run_id, r.ready_at, r.version_id, r.ord, r.generation, r.kind, r.attempt, r.delivery, r.losses,
           r.level, r.namespace, r.queue, r.key,
           r.todo * sqlc.arg(want)::text::int4multirange AS acc, r.todo - sqlc.arg(want)::text::int4multirange AS rest
    FROM ax.ready r
    WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation
      AND r.todo && sqlc.arg(want)::text::int4multirange
    ORDER BY r.id
    FOR UPDATE
), gone AS (
    DELETE FROM ax.ready r USING l
    WHERE r.run_id = @run_id AND r.ord = @ord AND r.id = l.id AND isempty(l.rest)
), less AS (
    UPDATE ax.ready r SET todo = l.rest, n = (SELECT sum(upper(x) - lower(x)) FROM unnest(l.rest) AS x)::int FROM l
    WHERE r.run_id = @run_id AND r.ord = @ord AND r.id = l.id AND NOT isempty(l.rest)
)
SELECT l.id, l.run_id, l.ready_at, l.version_id, l.ord, l.generation, l.kind, l.attempt, l.delivery, l.losses,
       l.level, l.namespace, l.queue, coalesce(l.key, '')::text AS key, l.acc::text AS taken
FROM l;

-- name: TakeStageFlights :many
-- Takes wanted indices of a (locked) stage out of its (locked) flights, which fences their workers.
WITH l AS MATERIALIZED (
    SELECT f.id, f.run_id, f.ready_at, f.version_id, f.ord, f.generation, f.kind, f.attempt, f.delivery, f.losses,
           f.level, f.namespace, f.queue, f.key, f.worker_id,
           f.todo * sqlc.arg(want)::text::int4multirange AS acc, f.todo - sqlc.arg(want)::text::int4multirange AS rest
    FROM ax.flight f
    WHERE f.run_id = @run_id AND f.ord = @ord AND f.generation = @generation
      AND f.todo && sqlc.arg(want)::text::int4multirange
    ORDER BY f.id
    FOR UPDATE
), gone AS (
    DELETE FROM ax.flight f USING l
    WHERE f.run_id = @run_id AND f.ord = @ord AND f.id = l.id AND isempty(l.rest)
), less AS (
    UPDATE ax.flight f SET todo = l.rest FROM l
    WHERE f.run_id = @run_id AND f.ord = @ord AND f.id = l.id AND NOT isempty(l.rest)
)
SELECT l.id, l.run_id, l.ready_at, l.version_id, l.ord, l.generation, l.kind, l.attempt, l.delivery, l.losses,
       l.level, l.namespace, l.queue, coalesce(l.key, '')::text AS key, l.acc::text AS taken, l.worker_id,
       coalesce((SELECT sum(upper(x) - lower(x)) FROM unnest(l.rest) AS x), 0)::int AS remaining
FROM l;

-- name: TakeStageParked :many
-- Takes wanted indices of a (locked) stage out of its rows that are parked for some reasons.
WITH l AS MATERIALIZED (
    SELECT p.id, p.run_id, p.ready_at, p.version_id, p.ord, p.generation, p.kind, p.attempt, p.delivery, p.losses,
           p.level, p.namespace, p.queue, p.key, p.reason, p.fingerprint,
           p.todo * sqlc.arg(want)::text::int4multirange AS acc, p.todo - sqlc.arg(want)::text::int4multirange AS rest
    FROM ax.parked p
    WHERE p.run_id = @run_id AND p.ord = @ord AND p.generation = @generation
      AND p.todo && sqlc.arg(want)::text::int4multirange
      AND p.reason = ANY(@reasons::smallint[])
    ORDER BY p.id
    FOR UPDATE
), gone AS (
    DELETE FROM ax.parked p USING l
    WHERE p.run_id = @run_id AND p.ord = @ord AND p.id = l.id AND isempty(l.rest)
), less AS (
    UPDATE ax.parked p SET todo = l.rest, n = (SELECT sum(upper(x) - lower(x)) FROM unnest(l.rest) AS x)::int FROM l
    WHERE p.run_id = @run_id AND p.ord = @ord AND p.id = l.id AND NOT isempty(l.rest)
)
SELECT l.id, l.run_id, l.ready_at, l.version_id, l.ord, l.generation, l.kind, l.attempt, l.delivery, l.losses,
       l.level, l.namespace, l.queue, coalesce(l.key, '')::text AS key, l.acc::text AS taken, l.reason,
       coalesce(l.fingerprint, '')::text AS fingerprint
FROM l;

-- name: ReparkStage :many
-- Parks wanted indices of a (locked) stage, parked for some reasons, for another reason, where they stand. What a row does not
-- give up stays in it.
WITH l AS MATERIALIZED (
    SELECT p.id, p.todo * sqlc.arg(want)::text::int4multirange AS acc, p.todo - sqlc.arg(want)::text::int4multirange AS rest
    FROM ax.parked p
    WHERE p.run_id = @run_id AND p.ord = @ord AND p.generation = @generation
      AND p.todo && sqlc.arg(want)::text::int4multirange AND p.reason = ANY(@reasons::smallint[])
    ORDER BY p.id
    FOR UPDATE
), part AS (
    INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery,
                           losses, level, reason, namespace, queue, key, fingerprint, todo)
    SELECT gen_random_uuid(), p.run_id, p.parked_at, p.ready_at, p.version_id,
           (SELECT sum(upper(x) - lower(x)) FROM unnest(l.acc) AS x)::int, p.ord, p.generation, p.kind, p.attempt,
           p.delivery, p.losses, p.level, @to_reason::smallint, p.namespace, p.queue, p.key, p.fingerprint, l.acc
    FROM ax.parked p JOIN l ON l.id = p.id
    WHERE p.run_id = @run_id AND p.ord = @ord AND NOT isempty(l.rest)
), moved AS (
    UPDATE ax.parked p
    SET reason = CASE WHEN isempty(l.rest) THEN @to_reason::smallint ELSE p.reason END,
        todo = CASE WHEN isempty(l.rest) THEN p.todo ELSE l.rest END,
        n = CASE WHEN isempty(l.rest) THEN p.n ELSE (SELECT sum(upper(x) - lower(x)) FROM unnest(l.rest) AS x)::int END
    FROM l
    WHERE p.run_id = @run_id AND p.ord = @ord AND p.id = l.id
)
SELECT l.acc::text AS taken FROM l;

-- name: AppendMarks :exec
-- Successes that an operator declares, of indices that this transaction has taken out of the three tables: no worker, no
-- execution, no hand-out by any leader (epoch -1).
INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord,
                       generation, attempt, delivery, outcome, output)
SELECT @run_id, '00000000-0000-0000-0000-000000000000', @execution_id, statement_timestamp(), statement_timestamp(),
       statement_timestamp(), statement_timestamp(), generate_series(lower(g.r), upper(g.r) - 1), -1, @ord, @generation,
       x.attempt, 0, 10, sqlc.narg(output)::bytea
FROM (SELECT unnest(@attempts::smallint[]) AS attempt, unnest(@todos::text[])::int4multirange AS todo) x
CROSS JOIN LATERAL unnest(x.todo) AS g(r);

-- name: DecideWaiting :execrows
-- Decides a waiting stage by hand.
UPDATE ax.stage
SET state = @state, reason = @reason::text, shard_total = sqlc.narg(total)::int, succeeded = @succeeded,
    ready_at = clock_timestamp(), finished_at = clock_timestamp()
WHERE run_id = @run_id AND ord = @ord AND generation = @generation AND state = 0;

-- name: FreezeEmpty :execrows
-- A stage whose plan an operator has taken away counts as having no shards.
UPDATE ax.stage SET shard_total = 0
WHERE run_id = @run_id AND ord = @ord AND generation = @generation AND state = 1 AND shard_total IS NULL;

-- name: SetStageReason :exec
UPDATE ax.stage SET reason = @reason::text WHERE run_id = @run_id AND ord = @ord;

-- name: NewestAttempts :many
-- Wanted shards of a stage by their newest attempt that has a result.
SELECT x.attempt::smallint AS attempt, range_agg(int4range(x.shard, x.shard + 1))::text AS shards
FROM (SELECT r.shard, max(r.attempt) AS attempt FROM ax.result r
      WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.shard >= @first AND r.shard < @last
        AND sqlc.arg(want)::text::int4multirange @> r.shard
      GROUP BY r.shard) x
GROUP BY x.attempt;

-- name: AskStages :many
-- Asks the workers of the flights of some stages of a run; asking twice is asking once.
WITH f AS (
    SELECT x.id, x.worker_id FROM ax.flight x
    WHERE x.run_id = @run_id AND NOT (x.ord = ANY(coalesce(@keep::smallint[], '{}')))
), asked AS (
    INSERT INTO ax.ask (execution_id, kind, worker_id) SELECT f.id, @kind, f.worker_id FROM f ON CONFLICT DO NOTHING
)
SELECT DISTINCT f.worker_id FROM f;

-- name: AskQueue :many
-- Asks the workers of a queue's flights to give back what has not started.
WITH f AS (
    SELECT x.id, x.worker_id FROM ax.flight x WHERE x.namespace = @namespace AND x.queue = @queue
), asked AS (
    INSERT INTO ax.ask (execution_id, kind, worker_id) SELECT f.id, 2, f.worker_id FROM f ON CONFLICT DO NOTHING
)
SELECT DISTINCT f.worker_id FROM f;

-- name: AskFlow :many
-- Asks the workers of a flow's flights to give back what has not started.
WITH f AS (
    SELECT x.id, x.worker_id FROM ax.flight x
    WHERE x.namespace = @namespace
      AND x.version_id IN (SELECT v.id FROM ax.flow_version v WHERE v.namespace = @namespace AND v.flow = @flow)
), asked AS (
    INSERT INTO ax.ask (execution_id, kind, worker_id) SELECT f.id, 2, f.worker_id FROM f ON CONFLICT DO NOTHING
)
SELECT DISTINCT f.worker_id FROM f;

-- name: InsertHold :execrows
INSERT INTO ax.hold (namespace, kind, name, actor, reason) VALUES (@namespace, @kind, @name, @actor, @reason)
ON CONFLICT DO NOTHING;

-- name: DeleteHold :execrows
DELETE FROM ax.hold WHERE namespace = @namespace AND kind = @kind AND name = @name;

-- name: HoldsOf :many
SELECT kind, name, actor, reason, held_at FROM ax.hold WHERE namespace = @namespace ORDER BY kind, name;

-- name: ReadyIDs :many
SELECT id FROM ax.ready WHERE run_id = @run_id ORDER BY id;

-- name: ForceRunLevel :exec
UPDATE ax.run SET forced_level = sqlc.narg(level)::smallint, version = version + 1 WHERE run_id = @run_id;

-- name: ForceStageLevel :exec
UPDATE ax.stage SET level = sqlc.narg(level)::smallint WHERE run_id = @run_id AND ord = @ord;

-- name: LevelReady :many
UPDATE ax.ready r SET level = x.level
FROM (SELECT unnest(@ords::smallint[]) AS ord, unnest(@levels::smallint[]) AS level) x
WHERE r.run_id = @run_id AND r.ord = x.ord AND r.level <> x.level
RETURNING r.id, r.ord, r.todo::text AS todo;

-- name: LevelFlights :many
UPDATE ax.flight f SET level = x.level
FROM (SELECT unnest(@ords::smallint[]) AS ord, unnest(@levels::smallint[]) AS level) x
WHERE f.run_id = @run_id AND f.ord = x.ord AND f.level <> x.level
RETURNING f.ord, f.todo::text AS todo;

-- name: LevelParked :many
UPDATE ax.parked p SET level = x.level
FROM (SELECT unnest(@ords::smallint[]) AS ord, unnest(@levels::smallint[]) AS level) x
WHERE p.run_id = @run_id AND p.ord = x.ord AND p.level <> x.level
RETURNING p.ord, p.todo::text AS todo;

-- name: OpenChildren :many
-- Open runs that some stages of a run have started.
SELECT r.run_id FROM ax.run r
WHERE r.run_id IN (SELECT c.child_run FROM ax.child c
                   WHERE c.parent_run = @parent_run AND NOT (c.ord = ANY(coalesce(@keep::smallint[], '{}'))))
  AND r.finished_at IS NULL
ORDER BY r.run_id;

-- name: FilterRuns :many
-- A page of the runs that a filter picks, oldest first.
SELECT r.run_id, r.flow FROM ax.run r
WHERE r.namespace = @namespace AND r.run_id > @after
  AND r.state = ANY(@states::smallint[])
  AND (sqlc.narg(flows)::text[] IS NULL OR r.flow = ANY(sqlc.narg(flows)::text[]))
  AND (sqlc.narg(queues)::text[] IS NULL OR r.queue = ANY(sqlc.narg(queues)::text[]))
  AND (sqlc.narg(runs)::uuid[] IS NULL OR r.run_id = ANY(sqlc.narg(runs)::uuid[]))
  AND (sqlc.narg(tags)::jsonb IS NULL OR r.tags @> sqlc.narg(tags)::jsonb)
  AND (sqlc.narg(since)::timestamptz IS NULL OR r.created_at >= sqlc.narg(since)::timestamptz)
  AND (sqlc.narg(until)::timestamptz IS NULL OR r.created_at < sqlc.narg(until)::timestamptz)
ORDER BY r.run_id
LIMIT @most;

-- name: LockQueue :one
SELECT version, capacity, concurrency, weights, decay, alert_at, refuse_at, pause_at, resume_at, core_level, low_level
FROM ax.queue WHERE namespace = @namespace AND name = @name FOR UPDATE;

-- name: InsertQueue :execrows
INSERT INTO ax.queue (namespace, name, capacity, concurrency, weights, decay, alert_at, refuse_at, pause_at, resume_at,
                      core_level, low_level)
VALUES (@namespace, @name, sqlc.narg(capacity), sqlc.narg(concurrency), sqlc.narg(weights), sqlc.narg(decay), @alert_at,
        @refuse_at, @pause_at, @resume_at, @core_level, @low_level)
ON CONFLICT DO NOTHING;

-- name: UpdateQueue :exec
UPDATE ax.queue
SET capacity = sqlc.narg(capacity), concurrency = sqlc.narg(concurrency), weights = sqlc.narg(weights),
    decay = sqlc.narg(decay), alert_at = @alert_at, refuse_at = @refuse_at, pause_at = @pause_at,
    resume_at = @resume_at, core_level = @core_level, low_level = @low_level,
    pressure = CASE WHEN sqlc.narg(capacity)::int IS NULL THEN 0 ELSE pressure END,
    version = version + 1, updated_at = clock_timestamp()
WHERE namespace = @namespace AND name = @name;

-- name: DeleteQueue :execrows
DELETE FROM ax.queue WHERE namespace = @namespace AND name = @name;

-- name: QueueConfigs :many
SELECT name, capacity, concurrency, weights, decay, alert_at, refuse_at, pause_at, resume_at, core_level, low_level, depth,
       pressure, published_at, version
FROM ax.queue WHERE namespace = @namespace ORDER BY name;

-- name: QueueReady :many
-- What waits in each queue, and how long the oldest task has waited that may be handed out.
SELECT queue, sum(n)::bigint AS tasks,
       coalesce(extract(epoch FROM clock_timestamp() - min(greatest(ready_at, not_before)) FILTER (WHERE not_before <= now())), 0)::float8 AS oldest_s
FROM ax.ready WHERE namespace = @namespace GROUP BY queue ORDER BY queue;

-- name: QueueRunning :many
-- What is handed out of each queue.
SELECT f.queue, sum(least(f.par, s.n))::bigint AS running, sum(s.n)::bigint AS tasks
FROM ax.flight f CROSS JOIN LATERAL (SELECT sum(upper(x) - lower(x)) AS n FROM unnest(f.todo) AS x) s
WHERE f.namespace = @namespace AND NOT isempty(f.todo)
GROUP BY f.queue ORDER BY f.queue;

-- name: StageBusy :many
-- Granted parallelism of what is in flight, by stage of a flow's version.
SELECT f.version_id, f.ord, sum(least(f.par, s.n))::bigint AS running
FROM ax.flight f CROSS JOIN LATERAL (SELECT sum(upper(x) - lower(x)) AS n FROM unnest(f.todo) AS x) s
WHERE f.namespace = @namespace AND NOT isempty(f.todo)
GROUP BY f.version_id, f.ord;

-- name: SetPool :many
-- Nothing changes, and no row is returned, where the pool has that size already.
INSERT INTO ax.pool AS p (namespace, handler, slots, actor) VALUES (@namespace, @handler, @slots, @actor)
ON CONFLICT (namespace, handler) DO UPDATE SET slots = excluded.slots, actor = excluded.actor, updated_at = clock_timestamp()
WHERE p.slots <> excluded.slots
RETURNING slots;

-- name: DeletePool :execrows
DELETE FROM ax.pool WHERE namespace = @namespace AND handler = @handler;

-- name: SetPools :many
SELECT handler, slots, actor FROM ax.pool WHERE namespace = @namespace ORDER BY handler;

-- name: NamespaceWorkers :many
SELECT w.id, w.host, w.pid, w.state, w.started_at, w.seen_at, w.cpu, w.memory, w.urgent, w.labels, w.handlers,
       coalesce(f.flights, 0)::int AS flights, coalesce(f.tasks, 0)::int AS tasks
FROM ax.worker w
LEFT JOIN (SELECT x.worker_id, count(*) AS flights, sum((SELECT sum(upper(y) - lower(y)) FROM unnest(x.todo) AS y)) AS tasks
           FROM ax.flight x WHERE NOT isempty(x.todo) GROUP BY x.worker_id) f ON f.worker_id = w.id
WHERE w.namespace = @namespace
ORDER BY w.started_at, w.id;

-- name: AskDrain :many
-- Asks a worker to drain; it counts as draining at once. No row: there is none, or it drains already.
UPDATE ax.worker SET state = 1, drain_asked_at = clock_timestamp()
WHERE id = @id AND namespace = @namespace AND state = 0 AND drain_asked_at IS NULL
RETURNING host, pid;

-- name: WorkerThere :one
SELECT EXISTS (SELECT 1 FROM ax.worker WHERE id = @id AND namespace = @namespace)::bool AS there;

-- name: CircuitsOf :many
SELECT kind, name, state, manual, failures, opened_at, until, last_error, actor, reason, version, updated_at
FROM ax.circuit WHERE namespace = @namespace ORDER BY kind, name;

-- name: OpenCircuit :many
-- Opens a circuit by hand. No row: it is open by hand already.
INSERT INTO ax.circuit AS c (namespace, kind, name, state, manual, opened_at, actor, reason)
VALUES (@namespace, @kind, @name, 1, true, clock_timestamp(), @actor, @reason)
ON CONFLICT (namespace, kind, name) DO UPDATE
SET state = 1, manual = true, opened_at = clock_timestamp(), until = NULL, actor = excluded.actor, reason = excluded.reason,
    version = c.version + 1, updated_at = clock_timestamp()
WHERE NOT (c.manual AND c.state = 1)
RETURNING version;

-- name: CloseCircuit :many
-- Closes a circuit by hand. No row: it is closed.
UPDATE ax.circuit
SET state = 0, manual = false, failures = 0, until = NULL, actor = @actor, reason = @reason, version = version + 1,
    updated_at = clock_timestamp()
WHERE namespace = @namespace AND kind = @kind AND name = @name AND state <> 0
RETURNING version;

-- name: SettingRows :many
SELECT name, value, updated_at FROM ax.setting ORDER BY name;

-- name: SetSetting :many
-- No row: it is set to that already.
INSERT INTO ax.setting AS s (name, value) VALUES (@name, @value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, version = s.version + 1, updated_at = now()
WHERE s.value <> excluded.value
RETURNING version;

-- name: DropStageExpiries :exec
DELETE FROM ax.expiry WHERE run_id = @run_id AND ord = ANY(@ords::smallint[]);

-- name: HoldsOn :many
-- What of a run, its flow and its queue is paused.
SELECT kind, name, actor, reason, held_at FROM ax.hold
WHERE namespace = @namespace
  AND (kind = 'run' AND name = @run::text OR kind = 'flow' AND name = @flow OR kind = 'queue' AND name = @queue)
ORDER BY held_at;

-- name: StageLimits :many
SELECT ord, tolerate FROM ax.stage WHERE run_id = @run_id AND tolerate IS NOT NULL;

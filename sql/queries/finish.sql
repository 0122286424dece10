-- name: FinishSpans :many
-- Takes whatever part of a worker's report is still owed and forgets the rest (a zombie's, a repeat's, a
-- fenced one's). executions[k] and done[k] say which indices of which flight the report holds; the other
-- arrays are one element a result, of_flight pointing into executions (from 1). With retire, a flight that
-- this empties is deleted at once; without, its empty row stays for DeleteEmptyFlights.
-- Every predicate reads l: the rows as they stand under the lock.
WITH d AS (
    SELECT unnest(@executions::uuid[]) AS e, unnest(@done::text[])::int4multirange AS done,
           generate_subscripts(@executions::uuid[], 1) AS k
), l AS MATERIALIZED (
    SELECT f.id, f.run_id, f.ready_at, f.dispatched_at, f.epoch, f.version_id, f.ord, f.generation, f.kind, f.attempt,
           f.delivery, f.losses, f.level, f.namespace, f.queue, f.key, d.k, f.todo * d.done AS acc, f.todo - d.done AS rest
    FROM ax.flight f JOIN d ON f.id = d.e
    WHERE f.id = ANY(@executions::uuid[]) AND f.worker_id = @worker_id
    ORDER BY f.id
    FOR UPDATE OF f
), gone AS (
    DELETE FROM ax.flight f USING l
    WHERE f.id = ANY(@executions::uuid[]) AND f.id = l.id AND isempty(l.rest) AND @retire::bool
), less AS (
    UPDATE ax.flight f SET todo = l.rest FROM l
    WHERE f.id = ANY(@executions::uuid[]) AND f.id = l.id AND NOT isempty(l.acc)
      AND NOT (isempty(l.rest) AND @retire::bool)
), done AS (
    INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at,
                           shard, epoch, ord, generation, attempt, delivery, outcome, output, error)
    SELECT l.run_id, @worker_id, l.id, l.ready_at, l.dispatched_at, r.started_at, r.finished_at,
           r.shard, l.epoch, l.ord, l.generation, l.attempt, l.delivery, r.outcome, r.output, r.error
    FROM (SELECT unnest(@of_flight::int[]) AS k, unnest(@shards::int[]) AS shard,
                 unnest(@outcomes::smallint[]) AS outcome,
                 unnest(@started_at::timestamptz[]) AS started_at, unnest(@finished_at::timestamptz[]) AS finished_at,
                 unnest(@outputs::bytea[]) AS output, unnest(@errors::bytea[]) AS error) r
    JOIN l ON l.k = r.k
    WHERE l.acc @> r.shard
)
SELECT l.id, l.run_id, l.ready_at, l.version_id, l.ord, l.generation, l.kind, l.attempt, l.delivery, l.losses,
       l.level, l.namespace, l.queue, coalesce(l.key, '')::text AS key, l.acc::text AS taken,
       isempty(l.rest)::bool AS empty
FROM l;

-- name: DeleteEmptyFlights :exec
-- Removes flights that have nothing left to finish.
DELETE FROM ax.flight WHERE id = ANY(@ids::uuid[]) AND isempty(todo);

-- name: LockStages :many
-- Locks stages in the one order and reads them. What is decided from ready, flight and parked is decided in a
-- later statement: this one's snapshot is older than the locks it waited for.
SELECT s.run_id, s.ord, s.generation, s.state, s.shard_total, s.max_attempts, coalesce(s.key, '')::text AS key
FROM ax.stage s
JOIN (SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord) k
  ON k.run_id = s.run_id AND k.ord = s.ord
WHERE s.run_id = ANY(@run_ids::uuid[])
ORDER BY s.run_id, s.ord
FOR NO KEY UPDATE OF s;

-- name: RetireStages :many
-- Decides the (locked) stages that have nothing ready and nothing in flight any more, and stores their final
-- counts once. A stage with shards that wait, for aligned upstream shards or for runs, is not done. It fails by more
-- failed shards than it tolerates, ends by its verdict or as cancelled if a shard was cancelled, is skipped if all of it
-- was, and succeeds otherwise. A plan that was never made tolerates nothing.
WITH k AS (
    SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord
), p AS (
    SELECT p.run_id, p.ord, p.generation,
           coalesce(sum(p.n) FILTER (WHERE p.reason IN (1, 6, 8, 9)), 0)::int AS dead,
           coalesce(sum(p.n) FILTER (WHERE p.reason = 2), 0)::int AS cancelled,
           coalesce(sum(p.n) FILTER (WHERE p.reason = 3), 0)::int AS skipped,
           coalesce(sum(p.n) FILTER (WHERE p.reason IN (4, 7)), 0)::int AS waiting,
           coalesce(sum(p.n) FILTER (WHERE p.reason = 5), 0)::int AS upstream
    FROM ax.parked p
    WHERE p.run_id = ANY(@run_ids::uuid[])
    GROUP BY p.run_id, p.ord, p.generation
), c AS (
    SELECT s.run_id, s.ord, s.shard_total, s.state, coalesce(p.dead, 0) AS dead, coalesce(p.cancelled, 0) AS cancelled,
           coalesce(p.skipped, 0) AS skipped, coalesce(p.upstream, 0) AS upstream, s.verdict,
           coalesce(p.dead, 0) + coalesce(p.upstream, 0)
           > CASE WHEN s.shard_total IS NULL THEN 0 ELSE coalesce(s.tolerate, 0) END AS broken
    FROM ax.stage s
    JOIN k ON k.run_id = s.run_id AND k.ord = s.ord
    LEFT JOIN p ON p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation
    WHERE s.run_id = ANY(@run_ids::uuid[])
      AND s.state = ANY(@active::smallint[])
      AND coalesce(p.waiting, 0) = 0
      AND (s.shard_total IS NOT NULL OR s.state = 3
           OR coalesce(p.dead, 0) + coalesce(p.cancelled, 0) + coalesce(p.skipped, 0) + coalesce(p.upstream, 0) > 0)
      AND NOT EXISTS (SELECT 1 FROM ax.ready r
                      WHERE r.run_id = ANY(@run_ids::uuid[])
                        AND r.run_id = s.run_id AND r.ord = s.ord AND r.generation = s.generation)
      AND NOT EXISTS (SELECT 1 FROM ax.flight f
                      WHERE f.run_id = ANY(@run_ids::uuid[])
                        AND f.run_id = s.run_id AND f.ord = s.ord AND f.generation = s.generation
                        AND NOT isempty(f.todo))
)
UPDATE ax.stage s
SET state = CASE WHEN c.broken AND c.dead > 0 THEN 11
                 WHEN c.broken AND c.state = 2 THEN 14
                 WHEN c.broken OR c.cancelled > 0 OR c.shard_total IS NULL AND c.skipped = 0 THEN coalesce(c.verdict, 12)
                 WHEN c.skipped > 0 AND c.dead + c.upstream = 0 AND c.skipped = coalesce(c.shard_total, c.skipped) THEN 13
                 ELSE 10 END,
    succeeded = coalesce(c.shard_total - c.dead - c.upstream - c.cancelled - c.skipped, 0),
    failed = c.dead + c.upstream, cancelled = c.cancelled, skipped = c.skipped,
    finished_at = clock_timestamp()
FROM c
WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.run_id = c.run_id AND s.ord = c.ord
  AND s.state = ANY(@active::smallint[])
RETURNING s.run_id, s.ord, s.state;

-- name: TakeFromFlights :many
-- Takes indices out of flights without a result: give-back, time-out, drain, interruption, cancel. With a
-- worker only that worker's flights are touched; without, anybody's.
WITH d AS (
    SELECT unnest(@executions::uuid[]) AS e, unnest(@wanted::text[])::int4multirange AS want
), l AS MATERIALIZED (
    SELECT f.id, f.run_id, f.ready_at, f.version_id, f.ord, f.generation, f.kind, f.attempt, f.delivery,
           f.losses, f.level, f.namespace, f.queue, f.key, f.todo * d.want AS acc, f.todo - d.want AS rest
    FROM ax.flight f JOIN d ON f.id = d.e
    WHERE f.id = ANY(@executions::uuid[])
      AND (sqlc.narg(worker_id)::uuid IS NULL OR f.worker_id = sqlc.narg(worker_id)::uuid)
    ORDER BY f.id
    FOR UPDATE OF f
), gone AS (
    DELETE FROM ax.flight f USING l WHERE f.id = ANY(@executions::uuid[]) AND f.id = l.id AND isempty(l.rest)
), less AS (
    UPDATE ax.flight f SET todo = l.rest FROM l
    WHERE f.id = ANY(@executions::uuid[]) AND f.id = l.id AND NOT isempty(l.acc) AND NOT isempty(l.rest)
)
SELECT l.id, l.run_id, l.ready_at, l.version_id, l.ord, l.generation, l.kind, l.attempt, l.delivery, l.losses,
       l.level, l.namespace, l.queue, coalesce(l.key, '')::text AS key, l.acc::text AS taken
FROM l;

-- name: SeizeOrphans :many
-- Takes the flights whose worker is gone. A worker never comes back under the same id, so an absent owner
-- stays absent.
WITH l AS MATERIALIZED (
    SELECT f.id, f.run_id, f.ready_at, f.version_id, f.ord, f.generation, f.kind, f.attempt, f.delivery,
           f.losses, f.level, f.namespace, f.queue, f.key, f.todo, f.worker_id
    FROM ax.flight f
    WHERE NOT EXISTS (SELECT 1 FROM ax.worker w WHERE w.id = f.worker_id)
    ORDER BY f.id
    LIMIT @most
    FOR UPDATE OF f
), gone AS (
    DELETE FROM ax.flight f USING l WHERE f.id = l.id
)
SELECT l.id, l.run_id, l.ready_at, l.version_id, l.ord, l.generation, l.kind, l.attempt, l.delivery, l.losses,
       l.level, l.namespace, l.queue, coalesce(l.key, '')::text AS key, l.todo::text AS taken, l.worker_id
FROM l;

-- name: PlaceReady :many
-- Puts taken indices back to ready, on stages that are locked and checked; not_before is quantised, so that
-- what failed together is due together.
WITH x AS (
    SELECT unnest(@ids::uuid[]) AS id, unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
           unnest(@generations::smallint[]) AS generation, unnest(@kinds::smallint[]) AS kind,
           unnest(@version_ids::int[]) AS version_id, unnest(@attempts::smallint[]) AS attempt,
           unnest(@deliveries::smallint[]) AS delivery, unnest(@losses::smallint[]) AS losses,
           unnest(@levels::smallint[]) AS level, unnest(@namespaces::text[]) AS namespace,
           unnest(@queues::text[]) AS queue, unnest(@keys::text[]) AS key,
           unnest(@delay_ms::bigint[]) AS delay_ms, unnest(@quantum_ms::bigint[]) AS quantum_ms,
           unnest(@ns::int[]) AS n, unnest(@todos::text[])::int4multirange AS todo
)
INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery,
                      losses, level, namespace, queue, key, todo)
SELECT x.id, x.run_id,
       CASE WHEN x.delay_ms = 0 THEN now()
            ELSE date_bin(x.quantum_ms * interval '1 ms', now() + x.delay_ms * interval '1 ms',
                          timestamptz '2000-01-01 00:00:00Z') + x.quantum_ms * interval '1 ms' END,
       now(), x.version_id, x.n, x.ord, x.generation, x.kind, x.attempt, x.delivery, x.losses, x.level,
       x.namespace, x.queue, nullif(x.key, ''), x.todo
FROM x
WHERE EXISTS (SELECT 1 FROM ax.stage s
              WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.run_id = x.run_id AND s.ord = x.ord
                AND s.generation = x.generation AND s.state = ANY(@live::smallint[]))
RETURNING id, not_before, ready_at;

-- name: PlaceParked :many
-- Parks taken indices with a reason, on stages that are locked and checked.
WITH x AS (
    SELECT unnest(@ids::uuid[]) AS id, unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
           unnest(@generations::smallint[]) AS generation, unnest(@kinds::smallint[]) AS kind,
           unnest(@version_ids::int[]) AS version_id, unnest(@attempts::smallint[]) AS attempt,
           unnest(@deliveries::smallint[]) AS delivery, unnest(@losses::smallint[]) AS losses,
           unnest(@levels::smallint[]) AS level, unnest(@namespaces::text[]) AS namespace,
           unnest(@queues::text[]) AS queue, unnest(@keys::text[]) AS key, unnest(@reasons::smallint[]) AS reason,
           unnest(@fingerprints::text[]) AS fingerprint,
           unnest(@ns::int[]) AS n, unnest(@todos::text[])::int4multirange AS todo
)
INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery,
                       losses, level, reason, namespace, queue, key, fingerprint, todo)
SELECT x.id, x.run_id, now(), now(), x.version_id, x.n, x.ord, x.generation, x.kind, x.attempt, x.delivery,
       x.losses, x.level, x.reason, x.namespace, x.queue, nullif(x.key, ''), nullif(x.fingerprint, ''), x.todo
FROM x
WHERE EXISTS (SELECT 1 FROM ax.stage s
              WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.run_id = x.run_id AND s.ord = x.ord
                AND s.generation = x.generation AND s.state = ANY(@live::smallint[]))
RETURNING id;

-- name: FreezePlan :execrows
-- A plan's answer, once: the stage must still be planning in the plan's generation.
UPDATE ax.stage
SET state = @state, shard_total = @shard_total::int, cut = @cut, tolerate = nullif(@tolerate::int, 0),
    finished_at = CASE WHEN @decided::bool THEN clock_timestamp() END
WHERE run_id = @run_id AND ord = @ord AND generation = @generation AND state = ANY(@from_states::smallint[])
  AND shard_total IS NULL;

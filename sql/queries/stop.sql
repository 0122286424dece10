-- Stopping a stage: it starts nothing more, what is in flight is asked to stop, and it ends by its verdict. The stages
-- are locked; the statements follow each other in one transaction, since each reads what the one before has done and
-- waited for.

-- name: StopStages :many
-- Stops stages that still run, or plan, in the generation that is named.
UPDATE ax.stage s SET state = 3, verdict = 11, reason = @why::text
FROM (SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
             unnest(@generations::smallint[]) AS generation) k
WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.run_id = k.run_id AND s.ord = k.ord AND s.generation = k.generation
  AND s.state IN (1, 2)
RETURNING s.run_id, s.ord;

-- name: StopBroken :many
-- Stops stages that still run and of which more shards have failed than they tolerate.
WITH k AS (
    SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord
), p AS (
    SELECT p.run_id, p.ord, p.generation, sum(p.n)::int AS failed
    FROM ax.parked p
    WHERE p.run_id = ANY(@run_ids::uuid[]) AND p.reason IN (1, 5, 6, 8, 9) AND p.kind = 0
    GROUP BY p.run_id, p.ord, p.generation
)
UPDATE ax.stage s SET state = 3, verdict = 11,
    reason = format('fail fast: %s failed, %s tolerated', p.failed, coalesce(s.tolerate, 0))
FROM p, k
WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.run_id = p.run_id AND s.ord = p.ord AND s.generation = p.generation
  AND s.run_id = k.run_id AND s.ord = k.ord
  AND s.state = 2 AND p.failed > coalesce(s.tolerate, 0)
RETURNING s.run_id, s.ord;

-- name: ParkStopped :exec
-- Parks what is ready of stopped stages. It waits for hand-outs that hold the rows.
WITH taken AS (
    DELETE FROM ax.ready r
    WHERE r.run_id = ANY(@run_ids::uuid[])
      AND r.id IN (SELECT x.id
                   FROM ax.ready x
                   JOIN (SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord) k
                     ON k.run_id = x.run_id AND k.ord = x.ord
                   JOIN ax.stage s ON s.run_id = x.run_id AND s.ord = x.ord
                   WHERE x.run_id = ANY(@run_ids::uuid[]) AND s.run_id = ANY(@run_ids::uuid[])
                     AND s.state = 3 AND s.verdict IS NOT NULL AND s.generation = x.generation
                   ORDER BY x.id
                   FOR UPDATE OF x)
    RETURNING r.id, r.run_id, r.ready_at, r.version_id, r.n, r.ord, r.generation, r.kind, r.attempt, r.delivery, r.losses,
              r.level, r.namespace, r.queue, r.key, r.todo
)
INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses,
                       level, reason, namespace, queue, key, fingerprint, todo)
SELECT id, run_id, now(), ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level,
       @reason::smallint, namespace, queue, key, nullif(@fingerprint::text, ''), todo
FROM taken;

-- name: ReparkStopped :exec
-- What waits in stopped stages, for aligned upstream shards or for runs, waits no more.
UPDATE ax.parked p SET reason = @reason::smallint, fingerprint = nullif(@fingerprint::text, '')
FROM ax.stage s, (SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord) k
WHERE p.run_id = ANY(@run_ids::uuid[]) AND s.run_id = ANY(@run_ids::uuid[])
  AND p.run_id = k.run_id AND p.ord = k.ord AND s.run_id = p.run_id AND s.ord = p.ord
  AND s.state = 3 AND s.verdict IS NOT NULL AND s.generation = p.generation AND p.reason IN (4, 7);

-- name: AskStopped :many
-- Asks the workers that hold flights of stopped stages to drop them, and names them. Asking twice is asking once.
WITH f AS (
    SELECT f.id, f.worker_id
    FROM ax.flight f
    JOIN (SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord) k
      ON k.run_id = f.run_id AND k.ord = f.ord
    JOIN ax.stage s ON s.run_id = f.run_id AND s.ord = f.ord
    WHERE f.run_id = ANY(@run_ids::uuid[]) AND s.run_id = ANY(@run_ids::uuid[])
      AND s.state = 3 AND s.verdict IS NOT NULL AND s.generation = f.generation
), asked AS (
    INSERT INTO ax.ask (execution_id, kind, worker_id) SELECT f.id, 1, f.worker_id FROM f
    ON CONFLICT DO NOTHING
)
SELECT DISTINCT f.worker_id FROM f;

-- name: DropExpiries :exec
-- Forgets the budgets of the named generations and of those before.
DELETE FROM ax.expiry e
USING (SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
              unnest(@generations::smallint[]) AS generation) k
WHERE e.run_id = ANY(@run_ids::uuid[]) AND e.run_id = k.run_id AND e.ord = k.ord AND e.generation <= k.generation;

-- name: DropExpiriesOf :exec
-- Forgets the budgets of runs that have ended.
DELETE FROM ax.expiry WHERE run_id = ANY(@run_ids::uuid[]);

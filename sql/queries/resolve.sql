-- name: LockRuns :many
-- Locks open runs for a decision; those that another transaction holds are left for the next round.
SELECT run_id, version_id, state, level, forced_level, namespace, queue, (trigger = 'child')::bool AS child,
       (CASE WHEN octet_length(params) <= 4096 THEN params END)::bytea AS params
FROM ax.run
WHERE run_id = ANY(@run_ids::uuid[]) AND finished_at IS NULL AND stuck IS NULL
ORDER BY run_id
FOR NO KEY UPDATE SKIP LOCKED;

-- name: OpenAmong :many
-- Which of the runs are still to be decided, whoever holds them.
SELECT run_id FROM ax.run WHERE finished_at IS NULL AND stuck IS NULL AND run_id = ANY(@run_ids::uuid[]);

-- name: StagesOf :many
SELECT run_id, ord, generation, state, coalesce(shard_total, -1)::int AS shard_total, finished_at, level,
       coalesce(key, '')::text AS key,
       extract(epoch FROM clock_timestamp() - since)::float8 AS waited_s
FROM ax.stage WHERE run_id = ANY(@run_ids::uuid[]);

-- name: ApplyDecisions :many
-- Releases, skips and fails waiting stages of locked runs, and gives the released ones their span: a ready
-- row, or at once a flight (flight_ids not null: a worker has room), or a parked row for aligned shards. A released
-- stage with an overall budget gets the time when it runs out of it: the budget counts from when it may be handed out.
WITH x AS (
    SELECT unnest(@stage_runs::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
           unnest(@generations::smallint[]) AS generation, unnest(@states::smallint[]) AS state,
           unnest(@totals::int[]) AS total, unnest(@reasons::text[]) AS reason,
           unnest(@span_ids::uuid[]) AS span_id, unnest(@span_places::smallint[]) AS place, -- 0 none, 1 ready, 2 flight, 3 parked
           unnest(@worker_ids::uuid[]) AS worker_id, unnest(@kinds::smallint[]) AS kind,
           unnest(@ns::int[]) AS n, unnest(@todos::text[])::int4multirange AS todo,
           unnest(@delays_s::float8[]) AS delay_s, unnest(@overalls_s::float8[]) AS overall_s,
           unnest(@keys::text[]) AS key, unnest(@tolerates::int[]) AS tolerate,
           unnest(@version_ids::int[]) AS version_id, unnest(@levels::smallint[]) AS level,
           unnest(@namespaces::text[]) AS namespace, unnest(@queues::text[]) AS queue
), u AS (
    UPDATE ax.stage s
    SET state = x.state, shard_total = coalesce(nullif(x.total, -1), s.shard_total),
        tolerate = nullif(x.tolerate, 0), reason = nullif(x.reason, ''),
        ready_at = clock_timestamp(), finished_at = CASE WHEN x.state >= 10 THEN clock_timestamp() END
    FROM x
    WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.run_id = x.run_id AND s.ord = x.ord
      AND s.generation = x.generation AND s.state = 0
    RETURNING s.run_id, s.ord, s.ready_at
), rdy AS (
    INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery,
                          losses, level, namespace, queue, key, todo)
    SELECT x.span_id, x.run_id, u.ready_at + make_interval(secs => x.delay_s), u.ready_at, x.version_id, x.n, x.ord,
           x.generation, x.kind, 1, 1, 0, x.level, x.namespace, x.queue, nullif(x.key, ''), x.todo
    FROM x JOIN u ON u.run_id = x.run_id AND u.ord = x.ord
    WHERE x.place = 1
), fly AS (
    INSERT INTO ax.flight (id, run_id, worker_id, ready_at, dispatched_at, version_id, epoch, par, ord, generation, kind,
                           attempt, delivery, losses, level, namespace, queue, key, todo)
    SELECT x.span_id, x.run_id, x.worker_id, u.ready_at, clock_timestamp(), x.version_id, @epoch::int, 1, x.ord,
           x.generation, x.kind, 1, 1, 0, x.level, x.namespace, x.queue, nullif(x.key, ''), x.todo
    FROM x JOIN u ON u.run_id = x.run_id AND u.ord = x.ord
    WHERE x.place = 2
), prk AS (
    INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery,
                           losses, level, reason, namespace, queue, key, todo)
    SELECT x.span_id, x.run_id, now(), now(), x.version_id, x.n, x.ord, x.generation, 0, 1, 1, 0, x.level, 4,
           x.namespace, x.queue, nullif(x.key, ''), x.todo
    FROM x JOIN u ON u.run_id = x.run_id AND u.ord = x.ord
    WHERE x.place = 3
), exp AS (
    INSERT INTO ax.expiry AS e (run_id, ord, generation, expires_at)
    SELECT x.run_id, x.ord, x.generation, u.ready_at + make_interval(secs => x.delay_s + x.overall_s)
    FROM x JOIN u ON u.run_id = x.run_id AND u.ord = x.ord
    WHERE x.overall_s > 0 AND x.state < 10
    ON CONFLICT (run_id, ord) DO UPDATE SET generation = excluded.generation, expires_at = excluded.expires_at
    WHERE e.generation <= excluded.generation
)
SELECT u.run_id, u.ord, u.ready_at FROM u;

-- name: EndRuns :many
-- Ends locked runs, once, and writes the deliveries to webhooks that this causes (as TellRuns does).
WITH e AS (
    UPDATE ax.run r
    SET state = x.state, finished_at = clock_timestamp(), version = r.version + 1
    FROM (SELECT unnest(@ended::uuid[]) AS run_id, unnest(@states::smallint[]) AS state) x
    WHERE r.run_id = ANY(@ended::uuid[]) AND r.run_id = x.run_id AND r.state = ANY(@from_states::smallint[])
      AND r.finished_at IS NULL
    RETURNING r.run_id, r.state, r.finished_at, r.namespace, r.flow, r.version_id, coalesce(r.forced_level, r.level) AS level,
              r.queue, r.tags, r.created_at, r.deadline,
              CASE r.state WHEN 10 THEN 'run.succeeded' WHEN 11 THEN 'run.failed' WHEN 12 THEN 'run.cancelled' END AS event
), d AS (
    INSERT INTO ax.delivery (id, webhook_id, namespace, event, run_id, asked_at, next_at, created_at, data)
    SELECT gen_random_uuid(), w.id, e.namespace, e.event, e.run_id, e.finished_at, e.finished_at, e.finished_at,
           jsonb_build_object('flow', e.flow, 'version', (SELECT v.hash FROM ax.flow_version v WHERE v.id = e.version_id),
                              'state', e.state, 'level', e.level, 'queue', e.queue, 'tags', e.tags, 'created_at', e.created_at,
                              'finished_at', e.finished_at, 'deadline', e.deadline, 'late', e.deadline < e.finished_at)
    FROM e JOIN ax.webhook w ON w.namespace = e.namespace
    WHERE w.disabled_at IS NULL AND e.event = ANY(w.events) AND (w.flows = '{}' OR e.flow = ANY(w.flows))
    RETURNING id
)
SELECT e.run_id, e.state, e.finished_at, EXISTS (SELECT 1 FROM d) AS told FROM e;

-- name: MarkStuck :exec
-- Sets a run aside whose own fault keeps the engine from deciding it.
UPDATE ax.run SET stuck = @code::text, version = version + 1 WHERE run_id = @run_id AND finished_at IS NULL;

-- name: OpenRuns :many
-- A page of open runs, for the full scan.
SELECT run_id FROM ax.run WHERE finished_at IS NULL AND run_id > @after ORDER BY run_id LIMIT @most;

-- name: IdleStages :many
-- Released stages of the given runs that hold nothing ready and nothing in flight, and nothing that waits: their
-- retirement was lost.
SELECT s.run_id, s.ord FROM ax.stage s
WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.state IN (1, 2, 3)
  AND NOT EXISTS (SELECT 1 FROM ax.ready r
                  WHERE r.run_id = ANY(@run_ids::uuid[])
                    AND r.run_id = s.run_id AND r.ord = s.ord AND r.generation = s.generation)
  AND NOT EXISTS (SELECT 1 FROM ax.flight f
                  WHERE f.run_id = ANY(@run_ids::uuid[])
                    AND f.run_id = s.run_id AND f.ord = s.ord AND f.generation = s.generation
                    AND NOT isempty(f.todo))
  AND NOT EXISTS (SELECT 1 FROM ax.parked p
                  WHERE p.run_id = ANY(@run_ids::uuid[]) AND p.reason IN (4, 7)
                    AND p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation);

-- name: BrokenAmong :many
-- Running stages of the given runs of which more shards have failed than they tolerate.
SELECT s.run_id, s.ord
FROM ax.stage s
JOIN (SELECT p.run_id, p.ord, p.generation, sum(p.n)::int AS failed
      FROM ax.parked p
      WHERE p.run_id = ANY(@run_ids::uuid[]) AND p.reason IN (1, 5, 6, 8, 9) AND p.kind = 0
      GROUP BY p.run_id, p.ord, p.generation) p
  ON p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation
WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.state = 2 AND p.failed > coalesce(s.tolerate, 0);

-- name: RemainingOf :many
-- What a stage's current generation still holds anywhere: one statement, so one snapshot.
SELECT 1::smallint AS place, r.id, 0::smallint AS reason, r.todo::text AS todo FROM ax.ready r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.kind = 0
UNION ALL
SELECT 2::smallint, f.id, 0::smallint, f.todo::text FROM ax.flight f
WHERE f.run_id = @run_id AND f.ord = @ord AND f.generation = @generation AND f.kind = 0
UNION ALL
SELECT 3::smallint, p.id, p.reason, p.todo::text FROM ax.parked p
WHERE p.run_id = @run_id AND p.ord = @ord AND p.generation = @generation AND p.kind = 0;

-- name: Unpark :many
-- Takes indices out of parked rows of one reason (a locked stage's), for their way to ready.
WITH d AS (
    SELECT unnest(@ids::uuid[]) AS id, unnest(@wanted::text[])::int4multirange AS want
), l AS MATERIALIZED (
    SELECT p.id, p.run_id, p.ready_at, p.version_id, p.ord, p.generation, p.kind, p.attempt, p.delivery, p.losses,
           p.level, p.namespace, p.queue, p.key, p.n, p.todo * d.want AS acc, p.todo - d.want AS rest
    FROM ax.parked p JOIN d ON d.id = p.id
    WHERE p.id = ANY(@ids::uuid[]) AND p.reason = @reason
    ORDER BY p.id
    FOR UPDATE OF p
), gone AS (
    DELETE FROM ax.parked p USING l WHERE p.id = l.id AND isempty(l.rest)
), less AS (
    UPDATE ax.parked p
    SET todo = l.rest, n = (SELECT sum(upper(x) - lower(x)) FROM unnest(l.rest) AS x)::int
    FROM l WHERE p.id = l.id AND NOT isempty(l.rest) AND NOT isempty(l.acc)
)
SELECT l.id, l.run_id, l.ready_at, l.version_id, l.ord, l.generation, l.kind, l.attempt, l.delivery, l.losses,
       l.level, l.namespace, l.queue, coalesce(l.key, '')::text AS key, l.acc::text AS taken
FROM l;

-- name: Settings :many
-- The switches that somebody has set.
SELECT name, value FROM ax.setting;

-- name: Holds :many
SELECT namespace, kind, name, actor, reason, held_at FROM ax.hold ORDER BY namespace, kind, name;

-- name: Queues :many
SELECT namespace, name, capacity, concurrency, weights, decay, alert_at, refuse_at, pause_at, resume_at, core_level,
       low_level, depth, pressure, published_at
FROM ax.queue ORDER BY namespace, name;

-- name: Circuits :many
SELECT namespace, kind, name, state, manual, failures, opened_at, until, last_error, actor, reason, version, updated_at
FROM ax.circuit ORDER BY namespace, kind, name;

-- name: SaveCircuits :many
-- Writes moves of circuits, each only if nobody has moved it since it was read (version 0: no row), with their audit
-- rows, and returns those that were written.
WITH x AS (
    SELECT unnest(@namespaces::text[]) AS namespace, unnest(@kinds::text[]) AS kind, unnest(@names::text[]) AS name,
           unnest(@states::smallint[]) AS state, unnest(@failures::int[]) AS failures,
           unnest(@opened::timestamptz[]) AS opened_at, unnest(@untils::timestamptz[]) AS until,
           unnest(@errors::text[]) AS last_error, unnest(@reasons::text[]) AS reason, unnest(@versions::int[]) AS version,
           unnest(@audit_ids::uuid[]) AS audit_id, unnest(@verbs::text[]) AS verb
), ins AS (
    INSERT INTO ax.circuit (namespace, kind, name, state, failures, opened_at, until, last_error, actor, reason)
    SELECT x.namespace, x.kind, x.name, x.state, x.failures, nullif(x.opened_at, 'epoch'), nullif(x.until, 'epoch'),
           x.last_error, @actor::text, x.reason
    FROM x WHERE x.version = 0
    ON CONFLICT DO NOTHING
    RETURNING namespace, kind, name, version
), upd AS (
    UPDATE ax.circuit c
    SET state = x.state, failures = x.failures, opened_at = nullif(x.opened_at, 'epoch'),
        until = nullif(x.until, 'epoch'), last_error = x.last_error,
        actor = @actor::text, reason = x.reason, version = c.version + 1, updated_at = clock_timestamp()
    FROM x
    WHERE c.namespace = x.namespace AND c.kind = x.kind AND c.name = x.name AND c.version = x.version AND x.version > 0
      AND NOT c.manual
    RETURNING c.namespace, c.kind, c.name, c.version
), written AS (
    SELECT namespace, kind, name, version FROM ins UNION ALL SELECT namespace, kind, name, version FROM upd
), told AS (
    INSERT INTO ax.audit (namespace, id, actor, verb, target, reason)
    SELECT x.namespace, x.audit_id, @actor::text, x.verb, 'circuit/' || x.kind || '/' || x.name, x.reason
    FROM x JOIN written w ON w.namespace = x.namespace AND w.kind = x.kind AND w.name = x.name
)
SELECT w.namespace, w.kind, w.name, w.version FROM written w;

-- name: FlowVersionIDs :many
-- The newest registered version of each of some flows.
SELECT namespace, name, version_id FROM ax.flow WHERE namespace = ANY(@namespaces::text[]) AND name = ANY(@names::text[]);

-- name: QueueDepths :many
-- How many tasks wait or run in the queues that have a capacity. A count ends one row past the capacity: every row holds
-- a task at least, so a full queue costs its capacity, however far it is over. urgent tells whether anything more urgent than
-- the low levels waits to be handed out.
SELECT q.namespace, q.name, q.capacity, q.alert_at, q.refuse_at, q.pause_at, q.resume_at, q.depth, q.pressure,
       (coalesce((SELECT sum(x.n) FROM (
            SELECT r.n FROM ax.ready r WHERE r.namespace = q.namespace AND r.queue = q.name LIMIT q.capacity + 1) x), 0))::bigint AS ready,
       EXISTS (SELECT 1 FROM ax.ready r WHERE r.namespace = q.namespace AND r.queue = q.name AND r.level < q.low_level
               AND r.not_before <= now())::bool AS urgent
FROM ax.queue q WHERE q.capacity IS NOT NULL
ORDER BY q.namespace, q.name;

-- name: QueueFlights :many
-- How many tasks run in each of some queues.
SELECT f.namespace, f.queue, sum((SELECT sum(upper(p) - lower(p)) FROM unnest(f.todo) AS p))::bigint AS tasks
FROM ax.flight f WHERE NOT isempty(f.todo)
GROUP BY f.namespace, f.queue;

-- name: PublishQueues :exec
UPDATE ax.queue q SET depth = x.depth, pressure = x.pressure, published_at = clock_timestamp()
FROM (SELECT unnest(@namespaces::text[]) AS namespace, unnest(@names::text[]) AS name, unnest(@depths::bigint[]) AS depth,
             unnest(@pressures::smallint[]) AS pressure) x
WHERE q.namespace = x.namespace AND q.name = x.name;

-- name: Rates :many
SELECT name, width_ms, slot, counts, unstarted, updated_at FROM ax.rate;

-- name: SaveRates :exec
-- Part of the transaction that hands out what these windows count, and behind it: updated_at is no earlier than any of its
-- starts.
INSERT INTO ax.rate (name, width_ms, slot, counts, unstarted, updated_at)
SELECT unnest(@names::text[]), unnest(@widths::bigint[]), unnest(@slots::bigint[]), unnest(@counts::text[])::int[],
       unnest(@unstarted::int[]), clock_timestamp()
ON CONFLICT (name) DO UPDATE
SET width_ms = excluded.width_ms, slot = excluded.slot, counts = excluded.counts, unstarted = excluded.unstarted,
    updated_at = excluded.updated_at;

-- name: DropRates :execrows
-- Windows that are over, and those that lost what they counted as unstarted a day ago.
DELETE FROM ax.rate r
WHERE (r.slot + 17) * r.width_ms < extract(epoch FROM now()) * 1000 - 60000
  AND (r.unstarted = 0 OR r.updated_at < now() - interval '1 day');

-- name: Learned :many
SELECT handler, mean_ns, samples FROM ax.learned;

-- name: SaveLearned :exec
INSERT INTO ax.learned (handler, mean_ns, samples, updated_at)
SELECT unnest(@handlers::text[]), unnest(@means::bigint[]), unnest(@samples::int[]), clock_timestamp()
ON CONFLICT (handler) DO UPDATE
SET mean_ns = excluded.mean_ns, samples = excluded.samples, updated_at = excluded.updated_at;

-- name: DueExpiries :many
-- The overall budgets that run out within the horizon.
SELECT run_id, ord, generation, expires_at FROM ax.expiry
WHERE expires_at <= now() + make_interval(secs => @horizon_s::float8)
ORDER BY expires_at LIMIT @most;

-- name: RecallRuns :exec
-- Asks the workers of held runs for what has not started; asking twice is asking once.
INSERT INTO ax.ask (execution_id, kind, worker_id)
SELECT f.id, 2, f.worker_id FROM ax.flight f WHERE f.run_id = ANY(@run_ids::uuid[])
ON CONFLICT DO NOTHING;

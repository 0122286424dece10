-- name: FindVersion :one
SELECT id FROM ax.flow_version WHERE namespace = @namespace AND flow = @flow AND hash = @hash;

-- name: AddVersion :exec
INSERT INTO ax.flow_version (namespace, flow, hash, graph) VALUES (@namespace, @flow, @hash, @graph)
ON CONFLICT (namespace, flow, hash) DO NOTHING;

-- name: RegisterFlow :exec
-- Makes a version the flow's newest. Older processes do not take it back: ids only grow.
INSERT INTO ax.flow (namespace, name, owner, version_id) VALUES (@namespace, @name, @owner, @version_id)
ON CONFLICT (namespace, name) DO UPDATE
SET owner = excluded.owner, version_id = excluded.version_id, version = ax.flow.version + 1, updated_at = now()
WHERE ax.flow.version_id < excluded.version_id;

-- name: NewestVersion :one
SELECT v.id, v.hash, v.graph FROM ax.flow f JOIN ax.flow_version v ON v.id = f.version_id
WHERE f.namespace = @namespace AND f.name = @name;

-- name: ClaimRunKeys :many
-- Binds idempotency keys to new runs and answers with the run that each key is bound to: the new one, or the
-- one of an earlier start whose key has not expired.
WITH x AS (
    SELECT unnest(@flows::text[]) AS flow, unnest(@keys::text[]) AS key, unnest(@run_ids::uuid[]) AS run_id
), mine AS (
    INSERT INTO ax.run_key AS k (namespace, flow, key, run_id, expires_at)
    SELECT @namespace, x.flow, x.key, x.run_id, now() + make_interval(secs => @ttl_s::float8) FROM x
    ORDER BY x.flow, x.key
    ON CONFLICT (namespace, flow, key) DO UPDATE
    SET run_id = CASE WHEN k.expires_at < now() THEN excluded.run_id ELSE k.run_id END,
        expires_at = CASE WHEN k.expires_at < now() THEN excluded.expires_at ELSE k.expires_at END
    RETURNING k.flow, k.key, k.run_id
)
SELECT flow, key, run_id FROM mine;

-- name: InsertRuns :many
-- Inserts runs unless a queue that they go to refuses: then nothing is inserted, here and by the statements below (they
-- look whether the run first is there), and the queues that refuse are returned. wants are the tasks that come to a queue
-- at a level: a queue under pressure refuses levels below its core, a full one refuses everything. The switch
-- "pressure" turns that off.
WITH w AS (
    SELECT unnest(@want_queues::text[]) AS queue, unnest(@want_levels::smallint[]) AS level, unnest(@wants::int[]) AS n
), no AS MATERIALIZED (
    SELECT q.name, q.capacity, q.depth, q.pressure, q.core_level, w.level, w.n
    FROM ax.queue q JOIN w ON w.queue = q.name
    WHERE q.namespace = @namespace AND q.name = ANY(@want_queues::text[]) AND q.capacity IS NOT NULL
      AND (q.pressure >= 2 AND w.level > q.core_level OR q.depth + w.n > q.capacity)
      AND NOT EXISTS (SELECT 1 FROM ax.setting s WHERE s.name = 'pressure' AND s.value = 'false')
), ins AS (
    INSERT INTO ax.run (run_id, version_id, state, level, created_at, finished_at, namespace, flow, queue, trigger,
                        params, tags, deadline)
    SELECT x.run_id, x.version_id, @state, x.level, now(), CASE WHEN @ended::bool THEN now() END, @namespace, x.flow,
           x.queue, @trigger, x.params, nullif(x.tags, '')::jsonb,
           CASE WHEN x.late_s > 0 THEN greatest(now(), @at::timestamptz) + make_interval(secs => x.late_s) END
    FROM (SELECT unnest(@run_ids::uuid[]) AS run_id, unnest(@version_ids::int[]) AS version_id,
                 unnest(@levels::smallint[]) AS level, unnest(@flows::text[]) AS flow, unnest(@queues::text[]) AS queue,
                 unnest(@params::bytea[]) AS params, unnest(@tags::text[]) AS tags,
                 unnest(@lates_s::float8[]) AS late_s) x
    WHERE NOT EXISTS (SELECT 1 FROM no)
      AND (sqlc.narg(first)::uuid IS NULL OR EXISTS (SELECT 1 FROM ax.run r WHERE r.run_id = sqlc.narg(first)::uuid))
)
SELECT no.name, no.capacity::int AS capacity, no.depth, no.pressure, no.core_level,
       no.level::smallint AS level, no.n::int AS n
FROM no;

-- name: InsertStages :exec
-- Roots are born released; the other stages wait.
INSERT INTO ax.stage (run_id, ord, state, shard_total, ready_at, finished_at, reason, key)
SELECT x.run_id, x.ord, x.state, nullif(x.total, -1),
       CASE WHEN x.state <> 0 THEN now() END, CASE WHEN x.state >= 10 THEN now() END, nullif(x.reason, ''),
       nullif(x.key, '')
FROM (SELECT unnest(@run_ids::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
             unnest(@states::smallint[]) AS state, unnest(@totals::int[]) AS total,
             unnest(@reasons::text[]) AS reason, unnest(@keys::text[]) AS key) x
WHERE EXISTS (SELECT 1 FROM ax.run r WHERE r.run_id = @first);

-- name: InsertReady :exec
-- The ready rows of runs that this transaction creates: no other transaction can see their stages yet.
INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery,
                      losses, level, namespace, queue, key, todo)
SELECT x.id, x.run_id, greatest(now(), @at::timestamptz) + make_interval(secs => x.delay_s), now(), x.version_id, 1, x.ord,
       1, x.kind, 1, 1, 0, x.level, @namespace, x.queue, nullif(x.key, ''), x.todo::int4multirange
FROM (SELECT unnest(@ids::uuid[]) AS id, unnest(@run_ids::uuid[]) AS run_id, unnest(@delays_s::float8[]) AS delay_s,
             unnest(@version_ids::int[]) AS version_id, unnest(@ords::smallint[]) AS ord,
             unnest(@kinds::smallint[]) AS kind, unnest(@levels::smallint[]) AS level, unnest(@queues::text[]) AS queue,
             unnest(@keys::text[]) AS key, unnest(@todos::text[]) AS todo) x
WHERE EXISTS (SELECT 1 FROM ax.run r WHERE r.run_id = @first);

-- name: InsertExpiries :exec
-- When the roots with an overall budget run out of it.
INSERT INTO ax.expiry (run_id, ord, generation, expires_at)
SELECT x.run_id, x.ord, 1, greatest(now(), @at::timestamptz) + make_interval(secs => x.delay_s)
FROM (SELECT unnest(@run_ids::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
             unnest(@delays_s::float8[]) AS delay_s) x
WHERE EXISTS (SELECT 1 FROM ax.run r WHERE r.run_id = @first);

-- name: InsertLabels :exec
-- What the runs with tags or searchable params are found by.
INSERT INTO ax.run_label (run_id, namespace, label)
SELECT x.run_id, @namespace, x.label
FROM (SELECT unnest(@run_ids::uuid[]) AS run_id, unnest(@labels::text[]) AS label) x
WHERE EXISTS (SELECT 1 FROM ax.run r WHERE r.run_id = @first);

-- name: ReleaseRunKeys :exec
-- Takes back idempotency keys that this transaction has bound to runs that it then did not start.
DELETE FROM ax.run_key k
USING (SELECT unnest(@flows::text[]) AS flow, unnest(@keys::text[]) AS key, unnest(@run_ids::uuid[]) AS run_id) x
WHERE k.namespace = @namespace AND k.flow = x.flow AND k.key = x.key AND k.run_id = x.run_id;

-- name: Run :one
SELECT run_id, version_id, state, level, version, created_at, finished_at, namespace, flow, queue, trigger, params,
       tags, stuck, error
FROM ax.run WHERE run_id = @run_id;

-- name: RunStates :many
SELECT run_id, state FROM ax.run WHERE run_id = ANY(@run_ids::uuid[]);

-- name: Runs :many
-- Newest first; before is exclusive, for the next page.
SELECT run_id, state, level, created_at, finished_at, flow, trigger, stuck
FROM ax.run
WHERE namespace = @namespace AND run_id < @before AND (@flow::text = '' OR flow = @flow)
ORDER BY run_id DESC
LIMIT @most;

-- name: Progress :many
-- Every stage of a run and where its indices stand; succeeded is what is in none of the three tables.
SELECT s.ord, s.generation, s.state, s.shard_total, s.ready_at, s.finished_at, s.reason, s.succeeded, s.failed,
       s.skipped, s.cancelled,
       coalesce((SELECT sum(r.n) FROM ax.ready r
                 WHERE r.run_id = s.run_id AND r.ord = s.ord AND r.generation = s.generation AND r.kind = 0), 0)::int AS ready,
       coalesce((SELECT sum((SELECT sum(upper(x) - lower(x)) FROM unnest(f.todo) AS x)) FROM ax.flight f
                 WHERE f.run_id = s.run_id AND f.ord = s.ord AND f.generation = s.generation AND f.kind = 0), 0)::int AS flight,
       coalesce(parked.dead, 0)::int AS dead, coalesce(parked.upstream, 0)::int AS upstream_failed, coalesce(parked.other, 0)::int AS parked
FROM ax.stage s
CROSS JOIN LATERAL (
    SELECT sum(p.n) FILTER (WHERE p.reason IN (1, 5, 6, 8, 9)) AS dead, sum(p.n) FILTER (WHERE p.reason = 5) AS upstream,
           sum(p.n) FILTER (WHERE p.reason NOT IN (1, 5, 6, 8, 9)) AS other
    FROM ax.parked p
    WHERE p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation AND p.kind = 0
) parked
WHERE s.run_id = @run_id
ORDER BY s.ord;

-- name: LastErrors :many
-- The newest failures of a run, for people.
SELECT ord, generation, shard, attempt, delivery, outcome, finished_at, error
FROM ax.result
WHERE run_id = @run_id AND outcome NOT IN (10, 13)
ORDER BY finished_at DESC
LIMIT @most;

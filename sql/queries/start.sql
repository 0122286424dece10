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

-- name: InsertRuns :exec
INSERT INTO ax.run (run_id, version_id, state, level, created_at, finished_at, namespace, flow, queue, trigger,
                    params, tags)
SELECT unnest(@run_ids::uuid[]), unnest(@version_ids::int[]), @state, unnest(@levels::smallint[]), now(),
       CASE WHEN @ended::bool THEN now() END, @namespace, unnest(@flows::text[]), unnest(@queues::text[]), @trigger,
       unnest(@params::bytea[]), nullif(unnest(@tags::text[]), '')::jsonb;

-- name: InsertStages :exec
-- Roots are born released; the other stages wait.
INSERT INTO ax.stage (run_id, ord, state, shard_total, ready_at, finished_at, reason)
SELECT x.run_id, x.ord, x.state, nullif(x.total, -1),
       CASE WHEN x.state <> 0 THEN now() END, CASE WHEN x.state >= 10 THEN now() END, nullif(x.reason, '')
FROM (SELECT unnest(@run_ids::uuid[]) AS run_id, unnest(@ords::smallint[]) AS ord,
             unnest(@states::smallint[]) AS state, unnest(@totals::int[]) AS total,
             unnest(@reasons::text[]) AS reason) x;

-- name: InsertReady :exec
-- The ready rows of runs that this transaction creates: no other transaction can see their stages yet.
INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery,
                      losses, level, namespace, queue, todo)
SELECT unnest(@ids::uuid[]), unnest(@run_ids::uuid[]), now() + make_interval(secs => unnest(@delays_s::float8[])), now(),
       unnest(@version_ids::int[]), 1, unnest(@ords::smallint[]), 1, unnest(@kinds::smallint[]), 1, 1, 0,
       unnest(@levels::smallint[]), @namespace, unnest(@queues::text[]), unnest(@todos::text[])::int4multirange;

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
       coalesce((SELECT sum(p.n) FROM ax.parked p
                 WHERE p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation AND p.kind = 0
                   AND p.reason IN (1, 5, 6)), 0)::int AS dead,
       coalesce((SELECT sum(p.n) FROM ax.parked p
                 WHERE p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation AND p.kind = 0
                   AND p.reason NOT IN (1, 5, 6)), 0)::int AS parked
FROM ax.stage s
WHERE s.run_id = @run_id
ORDER BY s.ord;

-- name: LastErrors :many
-- The newest failures of a run, for people.
SELECT ord, generation, shard, attempt, delivery, outcome, finished_at, error
FROM ax.result
WHERE run_id = @run_id AND outcome <> 10
ORDER BY finished_at DESC
LIMIT @most;

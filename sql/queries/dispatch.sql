-- name: CutSpans :many
-- Hands pieces of ready spans to workers. Runs that a verb or the resolver holds are skipped until the next
-- round; the lock makes a cancel see every flight that was handed out before it. A piece is handed out only
-- if its whole ready row still holds everything that this statement wants of it.
WITH p AS (
    SELECT unnest(@ready_ids::uuid[]) AS ready_id, unnest(@flight_ids::uuid[]) AS flight_id,
           unnest(@worker_ids::uuid[]) AS worker_id, unnest(@pieces::text[])::int4multirange AS piece,
           unnest(@sizes::int[]) AS size, unnest(@pars::int[]) AS par
), need AS (
    SELECT ready_id, range_agg(piece) AS want, sum(size)::int AS size FROM p GROUP BY ready_id
), runs AS MATERIALIZED (
    SELECT run_id, params FROM ax.run WHERE run_id = ANY(@run_ids::uuid[]) ORDER BY run_id FOR SHARE SKIP LOCKED
), r AS MATERIALIZED (
    SELECT r.id, r.run_id, r.ready_at, r.version_id, r.n, r.ord, r.generation, r.kind, r.attempt, r.delivery, r.losses,
           r.level, r.namespace, r.queue, r.key, need.size, r.todo - need.want AS rest
    FROM ax.ready r JOIN need ON need.ready_id = r.id
    WHERE r.id = ANY(@ready_ids::uuid[]) AND r.todo @> need.want AND r.run_id IN (SELECT u.run_id FROM runs u)
    ORDER BY r.id
    FOR UPDATE OF r
), gone AS (
    DELETE FROM ax.ready USING r WHERE ready.id = ANY(@ready_ids::uuid[]) AND ready.id = r.id AND isempty(r.rest)
), less AS (
    UPDATE ax.ready SET todo = r.rest, n = r.n - r.size FROM r
    WHERE ready.id = ANY(@ready_ids::uuid[]) AND ready.id = r.id AND NOT isempty(r.rest)
), handed AS (
    INSERT INTO ax.flight (id, run_id, worker_id, ready_at, dispatched_at, version_id, epoch, par, ord, generation,
                           kind, attempt, delivery, losses, level, namespace, queue, key, todo)
    SELECT p.flight_id, r.run_id, p.worker_id, r.ready_at, clock_timestamp(), r.version_id, @epoch::int, p.par, r.ord,
           r.generation, r.kind, r.attempt, r.delivery, r.losses, r.level, r.namespace, r.queue, r.key, p.piece
    FROM p JOIN r ON r.id = p.ready_id
    RETURNING id, run_id, ready_at, dispatched_at
)
SELECT h.id, h.ready_at, h.dispatched_at,
       (CASE WHEN octet_length(runs.params) <= 4096 THEN runs.params END)::bytea AS params
FROM handed h JOIN runs ON runs.run_id = h.run_id;

-- name: ReadyLanes :many
-- The lanes that hold anything. The recursive part hops from lane to lane over the index, so that its cost is the
-- number of lanes, however much waits in them.
WITH RECURSIVE lane AS (
    (SELECT r.namespace, r.queue, r.level, r.version_id, r.ord FROM ax.ready r
     ORDER BY r.namespace, r.queue, r.level, r.version_id, r.ord LIMIT 1)
    UNION ALL
    SELECT n.namespace, n.queue, n.level, n.version_id, n.ord
    FROM lane l CROSS JOIN LATERAL (
        SELECT r.namespace, r.queue, r.level, r.version_id, r.ord FROM ax.ready r
        WHERE (r.namespace, r.queue, r.level, r.version_id, r.ord) > (l.namespace, l.queue, l.level, l.version_id, l.ord)
        ORDER BY r.namespace, r.queue, r.level, r.version_id, r.ord LIMIT 1) n
)
SELECT namespace, queue, level, version_id, ord FROM lane;

-- name: LaneSpans :many
-- The first spans of a lane that are due now or within the horizon, without what is known to be blocked: held runs, and,
-- beyond what is in memory, keys without room and retries of a stage whose retry window is full.
SELECT r.id, r.run_id, r.not_before, r.ready_at, r.version_id, r.ord, r.generation, r.kind, r.attempt, r.delivery,
       r.losses, r.level, r.namespace, r.queue, coalesce(r.key, '')::text AS key, r.todo::text AS todo
FROM ax.ready r
WHERE r.namespace = @namespace AND r.queue = @queue AND r.level = @level AND r.version_id = @version_id AND r.ord = @ord
  AND r.not_before <= now() + make_interval(secs => @horizon_s::float8)
  AND r.run_id NOT IN (SELECT unnest(@held_runs::uuid[]))
  AND coalesce(r.key, '') NOT IN (SELECT unnest(@full_keys::text[]))
  AND (r.attempt = 1 OR r.kind = 1 OR NOT @no_retries::bool)
ORDER BY r.not_before, r.id
LIMIT @per_lane;

-- name: ReadyAhead :one
-- How far the newest ready row is ahead of the clock, in seconds: above 0, the clock has gone back since it was written.
SELECT coalesce(extract(epoch FROM max(ready_at) - now()), 0)::float8 AS ahead_s FROM ax.ready;

-- name: ReadySpans :many
-- The named ready rows, for hints that carry ids.
SELECT r.id, r.run_id, r.not_before, r.ready_at, r.version_id, r.ord, r.generation, r.kind, r.attempt, r.delivery,
       r.losses, r.level, r.namespace, r.queue, coalesce(r.key, '')::text AS key, r.todo::text AS todo
FROM ax.ready r WHERE r.id = ANY(@ids::uuid[]);

-- name: Flights :many
-- Everything in flight, for a new leader's books.
SELECT f.id, f.run_id, f.worker_id, f.version_id, f.par, f.ord, f.generation, f.kind, f.attempt, f.delivery,
       f.losses, f.level, f.namespace, f.queue, coalesce(f.key, '')::text AS key, f.ready_at, f.dispatched_at,
       f.todo::text AS todo
FROM ax.flight f
ORDER BY f.id;

-- name: EmptyFlights :many
-- Flights whose work is finished but whose retirement was lost with their worker's process.
SELECT id, run_id, ord FROM ax.flight WHERE isempty(todo) ORDER BY id LIMIT @most;

-- name: Version :one
SELECT id, namespace, flow, hash, graph FROM ax.flow_version WHERE id = @id;

-- name: Now :one
SELECT clock_timestamp()::timestamptz AS now;

-- name: AlignedWaiting :many
-- Stages with shards that wait for aligned upstream shards.
SELECT DISTINCT run_id, ord FROM ax.parked WHERE reason = 4 ORDER BY run_id, ord LIMIT @most;

-- name: LiveStages :many
-- Every stage of the watched runs and where its indices stand, with the state of its run, as of one snapshot. A run that does not
-- exist has no rows. Succeeded is what is in none of the three tables.
WITH r AS MATERIALIZED (
    SELECT run_id, namespace, version_id, state, finished_at,
           (finished_at IS NULL
            AND EXISTS (SELECT 1 FROM ax.hold h
                        WHERE h.namespace = x.namespace
                          AND (h.kind = 'run' AND h.name = x.run_id::text OR h.kind = 'flow' AND h.name = x.flow OR h.kind = 'queue' AND h.name = x.queue)))::boolean AS paused
    FROM ax.run x WHERE run_id = ANY(@run_ids::uuid[])
), ready AS (
    SELECT run_id, ord, generation, sum(n) AS n FROM ax.ready
    WHERE run_id = ANY(@run_ids::uuid[]) AND kind = 0 GROUP BY 1, 2, 3
), flight AS (
    SELECT run_id, ord, generation, sum((SELECT sum(upper(i) - lower(i)) FROM unnest(todo) AS i)) AS n FROM ax.flight
    WHERE run_id = ANY(@run_ids::uuid[]) AND kind = 0 GROUP BY 1, 2, 3
), parked AS (
    SELECT run_id, ord, generation, sum(n) FILTER (WHERE reason IN (1, 5, 6, 8, 9)) AS dead, sum(n) FILTER (WHERE reason = 5) AS upstream,
           sum(n) FILTER (WHERE reason NOT IN (1, 5, 6, 8, 9)) AS other
    FROM ax.parked
    WHERE run_id = ANY(@run_ids::uuid[]) AND kind = 0 GROUP BY 1, 2, 3
)
SELECT s.run_id, r.namespace, r.version_id, r.state AS run_state, r.finished_at AS run_finished_at, r.paused, s.ord, s.generation,
       s.state, s.shard_total, s.ready_at, s.finished_at, coalesce(ready.n, 0)::int AS ready, coalesce(flight.n, 0)::int AS flight,
       coalesce(parked.dead, 0)::int AS dead, coalesce(parked.upstream, 0)::int AS upstream_failed, coalesce(parked.other, 0)::int AS parked
FROM r
JOIN ax.stage s ON s.run_id = r.run_id AND s.run_id = ANY(@run_ids::uuid[])
LEFT JOIN ready ON ready.run_id = s.run_id AND ready.ord = s.ord AND ready.generation = s.generation
LEFT JOIN flight ON flight.run_id = s.run_id AND flight.ord = s.ord AND flight.generation = s.generation
LEFT JOIN parked ON parked.run_id = s.run_id AND parked.ord = s.ord AND parked.generation = s.generation
ORDER BY s.run_id, s.ord;

-- name: RunsSince :many
-- Runs by the age of their ids, oldest first.
SELECT run_id, namespace, flow, queue, version, (finished_at IS NULL)::boolean AS open
FROM ax.run
WHERE run_id >= @since AND namespace = ANY(@namespaces::text[])
ORDER BY run_id
LIMIT @most;

-- name: OpenRunsBefore :many
-- A page of the open runs of a namespace, newest first.
SELECT run_id, namespace, flow, queue, version, true::boolean AS open
FROM ax.run
WHERE finished_at IS NULL AND run_id < @before AND namespace = @namespace
ORDER BY run_id DESC
LIMIT @most;

-- name: RunMarks :many
-- Whether runs have changed.
SELECT run_id, namespace, flow, queue, version, (finished_at IS NULL)::boolean AS open
FROM ax.run
WHERE run_id = ANY(@run_ids::uuid[]) AND namespace = ANY(@namespaces::text[]);

-- name: HeldIn :many
-- What is paused in some namespaces.
SELECT namespace, kind, name FROM ax.hold WHERE namespace = ANY(@namespaces::text[]);

-- name: TokenStands :one
SELECT EXISTS (SELECT 1 FROM ax.token
               WHERE id = @id AND namespace = @namespace AND revoked_at IS NULL AND expires_at > clock_timestamp());

-- name: SessionStands :one
SELECT EXISTS (SELECT 1 FROM ax.session
               WHERE id = @id AND namespace = @namespace AND expires_at > clock_timestamp()
                 AND seen_at + make_interval(secs => idle_s) > clock_timestamp());

-- When the stages of a run waited, ran and backed off.

-- name: StageSince :many
SELECT ord, since FROM ax.stage WHERE run_id = @run_id;

-- name: TimelineAttempts :many
-- Attempts of unsharded stages, and of the plans of sharded ones, of their current generations; the newest first.
SELECT r.ord, r.attempt, r.delivery, r.outcome, r.ready_at, r.dispatched_at, r.started_at, r.finished_at
FROM ax.result r JOIN ax.stage s ON s.run_id = r.run_id AND s.ord = r.ord AND s.generation = r.generation
WHERE r.run_id = @run_id AND s.run_id = @run_id
  AND r.ord = ANY(@ords::smallint[]) AND r.shard IN (-1, 0)
  AND (r.shard = -1 OR r.ord = ANY(@singles::smallint[]))
ORDER BY r.attempt DESC, r.delivery DESC LIMIT @most;

-- name: TimelineFlights :many
SELECT f.ord, f.attempt, f.delivery, f.ready_at, f.dispatched_at FROM ax.flight f
WHERE f.run_id = @run_id AND (f.ord = ANY(@singles::smallint[]) OR f.kind = 1) AND NOT isempty(f.todo)
ORDER BY f.ord LIMIT @most;

-- name: TimelineBacking :many
-- Until when unsharded stages back off after a failed attempt.
SELECT r.ord, r.ready_at, r.not_before FROM ax.ready r
WHERE r.run_id = @run_id AND r.ord = ANY(@singles::smallint[]) AND r.attempt > 1 AND r.not_before > now();

-- name: StageDensity :many
-- How many attempts of a stage began, ended well and ended otherwise in each of some steps from the first start to the last end.
WITH r AS MATERIALIZED (
    SELECT x.started_at, x.finished_at, x.outcome FROM ax.result x
    WHERE x.run_id = @run_id AND x.ord = @ord AND x.generation = @generation AND x.shard >= 0
    ORDER BY x.shard LIMIT @most
), b AS (
    SELECT min(r.started_at) AS begun, greatest(extract(epoch FROM max(r.finished_at) - min(r.started_at)) / 200, 0.001) AS step_s, count(*) AS seen FROM r
), e AS (
    SELECT 0 AS what, r.started_at AS at FROM r
    UNION ALL
    SELECT CASE WHEN r.outcome IN (10, 13) THEN 1 ELSE 2 END AS what, r.finished_at AS at FROM r
)
SELECT e.what::int AS what, least(floor(extract(epoch FROM e.at - b.begun) / b.step_s), 199)::int AS step, count(*)::int AS n,
       min(b.begun)::timestamptz AS begun, min(b.step_s)::float8 AS step_s, min(b.seen)::int AS seen
FROM b CROSS JOIN e
GROUP BY 1, 2;

-- name: StageErrors :many
-- The newest failed attempts of a stage.
SELECT r.shard, r.finished_at, r.error FROM ax.result r
WHERE r.run_id = @run_id AND r.ord = @ord AND r.generation = @generation AND r.outcome NOT IN (10, 13)
ORDER BY r.finished_at DESC LIMIT @most;

-- What runs of a flow usually take, and what was usual before.

-- name: SucceededRuns :many
-- Of the newest so many runs of a flow before an id, the newest that succeeded.
SELECT x.run_id, x.version_id, extract(epoch FROM x.finished_at - x.created_at)::float8 AS took_s
FROM (SELECT r.run_id, r.version_id, r.state, r.created_at, r.finished_at FROM ax.run r
      WHERE r.namespace = @namespace AND r.flow = @flow AND r.run_id < @before
      ORDER BY r.run_id DESC LIMIT @look) x
WHERE x.state = 10 AND x.finished_at IS NOT NULL
ORDER BY x.run_id DESC LIMIT @most;

-- name: UsualOfFlows :many
SELECT f.name, u.samples::int AS samples, u.p50_s::float8 AS p50_s, u.p95_s::float8 AS p95_s
FROM (SELECT w.name FROM ax.flow w WHERE w.namespace = @namespace ORDER BY w.name LIMIT 1000) f
CROSS JOIN LATERAL (
    SELECT count(*) AS samples, percentile_cont(0.5) WITHIN GROUP (ORDER BY y.took) AS p50_s, percentile_cont(0.95) WITHIN GROUP (ORDER BY y.took) AS p95_s
    FROM (SELECT extract(epoch FROM x.finished_at - x.created_at) AS took
          FROM (SELECT r.run_id, r.state, r.created_at, r.finished_at FROM ax.run r
                WHERE r.namespace = @namespace AND r.flow = f.name ORDER BY r.run_id DESC LIMIT @look) x
          WHERE x.state = 10 AND x.finished_at IS NOT NULL ORDER BY x.run_id DESC LIMIT @most) y) u
WHERE u.samples > 0
ORDER BY f.name;

-- name: StageTimes :many
-- How long the stages took that succeeded in some runs.
SELECT s.run_id, s.ord, extract(epoch FROM s.finished_at - s.ready_at)::float8 AS took_s
FROM ax.stage s WHERE s.run_id = ANY(@run_ids::uuid[]) AND s.state = 10 AND s.ready_at IS NOT NULL AND s.finished_at IS NOT NULL;

-- name: NewestParams :many
-- The params of the newest so many runs of a flow, unless they are too large.
SELECT r.run_id, r.version_id, r.created_at, r.state, r.trigger, r.params FROM (
    SELECT x.run_id, x.version_id, x.created_at, x.state, x.trigger, x.params FROM ax.run x
    WHERE x.namespace = @namespace AND x.flow = @flow ORDER BY x.run_id DESC LIMIT @look) r
WHERE octet_length(r.params) <= @most_bytes::int
ORDER BY r.run_id DESC;

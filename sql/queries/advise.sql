-- What engine/advise reads. Every statement looks at a bounded number of rows, the newest runs first.

-- name: AdviseFlows :many
SELECT name, version_id FROM ax.flow
WHERE namespace = @namespace AND (@flow::text = '' OR name = @flow)
ORDER BY name
LIMIT @most;

-- name: AdviseRuns :many
-- The newest runs of a flow, looked for among the newest runs of all.
SELECT x.run_id, x.version_id
FROM (SELECT r.run_id, r.version_id, r.namespace, r.flow FROM ax.run r ORDER BY r.run_id DESC LIMIT 20000) x
WHERE x.namespace = @namespace::text AND x.flow = @flow::text
ORDER BY x.run_id DESC
LIMIT @most;

-- name: AdviseDurations :many
-- How long the tasks of runs took, stage by stage: of each run and stage the first so many results. What succeeded or ran
-- into its time-out counts; failures are counted beside.
SELECT u.version_id::int AS version_id, u.ord::smallint AS ord,
       (count(*) FILTER (WHERE x.outcome IN (10, 15)))::int AS samples,
       (count(*) FILTER (WHERE x.outcome = 15))::int AS timed_out,
       (count(*) FILTER (WHERE x.outcome = 11))::int AS failed,
       (count(*) FILTER (WHERE x.outcome = 10 AND x.attempt > 1))::int AS saved,
       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY CASE WHEN x.outcome IN (10, 15) THEN x.took END), 0)::float8 AS p50_s,
       coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY CASE WHEN x.outcome IN (10, 15) THEN x.took END), 0)::float8 AS p99_s,
       coalesce(max(x.took) FILTER (WHERE x.outcome IN (10, 15)), 0)::float8 AS max_s
FROM (SELECT unnest(@run_ids::uuid[]) AS run_id, unnest(@version_ids::int[]) AS version_id, unnest(@ords::smallint[]) AS ord) u
CROSS JOIN LATERAL (
    SELECT r.outcome, r.attempt, extract(epoch FROM r.finished_at - r.started_at)::float8 AS took
    FROM ax.result r
    WHERE r.run_id = u.run_id AND r.ord = u.ord AND r.shard >= 0 AND r.outcome IN (10, 11, 15)
    LIMIT @most) x
GROUP BY u.version_id, u.ord
ORDER BY u.version_id, u.ord;

-- name: AdviseLoad :many
-- What has come and gone since a time, of runs whose ids are not below a floor: by version, stage and the run's queue.
-- Waits are of first attempts handed out once: those of retries hold their delays.
SELECT u.version_id, u.queue, x.ord,
       (count(*) FILTER (WHERE x.ready_at >= @since::timestamptz))::int AS arrived,
       count(*)::int AS finished,
       coalesce(avg(extract(epoch FROM x.started_at - x.ready_at)) FILTER (WHERE x.attempt = 1 AND x.delivery = 1), 0)::float8 AS wait_s,
       coalesce(avg(extract(epoch FROM x.finished_at - x.started_at)), 0)::float8 AS exec_s,
       min(x.ready_at)::timestamptz AS first_ready
FROM (SELECT r.run_id, r.ord, r.attempt, r.delivery, r.ready_at, r.started_at, r.finished_at
      FROM ax.result r
      WHERE r.run_id >= @floor AND r.finished_at >= @since::timestamptz AND r.outcome IN (10, 11, 15)
      ORDER BY r.run_id DESC
      LIMIT @most) x
JOIN ax.run u ON u.run_id = x.run_id
WHERE u.run_id >= @floor AND u.namespace = @namespace
GROUP BY u.version_id, u.queue, x.ord;

-- name: AdvisePending :many
-- What is ready now or with workers: by version, stage and queue.
SELECT x.version_id, x.ord, x.queue, coalesce(sum(x.n) FILTER (WHERE x.waits), 0)::bigint AS waiting,
       coalesce(sum(x.n) FILTER (WHERE NOT x.waits), 0)::bigint AS running,
       coalesce(sum(x.n) FILTER (WHERE x.ready_at >= @since::timestamptz), 0)::bigint AS arrived,
       min(x.ready_at)::timestamptz AS first_ready
FROM ((SELECT r.version_id, r.ord, r.queue, r.n, true AS waits, r.ready_at FROM ax.ready r
       WHERE r.namespace = @namespace AND r.not_before <= now() LIMIT @most)
      UNION ALL
      (SELECT f.version_id, f.ord, f.queue, (SELECT coalesce(sum(upper(y) - lower(y)), 0) FROM unnest(f.todo) AS y)::int, false, f.ready_at
       FROM ax.flight f WHERE f.namespace = @namespace LIMIT @most)) x
GROUP BY x.version_id, x.ord, x.queue;

-- name: AdviseWorkers :many
-- Pools of the workers that beat lately.
SELECT w.id, w.state, w.handlers FROM ax.worker w
WHERE w.namespace = @namespace AND w.seen_at > clock_timestamp() - interval '30 s'
ORDER BY w.id
LIMIT 10000;

-- name: AdviseQueues :many
SELECT name, capacity, concurrency FROM ax.queue WHERE namespace = @namespace ORDER BY name LIMIT 10000;

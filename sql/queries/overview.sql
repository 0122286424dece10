-- What the overview shows beside the throughput. Every statement reads a bounded number of rows, whatever there is.

-- name: Backlog :many
-- What waits in each queue and level, by hopping over the index of the window. Counting ends at so many rows a level.
WITH RECURSIVE k AS (
    (SELECT r.queue, r.level FROM ax.ready r WHERE r.namespace = @namespace ORDER BY r.queue, r.level LIMIT 1)
    UNION ALL
    (SELECT n.queue, n.level FROM k CROSS JOIN LATERAL (
        SELECT r.queue, r.level FROM ax.ready r
        WHERE r.namespace = @namespace AND (r.queue, r.level) > (k.queue, k.level)
        ORDER BY r.queue, r.level LIMIT 1) n)
), levels AS (SELECT k.queue, k.level FROM k LIMIT @most_levels)
SELECT l.queue, l.level, x.seen::int AS seen, x.tasks::bigint AS tasks, x.oldest_s::float8 AS oldest_s
FROM levels l CROSS JOIN LATERAL (
    SELECT count(*) AS seen, coalesce(sum(y.n), 0) AS tasks,
           coalesce(max(extract(epoch FROM now() - greatest(y.ready_at, y.not_before))) FILTER (WHERE y.not_before <= now()), 0) AS oldest_s
    FROM (SELECT r.n, r.ready_at, r.not_before FROM ax.ready r
          WHERE r.namespace = @namespace AND r.queue = l.queue AND r.level = l.level LIMIT @most) y) x;

-- name: InFlight :many
-- What is with workers, by queue, level and stage: tasks, and how many of them may run at once.
SELECT f.queue, f.level, f.version_id, f.ord, sum(x.n)::bigint AS tasks, sum(least(f.par, x.n))::bigint AS running
FROM ax.flight f CROSS JOIN LATERAL (SELECT coalesce(sum(upper(p) - lower(p)), 0)::bigint AS n FROM unnest(f.todo) AS p) x
WHERE f.namespace = @namespace AND x.n > 0
GROUP BY f.queue, f.level, f.version_id, f.ord;

-- name: WorkerLook :many
SELECT w.id, w.host, w.state, w.handlers, w.drain_asked_at, w.started_at, w.seen_at,
       extract(epoch FROM clock_timestamp() - w.seen_at)::float8 AS silent_s
FROM ax.worker w WHERE w.namespace = @namespace ORDER BY w.id LIMIT 10000;

-- name: QueueLook :many
SELECT name, capacity, depth, pressure, published_at FROM ax.queue
WHERE namespace = @namespace AND (capacity IS NOT NULL OR pressure > 0);

-- name: HoldLook :many
SELECT kind, name, actor, reason, held_at FROM ax.hold WHERE namespace = @namespace ORDER BY held_at LIMIT @most;

-- name: StuckRuns :many
-- Runs that the engine has set aside, by flow and fault.
SELECT x.flow, x.code, count(*)::int AS n, min(x.created_at)::timestamptz AS since, (min(x.run_id::text))::uuid AS example
FROM (SELECT r.run_id, r.flow, r.stuck::text AS code, r.created_at FROM ax.run r
      WHERE r.namespace = @namespace AND r.finished_at IS NULL AND r.stuck IS NOT NULL ORDER BY r.run_id DESC LIMIT @most) x
GROUP BY x.flow, x.code;

-- name: LateRuns :many
-- Open runs that are late, by flow; since when the first of them is.
SELECT x.flow, count(*)::int AS n, min(x.deadline)::timestamptz AS since, (min(x.run_id::text))::uuid AS example
FROM (SELECT r.run_id, r.flow, coalesce(r.deadline, r.late_noted_at) AS deadline FROM ax.run r
      WHERE r.namespace = @namespace AND r.finished_at IS NULL AND r.late_noted_at IS NOT NULL ORDER BY r.run_id DESC LIMIT @most) x
GROUP BY x.flow;

-- name: FailedRuns :many
-- Of the newest runs that failed, those that have ended since a time, by flow.
SELECT x.flow, count(*)::int AS n, min(x.finished_at)::timestamptz AS since, (max(x.run_id::text))::uuid AS example
FROM (SELECT r.run_id, r.flow, r.finished_at FROM ax.run r
      WHERE r.namespace = @namespace AND r.state = 11 AND r.state <> 10 AND r.run_id >= @first ORDER BY r.run_id DESC LIMIT @most) x
WHERE x.finished_at >= @since::timestamptz
GROUP BY x.flow;

-- name: DeadLook :many
-- The newest dead letters by stage and error.
SELECT x.version_id, x.ord, x.fingerprint, sum(x.n)::bigint AS n, min(x.parked_at)::timestamptz AS since,
       (max(x.id::text))::uuid AS example
FROM (SELECT p.id, p.version_id, p.ord, coalesce(p.fingerprint, '')::text AS fingerprint, p.n, p.parked_at FROM ax.parked p
      WHERE p.namespace = @namespace AND p.reason IN (1, 6, 8) ORDER BY p.id DESC LIMIT @most) x
GROUP BY x.version_id, x.ord, x.fingerprint
ORDER BY 4 DESC LIMIT 100;

-- name: StoppedReplays :many
-- Replays whose canary has failed.
SELECT id, failed, note, coalesce(finished_at, updated_at)::timestamptz AS since FROM ax.replay
WHERE id >= @first AND namespace = @namespace AND state = 'stopped' ORDER BY id DESC LIMIT @most;

-- name: FailingWebhooks :many
SELECT id, name, failing_since, disabled_at FROM ax.webhook
WHERE namespace = @namespace AND (failing_since IS NOT NULL OR disabled_at IS NOT NULL) ORDER BY name LIMIT @most;

-- name: NewestOfDead :many
-- The newest errors of some dead letters' first shards.
SELECT p.id, x.error
FROM ax.parked p CROSS JOIN LATERAL (
    SELECT r.error FROM ax.result r
    WHERE r.run_id = p.run_id AND r.ord = p.ord AND r.generation = p.generation AND r.shard = lower(p.todo) AND r.outcome NOT IN (10, 13)
    ORDER BY r.attempt DESC, r.delivery DESC LIMIT 1) x
WHERE p.id = ANY(@ids::uuid[]);

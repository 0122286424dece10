-- How much is started and finished, by the minute.

-- name: AddTasks :exec
-- What a worker has started and finished since it said so last. It counts to the minute in which it is said.
INSERT INTO ax.throughput (namespace, kind, minute, queue, source, started, succeeded, failed)
SELECT @namespace::text, 0, date_trunc('minute', clock_timestamp()), unnest(@queues::text[]), @worker_id::uuid,
       unnest(@started::bigint[]), unnest(@succeeded::bigint[]), unnest(@failed::bigint[])
ON CONFLICT (namespace, kind, minute, queue, source) DO UPDATE
SET started = throughput.started + excluded.started, succeeded = throughput.succeeded + excluded.succeeded,
    failed = throughput.failed + excluded.failed;

-- name: CountedUntil :one
-- Up to when runs have been counted, and how late it is; the epoch while nobody has counted.
SELECT coalesce((SELECT max(c.until) FROM ax.counted c), 'epoch')::timestamptz AS until, clock_timestamp()::timestamptz AS now;

-- name: CountStarted :many
-- The runs whose ids are from first to before last, by namespace and minute.
SELECT r.namespace, date_trunc('minute', r.created_at)::timestamptz AS minute, count(*)::bigint AS n
FROM ax.run r WHERE r.run_id >= @first AND r.run_id < @last
GROUP BY 1, 2;

-- name: AddRuns :exec
INSERT INTO ax.throughput (namespace, kind, minute, queue, source, started, succeeded, failed)
SELECT unnest(@namespaces::text[]), 1, unnest(@minutes::timestamptz[]), '', '00000000-0000-0000-0000-000000000000',
       unnest(@started::bigint[]), unnest(@succeeded::bigint[]), unnest(@failed::bigint[])
ON CONFLICT (namespace, kind, minute, queue, source) DO UPDATE
SET started = throughput.started + excluded.started, succeeded = throughput.succeeded + excluded.succeeded,
    failed = throughput.failed + excluded.failed;

-- name: SetCounted :exec
-- Part of the transaction that adds the runs.
WITH u AS (UPDATE ax.counted SET until = @until RETURNING 1)
INSERT INTO ax.counted (until) SELECT @until WHERE NOT EXISTS (SELECT 1 FROM u);

-- name: FoldThroughput :exec
-- Makes one row of those of all sources once their minute is settled, and one of a quarter's minutes once they are old.
WITH gone AS (
    DELETE FROM ax.throughput t
    WHERE t.minute < @settled::timestamptz AND t.source <> '00000000-0000-0000-0000-000000000000'
       OR t.minute < @old::timestamptz AND t.minute <> date_bin('15 minutes', t.minute, 'epoch')
    RETURNING t.namespace, t.kind, t.minute, t.queue, t.started, t.succeeded, t.failed
)
INSERT INTO ax.throughput AS t (namespace, kind, minute, queue, source, started, succeeded, failed)
SELECT gone.namespace, gone.kind, CASE WHEN gone.minute < @old::timestamptz THEN date_bin('15 minutes', gone.minute, 'epoch') ELSE gone.minute END, gone.queue,
       '00000000-0000-0000-0000-000000000000', sum(gone.started), sum(gone.succeeded), sum(gone.failed)
FROM gone
GROUP BY 1, 2, 3, 4
ON CONFLICT (namespace, kind, minute, queue, source) DO UPDATE
SET started = t.started + excluded.started, succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed;

-- name: DropThroughput :exec
DELETE FROM ax.throughput WHERE minute < @before;

-- name: Throughput :many
-- Counts of a namespace from a time on, by steps that begin there.
SELECT t.kind, (extract(epoch FROM t.minute - @since::timestamptz)::bigint / @step_s::bigint)::int AS step,
       sum(t.started)::bigint AS started, sum(t.succeeded)::bigint AS succeeded, sum(t.failed)::bigint AS failed
FROM ax.throughput t WHERE t.namespace = @namespace AND t.kind IN (0, 1) AND t.minute >= @since
GROUP BY 1, 2;

-- name: QueueThroughput :many
-- Attempts that have ended since a minute, by queue, and the first minute in which the queue did anything since.
SELECT t.queue, sum(t.succeeded + t.failed)::bigint AS ended, min(t.minute)::timestamptz AS first
FROM ax.throughput t WHERE t.namespace = @namespace AND t.kind = 0 AND t.minute >= @since
GROUP BY 1;

-- Lines that handlers log. A reader's place is a snapshot and what it has read of what a later snapshot adds: see
-- engine/control/logplace.go. Lines whose tx is of the future come from another cluster (a restored dump); they were there
-- from the start. A scan answers with ids and whether the line is asked for, so that it ends after so many lines whatever is
-- asked for; LogLines then reads what is.

-- name: InsertLogs :exec
-- Storing a batch again, because its answer was lost, changes nothing.
INSERT INTO ax.log (run_id, id, execution_id, worker_id, at, shard, seq, dropped, ord, generation, attempt, delivery, level, message, attributes)
SELECT unnest(@run_ids::uuid[]), unnest(@ids::uuid[]), unnest(@execution_ids::uuid[]), unnest(@worker_ids::uuid[]), unnest(@ats::timestamptz[]),
       unnest(@shards::int[]), unnest(@seqs::int[]), unnest(@drops::int[]), unnest(@ords::smallint[]), unnest(@generations::smallint[]),
       unnest(@attempts::smallint[]), unnest(@deliveries::smallint[]), unnest(@levels::smallint[]), unnest(@messages::text[]),
       nullif(unnest(@attributes::text[]), '')
ON CONFLICT DO NOTHING;

-- name: LogHead :many
-- A run, and what is visible at the same moment.
SELECT r.namespace, r.version_id, r.flow, r.state, r.finished_at, clock_timestamp()::timestamptz AS now, pg_current_snapshot()::text AS snapshot
FROM ax.run r WHERE r.run_id = @run_id;

-- name: LogLines :many
SELECT l.id, l.execution_id, l.worker_id, l.at, l.shard, l.seq, l.dropped, l.ord, l.generation, l.attempt, l.delivery, l.level, l.message,
       coalesce(l.attributes, '') AS attributes
FROM ax.log l WHERE l.run_id = @run_id AND l.id = ANY(@ids::uuid[]) ORDER BY l.id;

-- name: ScanLogs :many
-- A run's lines, in the order of time.
WITH s AS MATERIALIZED (SELECT CAST((@upto::text) AS pg_snapshot) AS upto, pg_snapshot_xmax(pg_current_snapshot()) AS future)
SELECT l.id, coalesce(((@ord::int = -1 OR l.ord = @ord) AND (@shard::int = -2 OR l.shard = @shard) AND (@attempt::int = 0 OR l.attempt = @attempt) AND l.level >= @level::smallint
       AND (@text::text = '' OR strpos(lower(l.message), lower(@text::text)) > 0 OR strpos(lower(l.attributes), lower(@text::text)) > 0)), false)::bool AS asked
FROM ax.log l
WHERE l.run_id = @run_id AND l.id > @past AND (pg_visible_in_snapshot(l.tx, (SELECT upto FROM s)) OR l.tx >= (SELECT future FROM s))
ORDER BY l.id LIMIT @most;

-- name: ScanLoudLogs :many
-- A run's lines of warn and above, in the order of time.
WITH s AS MATERIALIZED (SELECT CAST((@upto::text) AS pg_snapshot) AS upto, pg_snapshot_xmax(pg_current_snapshot()) AS future)
SELECT l.id, coalesce(((@ord::int = -1 OR l.ord = @ord) AND (@shard::int = -2 OR l.shard = @shard) AND (@attempt::int = 0 OR l.attempt = @attempt) AND l.level >= @level::smallint
       AND (@text::text = '' OR strpos(lower(l.message), lower(@text::text)) > 0 OR strpos(lower(l.attributes), lower(@text::text)) > 0)), false)::bool AS asked
FROM ax.log l
WHERE l.run_id = @run_id AND l.level >= 4 AND l.id > @past AND (pg_visible_in_snapshot(l.tx, (SELECT upto FROM s)) OR l.tx >= (SELECT future FROM s))
ORDER BY l.id LIMIT @most;

-- name: ScanTaskLogs :many
-- One task's lines, in the order of time.
WITH s AS MATERIALIZED (SELECT CAST((@upto::text) AS pg_snapshot) AS upto, pg_snapshot_xmax(pg_current_snapshot()) AS future)
SELECT l.id, coalesce(((@attempt::int = 0 OR l.attempt = @attempt) AND l.level >= @level::smallint
       AND (@text::text = '' OR strpos(lower(l.message), lower(@text::text)) > 0 OR strpos(lower(l.attributes), lower(@text::text)) > 0)), false)::bool AS asked
FROM ax.log l
WHERE l.run_id = @run_id AND l.ord = @ord AND l.shard = @shard AND l.id > @past AND (pg_visible_in_snapshot(l.tx, (SELECT upto FROM s)) OR l.tx >= (SELECT future FROM s))
ORDER BY l.id LIMIT @most;

-- name: ScanLogsBack :many
-- A run's lines, backwards.
WITH s AS MATERIALIZED (SELECT CAST((@upto::text) AS pg_snapshot) AS upto, pg_snapshot_xmax(pg_current_snapshot()) AS future)
SELECT l.id, coalesce(((@ord::int = -1 OR l.ord = @ord) AND (@shard::int = -2 OR l.shard = @shard) AND (@attempt::int = 0 OR l.attempt = @attempt) AND l.level >= @level::smallint
       AND (@text::text = '' OR strpos(lower(l.message), lower(@text::text)) > 0 OR strpos(lower(l.attributes), lower(@text::text)) > 0)), false)::bool AS asked
FROM ax.log l
WHERE l.run_id = @run_id AND l.id < @past AND (pg_visible_in_snapshot(l.tx, (SELECT upto FROM s)) OR l.tx >= (SELECT future FROM s))
ORDER BY l.id DESC LIMIT @most;

-- name: ScanLoudLogsBack :many
-- A run's lines of warn and above, backwards.
WITH s AS MATERIALIZED (SELECT CAST((@upto::text) AS pg_snapshot) AS upto, pg_snapshot_xmax(pg_current_snapshot()) AS future)
SELECT l.id, coalesce(((@ord::int = -1 OR l.ord = @ord) AND (@shard::int = -2 OR l.shard = @shard) AND (@attempt::int = 0 OR l.attempt = @attempt) AND l.level >= @level::smallint
       AND (@text::text = '' OR strpos(lower(l.message), lower(@text::text)) > 0 OR strpos(lower(l.attributes), lower(@text::text)) > 0)), false)::bool AS asked
FROM ax.log l
WHERE l.run_id = @run_id AND l.level >= 4 AND l.id < @past AND (pg_visible_in_snapshot(l.tx, (SELECT upto FROM s)) OR l.tx >= (SELECT future FROM s))
ORDER BY l.id DESC LIMIT @most;

-- name: ScanTaskLogsBack :many
-- One task's lines, backwards.
WITH s AS MATERIALIZED (SELECT CAST((@upto::text) AS pg_snapshot) AS upto, pg_snapshot_xmax(pg_current_snapshot()) AS future)
SELECT l.id, coalesce(((@attempt::int = 0 OR l.attempt = @attempt) AND l.level >= @level::smallint
       AND (@text::text = '' OR strpos(lower(l.message), lower(@text::text)) > 0 OR strpos(lower(l.attributes), lower(@text::text)) > 0)), false)::bool AS asked
FROM ax.log l
WHERE l.run_id = @run_id AND l.ord = @ord AND l.shard = @shard AND l.id < @past AND (pg_visible_in_snapshot(l.tx, (SELECT upto FROM s)) OR l.tx >= (SELECT future FROM s))
ORDER BY l.id DESC LIMIT @most;

-- name: ScanNewLogs :many
-- A run's lines that upto shows and since does not, in the order of transactions.
WITH s AS MATERIALIZED (SELECT CAST((@upto::text) AS pg_snapshot) AS upto, CAST((@since::text) AS pg_snapshot) AS since)
SELECT l.id, l.tx::text AS tx, coalesce(((@ord::int = -1 OR l.ord = @ord) AND (@shard::int = -2 OR l.shard = @shard) AND (@attempt::int = 0 OR l.attempt = @attempt) AND l.level >= @level::smallint
       AND (@text::text = '' OR strpos(lower(l.message), lower(@text::text)) > 0 OR strpos(lower(l.attributes), lower(@text::text)) > 0)), false)::bool AS asked
FROM ax.log l
WHERE l.run_id = @run_id AND (l.tx, l.id) > (CAST((@past_tx::text) AS xid8), @past::uuid)
  AND pg_visible_in_snapshot(l.tx, (SELECT upto FROM s)) AND NOT pg_visible_in_snapshot(l.tx, (SELECT since FROM s))
ORDER BY l.tx, l.id LIMIT @most;

-- name: RunningTasks :many
-- What workers say of a run's tasks that have run for longer than a heartbeat, the longest first.
WITH mine AS MATERIALIZED (
    SELECT f.id, f.worker_id, f.ord, f.generation, f.attempt FROM ax.flight f
    WHERE f.run_id = @run_id AND (@ord::int = -1 OR f.ord = @ord)
), said AS MATERIALIZED (
    SELECT jsonb_array_elements(w.running) AS task FROM ax.worker w WHERE w.id IN (SELECT m.worker_id FROM mine m)
)
SELECT m.id, m.worker_id, m.ord, m.generation, m.attempt, s.task::text AS task
FROM said s JOIN mine m ON m.id = CAST((s.task->>'execution') AS uuid)
ORDER BY CAST((s.task->>'started') AS timestamptz), m.id, CAST((s.task->>'index') AS int) LIMIT @most;

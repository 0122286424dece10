-- name: OldDays :many
SELECT day, dropping FROM ax.partition WHERE day < @before ORDER BY day;

-- name: LockDay :one
-- What is decided about a day is read in a later statement: a rerun may hold it.
SELECT day FROM ax.partition WHERE day = @day FOR UPDATE;

-- name: HoldDay :one
-- A verb that opens an ended run again keeps the run's day from being dropped; no row: it is being dropped.
SELECT day FROM ax.partition WHERE day = @day AND NOT dropping FOR SHARE;

-- name: MarkDay :execrows
-- Marks a (locked) day for dropping, unless a run of it is open or ended too recently.
UPDATE ax.partition SET dropping = true
WHERE day = @day
  AND NOT EXISTS (SELECT 1 FROM ax.run r
                  WHERE r.run_id >= @first::uuid AND r.run_id < @after::uuid
                    AND (r.finished_at IS NULL OR r.finished_at >= @before::timestamptz));

-- name: DropDayParked :exec
DELETE FROM ax.parked WHERE run_id >= @first::uuid AND run_id < @after::uuid;

-- name: RemoveDay :exec
DELETE FROM ax.partition WHERE day = @day AND dropping;

-- name: DropExpiredKeys :execrows
DELETE FROM ax.run_key WHERE (namespace, flow, key) IN (
    SELECT k.namespace, k.flow, k.key FROM ax.run_key k WHERE k.expires_at < now() LIMIT @most);

-- name: DayIsOver :one
-- Whether no run of a day is open, or ended too recently.
SELECT (NOT EXISTS (SELECT 1 FROM ax.run r
                    WHERE r.run_id >= @first::uuid AND r.run_id < @after::uuid
                      AND (r.finished_at IS NULL OR r.finished_at >= @before::timestamptz)))::bool AS over;

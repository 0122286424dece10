-- Who did what, and why.

-- name: InsertAudit :exec
-- Part of the transaction of the act.
INSERT INTO ax.audit (namespace, id, actor, verb, target, reason, detail)
VALUES (@namespace, @id, @actor, @verb, @target, @reason, sqlc.narg(detail)::jsonb);

-- name: AuditLines :many
-- Newest first; before is exclusive, for the next page.
SELECT id, at, actor, verb, target, reason, detail FROM ax.audit
WHERE namespace = @namespace AND id < @before
  AND (@actor::text = '' OR actor = @actor) AND (@verb::text = '' OR verb = @verb)
  AND (@target::text = '' OR starts_with(target, @target))
  AND (sqlc.narg(since)::timestamptz IS NULL OR at >= sqlc.narg(since)::timestamptz)
  AND (sqlc.narg(until)::timestamptz IS NULL OR at < sqlc.narg(until)::timestamptz)
ORDER BY id DESC
LIMIT @most;

-- name: JournalOf :many
SELECT id, at, coalesce(ord, -1)::smallint AS ord, coalesce(generation, 0)::smallint AS generation, kind, actor, detail
FROM ax.journal WHERE run_id = @run_id ORDER BY at, id;

-- Tokens and sessions: who asks.

-- name: FreeTokenName :exec
-- An expired token gives its name to a new one.
UPDATE ax.token SET named = false
WHERE namespace = @namespace AND name = @name AND named AND expires_at <= clock_timestamp();

-- name: InsertToken :one
-- No row: a live token has the name.
INSERT INTO ax.token (id, namespace, name, prefix, hash, role, scopes, cluster, created_by, expires_at)
VALUES (@id, @namespace, @name, @prefix, @hash, @role, sqlc.narg(scopes)::text[], @cluster, @created_by,
        clock_timestamp() + make_interval(secs => @life_s::float8))
ON CONFLICT (namespace, name) WHERE named DO NOTHING
RETURNING created_at, expires_at;

-- name: Tokens :many
-- Newest first; before is exclusive, for the next page.
SELECT id, name, prefix, role, scopes, cluster, created_at, created_by, expires_at, last_used_at, revoked_at
FROM ax.token WHERE namespace = @namespace AND id < @before
ORDER BY id DESC LIMIT @most;

-- name: RevokeToken :many
UPDATE ax.token SET revoked_at = clock_timestamp(), named = false
WHERE namespace = @namespace AND id = @id AND revoked_at IS NULL
RETURNING name, prefix;

-- name: TokenRevoked :one
SELECT name, revoked_at FROM ax.token WHERE namespace = @namespace AND id = @id;

-- name: TokenByHash :one
-- idle: it has not been marked as used within the minute.
SELECT id, namespace, name, role, scopes, cluster, expires_at, revoked_at,
       (expires_at <= clock_timestamp())::boolean AS expired,
       (last_used_at IS NULL OR last_used_at < clock_timestamp() - interval '1 minute')::boolean AS idle
FROM ax.token WHERE hash = @hash;

-- name: UseToken :exec
-- A row that somebody holds is passed over: being used is no reason to wait.
UPDATE ax.token SET last_used_at = clock_timestamp()
WHERE id IN (SELECT t.id FROM ax.token t WHERE t.id = @id
             AND (t.last_used_at IS NULL OR t.last_used_at < clock_timestamp() - interval '1 minute')
             FOR NO KEY UPDATE SKIP LOCKED);

-- name: InsertSession :exec
INSERT INTO ax.session (id, hash, login, namespace, issuer, subject, email, actor, role, cluster, id_token, idle_s, expires_at)
VALUES (@id, @hash, @login, @namespace, @issuer, @subject, @email, @actor, @role, @cluster, @id_token, @idle_s,
        clock_timestamp() + make_interval(secs => @life_s::float8));

-- name: SessionByHash :one
SELECT id, namespace, actor, role, cluster, expires_at,
       (expires_at <= clock_timestamp() OR seen_at + make_interval(secs => idle_s) <= clock_timestamp())::boolean AS ended,
       (seen_at < clock_timestamp() - interval '1 minute')::boolean AS idle
FROM ax.session WHERE hash = @hash;

-- name: SeeSession :exec
UPDATE ax.session SET seen_at = clock_timestamp()
WHERE id IN (SELECT s.id FROM ax.session s WHERE s.id = @id AND s.seen_at < clock_timestamp() - interval '1 minute'
             FOR NO KEY UPDATE SKIP LOCKED);

-- name: EndSession :many
DELETE FROM ax.session WHERE hash = @hash RETURNING id, namespace, actor, id_token;

-- name: DropEndedSessions :exec
-- A few at a time, whoever holds none of them up.
DELETE FROM ax.session WHERE id IN (
    SELECT s.id FROM ax.session s WHERE s.expires_at < clock_timestamp() - interval '1 hour'
    ORDER BY s.expires_at LIMIT 100 FOR UPDATE SKIP LOCKED);

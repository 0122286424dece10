-- What the server tells of itself.

-- name: ServerLook :one
-- The database's time and who leads; the epoch is 0 while nobody has led yet.
SELECT clock_timestamp()::timestamptz AS now, coalesce(l.epoch, 0)::bigint AS epoch, coalesce(l.holder, '')::text AS holder,
       l.renewed_at, l.expires_at
FROM (SELECT 1) AS one LEFT JOIN ax.lease l ON l.name = @name;

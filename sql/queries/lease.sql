-- name: Fence :exec
-- The first statement of every transaction of a leader. It holds the lease row against a take-over until
-- the transaction ends, and fails with division_by_zero (22012) when the epoch is not the lease's.
WITH held AS (SELECT 1 FROM ax.lease WHERE name = @name AND epoch = @epoch::bigint FOR KEY SHARE)
SELECT 1 / (SELECT count(*) FROM held);

-- name: LeaseSeed :exec
-- A lease that nobody has held yet: expired, with an epoch that no term bears.
INSERT INTO ax.lease (name, epoch, holder, expires_at, renewed_at)
VALUES (@name, 0, '', 'epoch', 'epoch')
ON CONFLICT (name) DO NOTHING;

-- name: LeaseLook :one
-- What a contender needs to know, in the database's time: how long the lease runs still (negative: has
-- expired) and how long it ran from its last renewal.
SELECT epoch, holder, renewed_at,
       (extract(epoch FROM expires_at - clock_timestamp()) * 1000000)::bigint AS left_us,
       (extract(epoch FROM expires_at - renewed_at) * 1000000)::bigint AS ttl_us
FROM ax.lease WHERE name = @name;

-- name: LeaseTake :one
-- Takes an expired lease: compare-and-set on the epoch that was seen and on the expiry, or, where the
-- contender has watched the lease go unrenewed for its whole time (the database's clock has gone back), on
-- that last renewal. FOR UPDATE waits for every transaction that holds the fence; the times of the new term
-- are read after that wait, so they are later than whatever the old term wrote.
WITH held AS MATERIALIZED (
    SELECT l.name, l.epoch FROM ax.lease l
    WHERE l.name = @name AND l.epoch = @seen::bigint
      AND (l.expires_at <= clock_timestamp() OR l.renewed_at = sqlc.narg('unrenewed')::timestamptz)
    FOR UPDATE
), taken AS (
    UPDATE ax.lease
    SET epoch = held.epoch + 1, holder = @holder, renewed_at = clock_timestamp(),
        expires_at = clock_timestamp() + sqlc.arg('ttl_us')::bigint * interval '1 microsecond'
    FROM held WHERE lease.name = held.name AND lease.epoch = held.epoch
    RETURNING lease.name, lease.epoch, lease.holder, lease.renewed_at
), term AS (
    INSERT INTO ax.lease_term (name, epoch, holder, acquired_at)
    SELECT taken.name, taken.epoch, taken.holder, taken.renewed_at FROM taken
)
SELECT epoch FROM taken;

-- name: LeaseRenew :execrows
-- Touches no key column, so it passes transactions that hold the fence. An expired lease stays expired:
-- trust in it ended before, and a renewal that was delayed on its way must not undo a resignation.
UPDATE ax.lease
SET renewed_at = clock_timestamp(), expires_at = clock_timestamp() + sqlc.arg('ttl_us')::bigint * interval '1 microsecond'
WHERE name = @name AND epoch = @epoch::bigint AND expires_at > clock_timestamp();

-- name: LeaseResign :one
-- Expires the lease and tells the contenders, who take it at once.
WITH resigned AS (
    UPDATE ax.lease SET expires_at = clock_timestamp()
    WHERE name = @name AND epoch = @epoch::bigint AND expires_at > clock_timestamp()
    RETURNING name
)
SELECT count(pg_notify('ax_lease', name)) FROM resigned;

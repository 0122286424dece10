-- name: Fence :exec
-- The first statement of every transaction of a leader. It holds the lease row against a take-over until
-- the transaction ends, and fails with division_by_zero (22012) when the epoch is not the lease's.
WITH held AS (SELECT 1 FROM ax.lease WHERE name = @name AND epoch = @epoch::bigint FOR KEY SHARE)
SELECT 1 / (SELECT count(*) FROM held);

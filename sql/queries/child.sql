-- Tasks that wait for the runs that they have started: parked with reason 7.

-- name: ChildrenOf :many
-- Which tasks wait for which of the runs, where these have ended or are gone.
SELECT c.parent_run, c.ord, c.generation, c.shard, c.attempt
FROM ax.child c LEFT JOIN ax.run r ON r.run_id = c.child_run AND r.run_id = ANY(@children::uuid[])
WHERE c.child_run = ANY(@children::uuid[]) AND (r.run_id IS NULL OR r.finished_at IS NOT NULL);

-- name: WaitingRows :many
-- The rows of (locked) stages that wait for runs.
SELECT id, run_id, ord, generation, attempt, todo::text AS todo
FROM ax.parked WHERE run_id = ANY(@run_ids::uuid[]) AND reason = 7;

-- name: WaitingParents :many
-- A page of the stages that hold tasks which wait for runs, for the full scan.
SELECT DISTINCT run_id FROM ax.parked WHERE reason = 7 AND run_id > @after ORDER BY run_id LIMIT @most;

-- name: ChildrenOfParents :many
-- The runs that tasks of the given runs have started.
SELECT child_run FROM ax.child WHERE parent_run = ANY(@parents::uuid[]);

-- name: LongEnded :many
-- Those of the runs that ended a while ago or are gone.
SELECT x.run_id::uuid AS run_id
FROM (SELECT unnest(@run_ids::uuid[]) AS run_id) x
LEFT JOIN ax.run r ON r.run_id = x.run_id AND r.run_id = ANY(@run_ids::uuid[])
WHERE r.run_id IS NULL OR r.finished_at < clock_timestamp() - make_interval(secs => @late_s::float8);

-- name: ParentsOf :many
-- Which tasks have started which of the given runs, where these are not being cancelled.
SELECT c.parent_run, c.ord, c.generation, c.child_run
FROM ax.child c JOIN ax.run r ON r.run_id = c.child_run
WHERE c.child_run = ANY(@children::uuid[]) AND r.run_id = ANY(@children::uuid[]) AND r.state = 1;

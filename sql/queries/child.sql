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
SELECT parent_run, ord, generation, shard, attempt, child_run FROM ax.child WHERE parent_run = ANY(@parents::uuid[]);

-- name: ParentsOf :many
-- Which tasks have started the given runs.
SELECT parent_run, ord, generation, shard, attempt, child_run FROM ax.child WHERE child_run = ANY(@children::uuid[]);

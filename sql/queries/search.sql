-- Finding runs. A search has an order: the ids of a namespace's runs in [after, before), the newest first, by the one index
-- that reads least; RunsAmong then looks at the rest of what was asked, a few hundred runs at a time. So no plan can read
-- more than it was told to, whatever the planner believes of a question that matches almost nothing.

-- name: RecentRuns :many
SELECT r.run_id FROM ax.run r
WHERE r.namespace = @namespace AND r.run_id >= @after AND r.run_id < @before
ORDER BY r.run_id DESC OFFSET @skip LIMIT @most;

-- name: RunsOfFlow :many
SELECT r.run_id FROM ax.run r
WHERE r.namespace = @namespace AND r.flow = @flow AND r.run_id >= @after AND r.run_id < @before
ORDER BY r.run_id DESC OFFSET @skip LIMIT @most;

-- name: RunsInState :many
-- Not of runs that have succeeded: these have no order of their own.
SELECT r.run_id FROM ax.run r
WHERE r.namespace = @namespace AND r.state = @state AND r.state <> 10 AND r.run_id >= @after AND r.run_id < @before
ORDER BY r.run_id DESC OFFSET @skip LIMIT @most;

-- name: RunsLabelled :many
SELECT l.run_id FROM ax.run_label l
WHERE l.namespace = @namespace AND l.label = @label AND l.run_id >= @after AND l.run_id < @before
ORDER BY l.run_id DESC OFFSET @skip LIMIT @most;

-- name: RunsAmong :many
-- Those of the named runs for which everything holds that was asked; what was not asked is null.
SELECT r.run_id FROM ax.run r
WHERE r.run_id = ANY(@ids::uuid[]) AND r.namespace = @namespace
  AND (sqlc.narg(flows)::text[] IS NULL OR r.flow = ANY(sqlc.narg(flows)::text[]))
  AND (sqlc.narg(states)::smallint[] IS NULL OR r.state = ANY(sqlc.narg(states)::smallint[]))
  AND (sqlc.narg(queues)::text[] IS NULL OR r.queue = ANY(sqlc.narg(queues)::text[]))
  AND (sqlc.narg(triggers)::text[] IS NULL OR r.trigger = ANY(sqlc.narg(triggers)::text[]))
  AND (sqlc.narg(levels)::smallint[] IS NULL OR coalesce(r.forced_level, r.level) = ANY(sqlc.narg(levels)::smallint[]))
  AND (sqlc.narg(version_ids)::int[] IS NULL OR r.version_id = ANY(sqlc.narg(version_ids)::int[]))
  AND (sqlc.narg(since)::timestamptz IS NULL OR r.created_at >= sqlc.narg(since)::timestamptz)
  AND (sqlc.narg(until)::timestamptz IS NULL OR r.created_at < sqlc.narg(until)::timestamptz)
  AND (sqlc.narg(tags)::jsonb IS NULL OR r.tags @> sqlc.narg(tags)::jsonb)
  AND (sqlc.narg(labels)::text[] IS NULL
       OR (SELECT count(*) FROM ax.run_label l
           WHERE l.namespace = @namespace AND l.label = ANY(sqlc.narg(labels)::text[]) AND l.run_id = r.run_id
             AND l.run_id = ANY(@ids::uuid[])) = cardinality(sqlc.narg(labels)::text[]))
ORDER BY r.run_id DESC;

-- name: VersionIDs :many
-- The versions of a namespace whose content hash begins so.
SELECT id FROM ax.flow_version WHERE namespace = @namespace AND starts_with(hash, @hash::text) ORDER BY id LIMIT 1000;

-- name: NewestVersions :many
SELECT name, version_id FROM ax.flow
WHERE namespace = @namespace AND (sqlc.narg(names)::text[] IS NULL OR name = ANY(sqlc.narg(names)::text[]))
ORDER BY name LIMIT 1000;

-- name: ReadRuns :many
-- Runs with the versions that they are pinned to.
SELECT r.run_id, r.version_id, r.state, coalesce(r.forced_level, r.level)::smallint AS level, r.version, r.created_at, r.finished_at, r.deadline, r.flow, r.queue, r.trigger,
       r.tags, r.stuck, v.hash, clock_timestamp()::timestamptz AS now
FROM ax.run r JOIN ax.flow_version v ON v.id = r.version_id
WHERE r.run_id = ANY(@ids::uuid[]) AND r.namespace = @namespace
ORDER BY r.run_id DESC;

-- name: TallyStages :many
-- How many stages of each run are in each state.
SELECT s.run_id, s.state, count(*)::int AS n FROM ax.stage s
WHERE s.run_id = ANY(@ids::uuid[])
GROUP BY s.run_id, s.state;

-- name: ParentTasks :many
-- The tasks that have started the named runs.
SELECT child_run, parent_run, ord, shard FROM ax.child WHERE child_run = ANY(@ids::uuid[]);

-- name: HoldsAmong :many
-- What of the named runs, flows and queues is paused.
SELECT kind, name, actor, reason, held_at FROM ax.hold
WHERE namespace = @namespace
  AND (kind = 'run' AND name = ANY(@runs::text[]) OR kind = 'flow' AND name = ANY(@flows::text[]) OR kind = 'queue' AND name = ANY(@queues::text[]));

-- Finding runs. A search has an order: the runs of a namespace with ids in [after, before), the newest first, by the one index
-- that reads least. The first four statements tell how far an order goes; SeekRuns reads some runs of it and tells for which of them
-- everything else holds too. So no plan can read more than it was told to, whatever the planner believes of a question that
-- matches almost nothing.

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

-- name: RunsOfParent :many
-- The runs that the sub-flow stages of a run have started.
SELECT c.child_run FROM ax.child c
WHERE c.parent_run = @parent AND c.child_run >= @after AND c.child_run < @before
  AND EXISTS (SELECT 1 FROM ax.run r WHERE r.run_id = c.child_run AND r.namespace = @namespace)
ORDER BY c.child_run DESC OFFSET @skip LIMIT @most;

-- name: SeekRuns :many
-- by is the order: recent, flow (named value), state, label (named value), or parent. What was not asked is null. The orders that are
-- not meant cost nothing: their branches are never entered.
SELECT c.run_id,
       ((sqlc.narg(flows)::text[] IS NULL OR c.flow = ANY(sqlc.narg(flows)::text[]))
        AND (sqlc.narg(states)::smallint[] IS NULL OR c.state = ANY(sqlc.narg(states)::smallint[]))
        AND (sqlc.narg(queues)::text[] IS NULL OR c.queue = ANY(sqlc.narg(queues)::text[]))
        AND (sqlc.narg(triggers)::text[] IS NULL OR c.trigger = ANY(sqlc.narg(triggers)::text[]))
        AND (sqlc.narg(levels)::smallint[] IS NULL OR c.level = ANY(sqlc.narg(levels)::smallint[]))
        AND (sqlc.narg(version_ids)::int[] IS NULL OR c.version_id = ANY(sqlc.narg(version_ids)::int[]))
        AND (sqlc.narg(tags)::jsonb IS NULL OR coalesce(c.tags @> sqlc.narg(tags)::jsonb, false))
        AND (sqlc.narg(labels)::text[] IS NULL
             OR (SELECT count(*) FROM ax.run_label l
                 WHERE l.namespace = @namespace AND l.label = ANY(sqlc.narg(labels)::text[]) AND l.run_id = c.run_id)
                = cardinality(sqlc.narg(labels)::text[]))
        AND (sqlc.narg(child_of)::uuid IS NULL
             OR EXISTS (SELECT 1 FROM ax.child k WHERE k.child_run = c.run_id AND k.parent_run = sqlc.narg(child_of)::uuid)))::bool AS holds
FROM (
    (SELECT r.run_id, r.flow, r.state, r.queue, r.trigger, coalesce(r.forced_level, r.level) AS level, r.version_id, r.tags
     FROM ax.run r
     WHERE @by::text = 'recent' AND r.namespace = @namespace AND r.run_id >= @after AND r.run_id < @before
     ORDER BY r.run_id DESC LIMIT @most)
    UNION ALL
    (SELECT r.run_id, r.flow, r.state, r.queue, r.trigger, coalesce(r.forced_level, r.level), r.version_id, r.tags
     FROM ax.run r
     WHERE @by::text = 'flow' AND r.namespace = @namespace AND r.flow = @value::text AND r.run_id >= @after AND r.run_id < @before
     ORDER BY r.run_id DESC LIMIT @most)
    UNION ALL
    (SELECT r.run_id, r.flow, r.state, r.queue, r.trigger, coalesce(r.forced_level, r.level), r.version_id, r.tags
     FROM ax.run r
     WHERE @by::text = 'state' AND r.namespace = @namespace AND r.state = @state::smallint AND r.state <> 10
       AND r.run_id >= @after AND r.run_id < @before
     ORDER BY r.run_id DESC LIMIT @most)
    UNION ALL
    (SELECT r.run_id, r.flow, r.state, r.queue, r.trigger, coalesce(r.forced_level, r.level), r.version_id, r.tags
     FROM (SELECT l.run_id FROM ax.run_label l
           WHERE @by::text = 'label' AND l.namespace = @namespace AND l.label = @value::text AND l.run_id >= @after AND l.run_id < @before
           ORDER BY l.run_id DESC LIMIT @most) l
     CROSS JOIN LATERAL (SELECT * FROM ax.run r WHERE r.run_id = l.run_id LIMIT 1) r)
    UNION ALL
    (SELECT r.run_id, r.flow, r.state, r.queue, r.trigger, coalesce(r.forced_level, r.level), r.version_id, r.tags
     FROM (SELECT k.child_run FROM ax.child k
           WHERE @by::text = 'parent' AND k.parent_run = @parent::uuid AND k.child_run >= @after AND k.child_run < @before
           ORDER BY k.child_run DESC LIMIT @most) k
     CROSS JOIN LATERAL (SELECT * FROM ax.run r WHERE r.run_id = k.child_run AND r.namespace = @namespace LIMIT 1) r)
) c
ORDER BY c.run_id DESC;

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

-- The history checker: what must hold in any database at any moment (each query reads one snapshot), and what
-- must hold once nothing runs any more. Every query returns violations; none is the right answer.

-- name: BrokenIdentity :many
-- Ready, flight, parked and succeeded are disjoint and together all shards, for every stage whose total is
-- frozen; and every row's n is the size of its todo.
WITH live AS (
    SELECT run_id, ord, generation, todo, n FROM ax.ready WHERE kind = 0
    UNION ALL
    SELECT run_id, ord, generation, todo, (SELECT coalesce(sum(upper(x) - lower(x)), 0) FROM unnest(todo) AS x)::int
    FROM ax.flight WHERE kind = 0 AND NOT isempty(todo)
    UNION ALL
    SELECT run_id, ord, generation, todo, n FROM ax.parked WHERE kind = 0
), held AS (
    SELECT run_id, ord, generation, range_agg(todo) AS todo, sum(n)::bigint AS n,
           bool_or(n <> (SELECT coalesce(sum(upper(x) - lower(x)), 0) FROM unnest(todo) AS x)) AS miscounted
    FROM live GROUP BY 1, 2, 3
), won AS (
    SELECT run_id, ord, generation, range_agg(int4range(shard, shard + 1)) AS todo, count(DISTINCT shard) AS n
    FROM ax.result WHERE outcome = 10 AND shard >= 0 GROUP BY 1, 2, 3
)
SELECT s.run_id, s.ord, s.generation, s.shard_total::int AS shard_total,
       coalesce(held.n, 0)::bigint AS held, coalesce(won.n, 0)::bigint AS won,
       coalesce(held.miscounted, false)::bool AS miscounted
FROM ax.stage s
LEFT JOIN held ON held.run_id = s.run_id AND held.ord = s.ord AND held.generation = s.generation
LEFT JOIN won ON won.run_id = s.run_id AND won.ord = s.ord AND won.generation = s.generation
WHERE s.shard_total IS NOT NULL AND s.state NOT IN (0, 13)
  AND (coalesce(held.n, 0) + coalesce(won.n, 0) <> s.shard_total
       OR coalesce(held.miscounted, false)
       OR coalesce(held.todo, '{}') + coalesce(won.todo, '{}')
          <> CASE WHEN s.shard_total = 0 THEN '{}'::int4multirange ELSE int4multirange(int4range(0, s.shard_total)) END)
LIMIT 100;

-- name: DoubleFinishes :many
-- More than one success of one shard in one generation that no operator's rerun explains.
SELECT r.run_id, r.ord, r.generation, r.shard, count(*) AS finishes
FROM ax.result r
WHERE r.outcome = 10
  AND NOT EXISTS (SELECT 1 FROM ax.journal j
                  WHERE j.run_id = r.run_id AND j.ord = r.ord AND j.kind = 'rerun_shard')
GROUP BY 1, 2, 3, 4 HAVING count(*) > 1
LIMIT 100;

-- name: WrongFinalCounts :many
-- Decided stages whose stored counts are not what the rows say.
SELECT s.run_id, s.ord, s.generation, s.state, s.succeeded, s.failed, s.cancelled, s.skipped,
       coalesce(w.won, 0)::int AS won, coalesce(p.dead, 0)::int AS dead, coalesce(p.cancelled, 0)::int AS parked_cancelled,
       coalesce(p.skipped, 0)::int AS parked_skipped
FROM ax.stage s
LEFT JOIN (SELECT run_id, ord, generation, count(DISTINCT shard) AS won FROM ax.result
           WHERE outcome = 10 AND shard >= 0 GROUP BY 1, 2, 3) w
       ON w.run_id = s.run_id AND w.ord = s.ord AND w.generation = s.generation
LEFT JOIN (SELECT run_id, ord, generation, sum(n) FILTER (WHERE reason IN (1, 5, 6)) AS dead,
                  sum(n) FILTER (WHERE reason = 2) AS cancelled, sum(n) FILTER (WHERE reason = 3) AS skipped
           FROM ax.parked GROUP BY 1, 2, 3) p
       ON p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation
WHERE s.state >= 10 AND s.shard_total IS NOT NULL
  AND (s.succeeded <> coalesce(w.won, 0) OR s.failed <> coalesce(p.dead, 0)
       OR s.cancelled <> coalesce(p.cancelled, 0) OR s.skipped <> coalesce(p.skipped, 0))
  AND s.state <> 13
LIMIT 100;

-- name: DecidedWithWork :many
-- Decided or waiting stages that still hold something ready or in flight, and live rows of another generation
-- or of no stage at all.
SELECT l.run_id, l.ord, l.generation, coalesce(s.state, -1)::smallint AS state, l.place::text AS place
FROM (SELECT run_id, ord, generation, 'ready' AS place FROM ax.ready
      UNION ALL SELECT run_id, ord, generation, 'flight' FROM ax.flight WHERE NOT isempty(todo)
      UNION ALL SELECT run_id, ord, generation, 'parked' FROM ax.parked) l
LEFT JOIN ax.stage s ON s.run_id = l.run_id AND s.ord = l.ord
WHERE s.run_id IS NULL OR s.generation <> l.generation
   OR (l.place <> 'parked' AND s.state NOT IN (1, 2, 3))
LIMIT 100;

-- name: OpenStagesOfEndedRuns :many
SELECT s.run_id, s.ord, s.state, r.state AS run_state
FROM ax.run r JOIN ax.stage s ON s.run_id = r.run_id
WHERE r.finished_at IS NOT NULL AND s.state < 10
LIMIT 100;

-- name: EndedRunsWithoutEnd :many
-- Runs whose state and finish time disagree.
SELECT run_id, state FROM ax.run WHERE (state >= 10) <> (finished_at IS NOT NULL) LIMIT 100;

-- name: EpochsOutOfOrder :many
-- A term that began before an older one.
SELECT a.name, a.epoch, a.acquired_at, b.epoch AS later_epoch, b.acquired_at AS later_at
FROM ax.lease_term a JOIN ax.lease_term b ON b.name = a.name AND b.epoch > a.epoch AND b.acquired_at < a.acquired_at
LIMIT 100;

-- name: StaleHandouts :many
-- Hand-outs that an older epoch made after a newer term had begun.
SELECT r.run_id, r.ord, r.shard, r.epoch, r.dispatched_at, t.epoch AS newer_epoch, t.acquired_at
FROM ax.result r JOIN ax.lease_term t ON t.name = @lease AND t.epoch = r.epoch + 1 AND r.dispatched_at > t.acquired_at
LIMIT 100;

-- name: AttemptsOutOfOrder :many
-- An index whose later attempt (or delivery) was handed out before the earlier one was: two executions owned it
-- at once.
SELECT a.run_id, a.ord, a.generation, a.shard, a.attempt, a.delivery
FROM ax.result a JOIN ax.result b
  ON b.run_id = a.run_id AND b.ord = a.ord AND b.generation = a.generation AND b.shard = a.shard
 AND (b.attempt, b.delivery) > (a.attempt, a.delivery)
WHERE a.outcome <> 10 AND b.dispatched_at < a.dispatched_at
LIMIT 100;

-- name: UnfinishedRuns :many
SELECT run_id, state, coalesce(stuck, '')::text AS stuck FROM ax.run WHERE finished_at IS NULL AND run_id > @after
ORDER BY run_id LIMIT @most;

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
    SELECT run_id, ord, generation, range_agg(int4range(shard, shard + 1)) AS todo
    FROM ax.result WHERE outcome = 10 AND shard >= 0 GROUP BY 1, 2, 3
), rerun AS ( -- a succeeded shard that an operator reruns counts where it stands now
    SELECT DISTINCT run_id, ord FROM ax.journal WHERE kind = 'rerun_shard'
), placed AS (
    SELECT s.run_id, s.ord, s.generation, s.shard_total, coalesce(held.n, 0) AS held, coalesce(held.todo, '{}') AS held_todo,
           coalesce(held.miscounted, false) AS miscounted,
           CASE WHEN rerun.run_id IS NULL THEN coalesce(won.todo, '{}')
                ELSE coalesce(won.todo, '{}') - coalesce(held.todo, '{}') END AS won_todo
    FROM ax.stage s
    LEFT JOIN held ON held.run_id = s.run_id AND held.ord = s.ord AND held.generation = s.generation
    LEFT JOIN won ON won.run_id = s.run_id AND won.ord = s.ord AND won.generation = s.generation
    LEFT JOIN rerun ON rerun.run_id = s.run_id AND rerun.ord = s.ord
    WHERE s.shard_total IS NOT NULL AND s.state NOT IN (0, 13)
), counted AS (
    SELECT b.*, (SELECT coalesce(sum(upper(x) - lower(x)), 0) FROM unnest(b.won_todo) AS x)::bigint AS won FROM placed b
)
SELECT c.run_id, c.ord, c.generation, c.shard_total::int AS shard_total, c.held::bigint AS held, c.won::bigint AS won,
       c.miscounted::bool AS miscounted
FROM counted c
WHERE c.held + c.won <> c.shard_total OR c.miscounted
   OR c.held_todo + c.won_todo
      <> CASE WHEN c.shard_total = 0 THEN '{}'::int4multirange ELSE int4multirange(int4range(0, c.shard_total)) END
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
WITH p AS (
    SELECT run_id, ord, generation, sum(n) FILTER (WHERE reason IN (1, 5, 6, 8, 9)) AS dead,
           sum(n) FILTER (WHERE reason = 2) AS cancelled, sum(n) FILTER (WHERE reason = 3) AS skipped,
           range_agg(todo) AS todo
    FROM ax.parked GROUP BY 1, 2, 3
), rerun AS (
    SELECT DISTINCT run_id, ord FROM ax.journal WHERE kind = 'rerun_shard'
), w AS (
    SELECT r.run_id, r.ord, r.generation, count(DISTINCT r.shard) AS won
    FROM ax.result r
    LEFT JOIN rerun ON rerun.run_id = r.run_id AND rerun.ord = r.ord
    LEFT JOIN p ON p.run_id = r.run_id AND p.ord = r.ord AND p.generation = r.generation
    WHERE r.outcome = 10 AND r.shard >= 0 AND (rerun.run_id IS NULL OR p.todo IS NULL OR NOT p.todo @> r.shard)
    GROUP BY 1, 2, 3
)
SELECT s.run_id, s.ord, s.generation, s.state, s.succeeded, s.failed, s.cancelled, s.skipped,
       coalesce(w.won, 0)::int AS won, coalesce(p.dead, 0)::int AS dead, coalesce(p.cancelled, 0)::int AS parked_cancelled,
       coalesce(p.skipped, 0)::int AS parked_skipped
FROM ax.stage s
LEFT JOIN w ON w.run_id = s.run_id AND w.ord = s.ord AND w.generation = s.generation
LEFT JOIN p ON p.run_id = s.run_id AND p.ord = s.ord AND p.generation = s.generation
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

-- name: BrokenPolicies :many
-- What flow control must keep: why things are parked, how stopped and tolerant stages end, and keys.
WITH l AS (
    SELECT 'ready'::text AS place, run_id, ord, generation, kind, key, 0::smallint AS reason FROM ax.ready
    UNION ALL
    SELECT 'flight', run_id, ord, generation, kind, key, 0 FROM ax.flight
    UNION ALL
    SELECT 'parked', run_id, ord, generation, kind, key, reason FROM ax.parked
), broken AS (
    SELECT 'parked for a known reason' AS rule, run_id, ord, 'reason ' || reason AS detail
    FROM ax.parked WHERE reason NOT BETWEEN 1 AND 9
    UNION ALL
    SELECT 'decided stages wait for nothing', p.run_id, p.ord, 'state ' || s.state || ', parked for reason ' || p.reason
    FROM ax.parked p JOIN ax.stage s ON s.run_id = p.run_id AND s.ord = p.ord
    WHERE p.reason IN (4, 7) AND s.state >= 10
    UNION ALL
    SELECT 'stopped stages have nothing ready', r.run_id, r.ord, 'state ' || s.state
    FROM ax.ready r JOIN ax.stage s ON s.run_id = r.run_id AND s.ord = r.ord
    WHERE s.state = 3
    UNION ALL
    SELECT 'a verdict stops its stage', run_id, ord, 'state ' || state || ', verdict ' || verdict
    FROM ax.stage WHERE verdict IS NOT NULL AND state IN (0, 1, 2)
    UNION ALL
    SELECT 'a stage ends by what it tolerates', run_id, ord,
           format('state %s, failed %s, cancelled %s, tolerated %s, verdict %s', state, failed, cancelled, coalesce(tolerate, 0),
                  coalesce(verdict::text, 'none'))
    FROM ax.stage
    WHERE shard_total IS NOT NULL
      AND (state = 10 AND (failed > coalesce(tolerate, 0) OR cancelled > 0)
           OR state = 11 AND failed <= coalesce(tolerate, 0) AND NOT (verdict IS NOT NULL AND cancelled > 0))
    UNION ALL
    SELECT 'work keeps its key', l.run_id, l.ord, format('%s of kind %s has key %s, the stage %s', l.place, l.kind,
           coalesce(l.key, 'none'), coalesce(s.key, 'none'))
    FROM l JOIN ax.stage s ON s.run_id = l.run_id AND s.ord = l.ord AND s.generation = l.generation
    WHERE l.kind = 0 AND s.key IS NOT NULL AND l.key IS DISTINCT FROM s.key OR l.kind = 1 AND l.key IS NOT NULL
    UNION ALL
    SELECT 'what waits for a run has started one', p.run_id, p.ord, format('attempt %s of %s', p.attempt, p.todo)
    FROM ax.parked p CROSS JOIN LATERAL unnest(p.todo) AS g(r) CROSS JOIN LATERAL generate_series(lower(g.r), upper(g.r) - 1) AS i
    WHERE p.reason = 7
      AND NOT EXISTS (SELECT 1 FROM ax.child c WHERE c.parent_run = p.run_id AND c.ord = p.ord
                        AND c.generation = p.generation AND c.attempt = p.attempt AND c.shard = i)
    UNION ALL
    SELECT 'nothing satisfied waits', p.run_id, p.ord, format('shard %s waits for run %s, which ended %s', c.shard, c.child_run,
           coalesce(r.finished_at::text, 'long ago'))
    FROM ax.parked p
    JOIN ax.child c ON c.parent_run = p.run_id AND c.ord = p.ord AND c.generation = p.generation AND c.attempt = p.attempt
                   AND p.todo @> c.shard
    LEFT JOIN ax.run r ON r.run_id = c.child_run
    WHERE p.reason = 7
      AND (r.run_id IS NULL OR r.finished_at < clock_timestamp() - make_interval(secs => @grace_s::float8))
    UNION ALL
    SELECT 'budgets end', e.run_id, e.ord, 'it ran out ' || e.expires_at
    FROM ax.expiry e JOIN ax.stage s ON s.run_id = e.run_id AND s.ord = e.ord AND s.generation = e.generation
    WHERE s.state IN (1, 2) AND e.expires_at < clock_timestamp() - make_interval(secs => @grace_s::float8)
    UNION ALL
    SELECT 'outcomes are known', run_id, ord, format('shard %s: outcome %s', shard, outcome)
    FROM ax.result WHERE outcome NOT IN (10, 11, 13, 15, 16, 17)
)
SELECT rule::text AS rule, run_id::uuid AS run_id, ord::smallint AS ord, detail::text AS detail FROM broken LIMIT 100;

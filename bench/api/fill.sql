-- One day of the history. Run i is the same in every history of its size: what it is follows from h, a number that i scrambles to.
CREATE TEMP TABLE make_run ON COMMIT DROP AS
SELECT i, h, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8'
              || lpad(to_hex(h), 15, '0'))::uuid AS run_id,
       at, v.namespace, v.flow, v.id AS version_id, state,
       CASE WHEN (i - current_setting('bench.first')::bigint) = 100 THEN current_setting('bench.large')::int ELSE current_setting('bench.shards')::int END AS total,
       'region-' || h / 19 % 20 AS region, 'customer-' || h / 23 % 5000 AS customer
FROM (SELECT i, h,
             current_setting('bench.day')::timestamptz
             + (i - current_setting('bench.first')::bigint) * interval '1 day' / (current_setting('bench.last')::bigint - current_setting('bench.first')::bigint) AS at,
             CASE WHEN h / 7 % 1000 < 20 THEN 11 WHEN h / 7 % 1000 < 25 THEN 12
                  WHEN h / 7 % 1000 < 30 AND current_setting('bench.open')::boolean THEN 1 ELSE 10 END::smallint AS state,
             CASE WHEN h / 11 % 100 < 80 THEN 'default' WHEN h / 11 % 100 < 95 THEN 'finance' ELSE 'lab' END AS namespace,
             'flow-' || lpad((12 * power(h / 13 % 1000 / 1000.0, 2))::int % 12 || '', 2, '0') AS flow
      FROM (SELECT i, (i * 2654435761) % 4294967296 AS h
            FROM generate_series(current_setting('bench.first')::bigint, current_setting('bench.last')::bigint - 1) AS i) x) x
JOIN ax.flow_version v ON v.namespace = x.namespace AND v.flow = x.flow;

INSERT INTO ax.run (run_id, version_id, state, level, created_at, finished_at, namespace, flow, queue, trigger, params, tags)
SELECT run_id, version_id, state, 2, at, CASE WHEN state >= 10 THEN at + interval '40 seconds' END, namespace, flow, 'default',
       CASE WHEN h % 3 = 0 THEN 'api' ELSE 'schedule' END,
       convert_to(json_build_object('date', at::date, 'region', region, 'customer', customer, 'rows', total)::text, 'UTF8'),
       jsonb_build_object('team', 'team-' || h / 3 % 40, 'env', CASE WHEN h / 29 % 10 < 7 THEN 'prod' ELSE 'dev' END, 'ticket', 'T-' || i / 100)
FROM make_run ORDER BY run_id;

INSERT INTO ax.run_label (run_id, namespace, label)
SELECT run_id, namespace, l
FROM make_run, unnest(ARRAY['tag:team=team-' || h / 3 % 40, 'tag:env=' || CASE WHEN h / 29 % 10 < 7 THEN 'prod' ELSE 'dev' END, 'tag:ticket=T-' || i / 100,
                            'param:region=' || region, 'param:customer=' || customer]) AS l
ORDER BY namespace, l, run_id;

-- extract is done everywhere; load succeeded, lost its last shard, was cancelled, or is half-way; report follows.
INSERT INTO ax.stage (run_id, ord, generation, state, shard_total, succeeded, failed, cancelled, since, ready_at, finished_at)
SELECT run_id, 0, 1, 10, 1, 1, 0, 0, at, at, at + interval '5 seconds' FROM make_run
UNION ALL
SELECT run_id, 1, 1, CASE state WHEN 1 THEN 2 ELSE state END, total, total - CASE state WHEN 10 THEN 0 WHEN 1 THEN total ELSE 1 END,
       CASE state WHEN 11 THEN 1 ELSE 0 END, CASE state WHEN 12 THEN 1 ELSE 0 END, at, at + interval '5 seconds',
       CASE WHEN state >= 10 THEN at + interval '35 seconds' END
FROM make_run
UNION ALL
SELECT run_id, 2, 1, CASE state WHEN 10 THEN 10 WHEN 11 THEN 14 WHEN 12 THEN 12 ELSE 0 END, CASE state WHEN 10 THEN 1 END,
       CASE state WHEN 10 THEN 1 ELSE 0 END, 0, 0, at, CASE state WHEN 10 THEN at + interval '35 seconds' END,
       CASE WHEN state >= 10 THEN at + interval '40 seconds' END
FROM make_run
ORDER BY 1, 2;

INSERT INTO ax.result (run_id, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at, shard, epoch, ord, generation, attempt,
                       delivery, outcome, output, error)
SELECT run_id, '01900000-0000-7000-8000-000000000001', run_id, began, began, began + interval '1 second', began + interval '2 seconds', shard, 1, ord, 1, 1, 1,
       outcome, CASE WHEN outcome = 10 AND shard >= 0 THEN convert_to('{"rows": ' || h % 100000 || '}', 'UTF8') END,
       CASE WHEN outcome = 11 THEN convert_to('{"code": "handler_error", "message": "the source has gone away"}', 'UTF8') END
FROM (SELECT run_id, h, 0 AS ord, 0 AS shard, at AS began, 10 AS outcome FROM make_run
      UNION ALL
      SELECT run_id, h, 1, s, at + interval '5 seconds', CASE WHEN state = 11 AND s = total - 1 THEN 11 ELSE 10 END
      FROM make_run, generate_series(-1, total - 1 - CASE state WHEN 1 THEN total / 2 WHEN 12 THEN 1 ELSE 0 END) AS s
      UNION ALL
      SELECT run_id, h, 2, 0, at + interval '35 seconds', 10 FROM make_run WHERE state = 10) x
ORDER BY run_id, ord, shard;

INSERT INTO ax.ready (id, run_id, not_before, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, namespace, queue, todo)
SELECT run_id, run_id, at, at, version_id, total / 2, 1, 1, 0, 1, 1, 0, 2, namespace, 'default', int4multirange(int4range(total - total / 2, total))
FROM make_run WHERE state = 1 AND total > 1;

INSERT INTO ax.parked (id, run_id, parked_at, ready_at, version_id, n, ord, generation, kind, attempt, delivery, losses, level, reason, namespace, queue, todo,
                       fingerprint)
SELECT run_id, run_id, at + interval '30 seconds', at, version_id, 1, 1, 1, 0, 1, 1, 0, 2, CASE state WHEN 11 THEN 1 ELSE 2 END, namespace, 'default',
       int4multirange(int4range(total - 1, total)), CASE state WHEN 11 THEN 'the source has gone away' END
FROM make_run WHERE state IN (11, 12);

-- name: TellRuns :execrows
-- The deliveries of an event of runs that this transaction has locked or inserted, to every webhook that wants it. event "" is that
-- of each run's end; runs that have not ended have none. EndRuns does the same for the runs that it ends.
INSERT INTO ax.delivery (id, webhook_id, namespace, event, run_id, asked_at, next_at, created_at, data)
SELECT gen_random_uuid(), w.id, r.namespace, ev.event, r.run_id, ev.at, ev.at, ev.at,
       jsonb_build_object('flow', r.flow, 'version', (SELECT v.hash FROM ax.flow_version v WHERE v.id = r.version_id),
                          'state', r.state, 'level', coalesce(r.forced_level, r.level), 'queue', r.queue, 'tags', r.tags,
                          'created_at', r.created_at, 'finished_at', r.finished_at, 'deadline', r.deadline,
                          'late', r.deadline < coalesce(r.finished_at, ev.at))
FROM ax.run r
CROSS JOIN LATERAL (SELECT CASE WHEN @event::text <> '' THEN @event::text
                                ELSE CASE r.state WHEN 10 THEN 'run.succeeded' WHEN 11 THEN 'run.failed' WHEN 12 THEN 'run.cancelled' END
                           END AS event, clock_timestamp() AS at) ev
JOIN ax.webhook w ON w.namespace = r.namespace
WHERE r.run_id = ANY(@run_ids::uuid[]) AND w.disabled_at IS NULL AND ev.event = ANY(w.events)
  AND (w.flows = '{}' OR r.flow = ANY(w.flows));

-- name: LockLate :many
-- Locks open runs whose deadline has passed and of which nobody has noted it; those that others hold are left for the next round.
SELECT run_id FROM ax.run
WHERE finished_at IS NULL AND late_noted_at IS NULL AND deadline IS NOT NULL AND deadline <= now()
ORDER BY deadline
LIMIT @most
FOR NO KEY UPDATE SKIP LOCKED;

-- name: NoteLate :many
-- Notes locked runs as late, once, and writes it into their journals.
WITH u AS (
    UPDATE ax.run r SET late_noted_at = clock_timestamp(), version = r.version + 1
    WHERE r.run_id = ANY(@run_ids::uuid[]) AND r.finished_at IS NULL AND r.late_noted_at IS NULL
    RETURNING r.run_id, r.deadline
), j AS (
    INSERT INTO ax.journal (run_id, id, kind, actor, detail)
    SELECT u.run_id, x.id, 'late', @actor::text, jsonb_build_object('deadline', u.deadline)
    FROM u
    JOIN (SELECT unnest(@run_ids::uuid[]) AS run_id, unnest(@journal_ids::uuid[]) AS id) x ON x.run_id = u.run_id
)
SELECT u.run_id FROM u;

-- name: NextDelivery :one
-- When the next delivery is due, in seconds from now; infinity: none is pending.
SELECT coalesce(extract(epoch FROM (SELECT min(d.next_at) FROM ax.delivery d WHERE d.state = 'pending') - clock_timestamp())::float8,
                'infinity'::float8)::float8 AS in_s;

-- name: ClaimDeliveries :many
-- Claims due deliveries, at most @each a webhook, for an attempt that counts as lost after @lease_s: whoever looks then makes it
-- again. failing picks webhooks that take nothing at present, or those that do; busy are passed over.
WITH due AS MATERIALIZED (
    SELECT x.id
    FROM ax.webhook w
    CROSS JOIN LATERAL (
        SELECT d.id, d.next_at FROM ax.delivery d
        WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_at <= clock_timestamp()
        ORDER BY d.next_at
        LIMIT @each
        FOR UPDATE SKIP LOCKED
    ) x
    WHERE w.disabled_at IS NULL AND (w.failing_since IS NOT NULL) = @failing::bool AND w.id <> ALL(@busy::uuid[])
    ORDER BY x.next_at
    LIMIT @most
), c AS (
    UPDATE ax.delivery d
    SET attempts = d.attempts + 1, tried = d.tried + 1, next_at = clock_timestamp() + make_interval(secs => @lease_s::float8)
    WHERE d.id IN (SELECT due.id FROM due)
    RETURNING d.id, d.webhook_id, d.namespace, d.event, d.run_id, d.attempts, d.tried, d.asked_at, d.data, d.created_at
)
SELECT c.id, c.webhook_id, c.namespace, c.event, c.run_id, c.attempts, c.tried, c.data, c.created_at,
       (extract(epoch FROM clock_timestamp() - c.asked_at))::float8 AS age_s, w.url, w.secret
FROM c JOIN ax.webhook w ON w.id = c.webhook_id;

-- name: SettleDelivery :execrows
-- Writes down how an attempt has ended, if it is still the newest, and what that says of the webhook.
WITH d AS (
    UPDATE ax.delivery d
    SET state = @state::text, status = sqlc.narg(status)::int, error = sqlc.narg(error)::text,
        next_at = clock_timestamp() + make_interval(secs => @pause_s::float8),
        delivered_at = CASE WHEN @state::text = 'delivered' THEN clock_timestamp() END
    WHERE d.id = @id AND d.attempts = @attempts AND d.state = 'pending'
    RETURNING d.webhook_id
), w AS (
    UPDATE ax.webhook w
    SET failing_since = CASE WHEN @state::text = 'delivered' THEN NULL ELSE coalesce(w.failing_since, clock_timestamp()) END,
        disabled_at = CASE WHEN @gone::bool THEN clock_timestamp() ELSE w.disabled_at END
    FROM d
    WHERE w.id = d.webhook_id AND (@gone::bool OR (w.failing_since IS NULL) <> (@state::text = 'delivered'))
)
SELECT 1 FROM d;

-- name: FailDeliveriesOf :execrows
-- What a webhook that is disabled will not get.
UPDATE ax.delivery SET state = 'failed', error = @error::text WHERE webhook_id = @webhook_id AND state = 'pending';

-- name: DropOldDeliveries :execrows
-- Settled deliveries past their retention, some at a time.
DELETE FROM ax.delivery WHERE id IN (
    SELECT x.id
    FROM ax.webhook w
    CROSS JOIN LATERAL (
        SELECT d.id FROM ax.delivery d
        WHERE d.webhook_id = w.id AND d.created_at < clock_timestamp() - make_interval(secs => @keep_s::float8) AND d.state <> 'pending'
        ORDER BY d.created_at
        LIMIT @most
    ) x
    LIMIT @most);

-- name: DropLostDeliveries :execrows
-- Deliveries of webhooks that are gone, some at a time.
DELETE FROM ax.delivery WHERE id IN (
    SELECT d.id FROM ax.delivery d WHERE NOT EXISTS (SELECT 1 FROM ax.webhook w WHERE w.id = d.webhook_id) LIMIT @most);

-- name: LockWebhooks :exec
-- Those who add webhooks to a namespace take turns, so that its number of them holds.
SELECT pg_advisory_xact_lock(hashtextextended('ax.webhook/' || @namespace::text, 0));

-- name: CountWebhooks :one
SELECT count(*)::int AS n, (count(*) FILTER (WHERE name = @name))::int AS same FROM ax.webhook WHERE namespace = @namespace;

-- name: AddWebhook :one
INSERT INTO ax.webhook (id, namespace, name, url, secret, events, flows, created_by)
VALUES (@id, @namespace, @name, @url, @secret, @events, @flows, @created_by)
RETURNING created_at;

-- name: Webhooks :many
SELECT id, name, url, events, flows, created_at, created_by, failing_since, disabled_at
FROM ax.webhook WHERE namespace = @namespace ORDER BY name;

-- name: Webhook :one
SELECT id, name, url, events, flows, created_at, created_by, failing_since, disabled_at
FROM ax.webhook WHERE namespace = @namespace AND id = @id;

-- name: DropWebhook :one
DELETE FROM ax.webhook WHERE namespace = @namespace AND id = @id RETURNING name, url;

-- name: EnableWebhook :one
-- Whoever asks for a delivery says that the receiver is there.
UPDATE ax.webhook SET disabled_at = NULL WHERE namespace = @namespace AND id = @id RETURNING name;

-- name: AddPing :one
INSERT INTO ax.delivery (id, webhook_id, namespace, event, asked_at, next_at, created_at)
VALUES (@id, @webhook_id, @namespace, 'ping', clock_timestamp(), clock_timestamp(), clock_timestamp())
RETURNING id, event, run_id, state, attempts, status, error, created_at, next_at, delivered_at;

-- name: Redeliver :one
-- Asks for a delivery again: its pauses begin anew. An attempt that is being made counts as well.
UPDATE ax.delivery
SET state = 'pending', tried = 0, asked_at = clock_timestamp(), next_at = clock_timestamp(), delivered_at = NULL
WHERE namespace = @namespace AND webhook_id = @webhook_id AND id = @id
RETURNING id, event, run_id, state, attempts, status, error, created_at, next_at, delivered_at;

-- name: Deliveries :many
-- Newest first, from behind the given one.
SELECT id, event, run_id, state, attempts, status, error, created_at, next_at, delivered_at
FROM ax.delivery
WHERE webhook_id = @webhook_id AND namespace = @namespace AND (created_at, id) < (@before::timestamptz, @before_id::uuid)
ORDER BY created_at DESC, id DESC
LIMIT @most;

-- name: DropPendingOf :execrows
-- What a webhook that is deleted will not get.
DELETE FROM ax.delivery WHERE webhook_id = @webhook_id AND state = 'pending';

-- Flow control: keys, rates, holds, queues, circuits, dead letters, sub-flows, audit. Policies that a flow declares are
-- in its graph; these tables hold what operators set and what the leader must not forget over a fail-over.

-- +goose Up

-- An operator's level for the whole run, above what its stages declare; null: none.
ALTER TABLE ax.run ADD COLUMN forced_level smallint;

ALTER TABLE ax.stage
    ADD COLUMN level    smallint, -- an operator's, above everything else
    ADD COLUMN key      text,     -- concurrency key by the run's params: group/value
    ADD COLUMN tolerate int,      -- how many shards may fail; null: none
    ADD COLUMN verdict  smallint; -- the state to end in once what runs has drained: set by fail-fast and expiry

-- Normalised error of dead indices, by which dead letters are grouped.
ALTER TABLE ax.parked ADD COLUMN fingerprint text;
CREATE INDEX parked_dead ON ax.parked (namespace, fingerprint, run_id, ord) WHERE reason IN (1, 6, 8);

-- Tasks that wait for runs that they have started.
CREATE INDEX parked_child ON ax.parked (run_id, ord) WHERE reason = 7;

-- When released stages with an overall time budget run out of it.
CREATE TABLE ax.expiry (
    run_id     uuid        NOT NULL,
    ord        smallint    NOT NULL,
    generation smallint    NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (run_id, ord)
);
CREATE INDEX expiry_due ON ax.expiry (expires_at);

-- Which run a task of a sub-flow stage has started. The parked row of the task waits for it (reason 7).
CREATE TABLE ax.child (
    parent_run uuid     NOT NULL,
    ord        smallint NOT NULL,
    generation smallint NOT NULL,
    shard      int      NOT NULL,
    attempt    smallint NOT NULL,
    child_run  uuid     NOT NULL UNIQUE,
    PRIMARY KEY (parent_run, ord, generation, shard, attempt)
);

-- What operators have paused.
CREATE TABLE ax.hold (
    namespace text        NOT NULL,
    kind      text        NOT NULL CHECK (kind IN ('queue', 'flow', 'run')),
    name      text        NOT NULL, -- of a run: its id
    actor     text        NOT NULL,
    reason    text        NOT NULL DEFAULT '',
    held_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, kind, name)
);

-- A queue that somebody configured; others need no row. depth and pressure are what the leader published last.
CREATE TABLE ax.queue (
    namespace    text        NOT NULL,
    name         text        NOT NULL,
    capacity     int,         -- tasks waiting or running; null: no backpressure
    concurrency  int,         -- tasks running at once; null: no limit
    weights      int[],       -- of P0..P5; null: the engine's
    decay        float8,      -- levels risen per second of waiting; null: the engine's
    alert_at     real        NOT NULL DEFAULT 0.60, -- shares of capacity
    refuse_at    real        NOT NULL DEFAULT 0.80,
    pause_at     real        NOT NULL DEFAULT 0.95,
    resume_at    real        NOT NULL DEFAULT 0.40,
    core_level   smallint    NOT NULL DEFAULT 1, -- levels up to this are started until the queue is full
    low_level    smallint    NOT NULL DEFAULT 3, -- levels from this on are demoted and paused
    depth        bigint      NOT NULL DEFAULT 0,
    pressure     smallint    NOT NULL DEFAULT 0, -- 0 normal, 1 alert, 2 refuse, 3 pause
    published_at timestamptz,
    version      int         NOT NULL DEFAULT 1,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (namespace, name)
) WITH (fillfactor = 50);

-- Circuit breakers that are not closed, or have been opened before.
CREATE TABLE ax.circuit (
    namespace  text        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('handler', 'downstream')),
    name       text        NOT NULL, -- a handler's is flow/stage
    state      smallint    NOT NULL, -- 0 closed, 1 open, 2 half-open
    manual     boolean     NOT NULL DEFAULT false, -- opened by an operator: stays open until closed by one
    failures   int         NOT NULL DEFAULT 0,
    opened_at  timestamptz,
    until      timestamptz, -- end of the cool-down
    last_error text        NOT NULL DEFAULT '',
    actor      text        NOT NULL,
    reason     text        NOT NULL DEFAULT '',
    version    int         NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, kind, name)
);

-- Start rates and retry windows: how many starts fell into each slot of the window, as the leader wrote it last.
CREATE TABLE ax.rate (
    name       text        PRIMARY KEY,
    width_ms   bigint      NOT NULL, -- of a slot
    slot       bigint      NOT NULL, -- number of the newest slot since 1970
    counts     int[]       NOT NULL, -- by slot, the newest last
    unstarted  int         NOT NULL, -- handed out by then and not started
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- Pool sizes that operators set, per worker.
CREATE TABLE ax.pool (
    namespace  text        NOT NULL,
    handler    text        NOT NULL, -- flow/stage
    slots      int         NOT NULL CHECK (slots > 0),
    actor      text        NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, handler)
);

-- What the leader has learned of how long one task of a handler takes.
CREATE TABLE ax.learned (
    handler    text        PRIMARY KEY, -- flow.HandlerKey
    mean_ns    bigint      NOT NULL,
    samples    int         NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Replays of dead letters, carried out by the leader.
CREATE TABLE ax.replay (
    id          uuid        PRIMARY KEY,
    namespace   text        NOT NULL,
    state       text        NOT NULL CHECK (state IN ('canary', 'running', 'done', 'stopped', 'cancelled')),
    filter      jsonb       NOT NULL,
    per_second  float8,     -- null: as fast as it goes
    canary      int         NOT NULL DEFAULT 0,
    total       int         NOT NULL, -- dead indices that matched at the start
    moved       int         NOT NULL DEFAULT 0,
    failed      int         NOT NULL DEFAULT 0, -- of the canary
    cursor      jsonb,
    note        text        NOT NULL DEFAULT '',
    actor       text        NOT NULL,
    reason      text        NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz
);
CREATE INDEX replay_open ON ax.replay (id) WHERE finished_at IS NULL;

-- Who did what, and why. Written in the transaction of the act.
CREATE TABLE ax.audit (
    namespace text        NOT NULL,
    id        uuid        NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor     text        NOT NULL,
    verb      text        NOT NULL,
    target    text        NOT NULL,
    reason    text        NOT NULL DEFAULT '',
    detail    jsonb,
    PRIMARY KEY (namespace, id)
);

-- What a worker says of its circuits: name to {ok, fail, streak, tripped, error}, counts since it registered.
ALTER TABLE ax.worker ADD COLUMN circuits jsonb NOT NULL DEFAULT '{}';

-- The window is counted by stage, so that a flood of one stage's blocked spans keeps no other stage out, and hops from
-- stage to stage over this index; spans of full keys are passed over by it alone.
DROP INDEX ax.ready_window;
CREATE INDEX ready_window ON ax.ready (namespace, queue, level, version_id, ord, not_before, id) INCLUDE (key);

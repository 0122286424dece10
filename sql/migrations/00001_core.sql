-- The core tables. Pending work is an interval of shard indices (ready, flight, parked); finished work is
-- an appended row (result). docs/architecture.md tells why, and which statement may move what.

-- +goose Up
CREATE SCHEMA IF NOT EXISTS ax;

-- One row a lease name. A take-over raises epoch, a key column, and so waits for every transaction that
-- holds the row FOR KEY SHARE; renewals touch no key and pass.
CREATE TABLE ax.lease (
    name       text PRIMARY KEY,
    epoch      bigint      NOT NULL,
    holder     text        NOT NULL,
    expires_at timestamptz NOT NULL,
    renewed_at timestamptz NOT NULL,
    UNIQUE (name, epoch)
) WITH (fillfactor = 50);

-- Every term of every lease: who led when. The history checker reads it.
CREATE TABLE ax.lease_term (
    name        text        NOT NULL,
    epoch       bigint      NOT NULL,
    holder      text        NOT NULL,
    acquired_at timestamptz NOT NULL,
    PRIMARY KEY (name, epoch)
);

CREATE TABLE ax.flow (
    namespace  text        NOT NULL,
    name       text        NOT NULL,
    owner      text        NOT NULL DEFAULT '',
    version_id int         NOT NULL, -- the newest registered content
    version    int         NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (namespace, name)
);

-- A flow's content, immutable. Spans and runs carry the small id, so that caches are keyed by one int.
CREATE TABLE ax.flow_version (
    id         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace  text        NOT NULL,
    flow       text        NOT NULL,
    hash       text        NOT NULL,
    graph      bytea       NOT NULL, -- canonical JSON
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (namespace, flow, hash)
);

CREATE TABLE ax.run (
    run_id      uuid        NOT NULL,
    version_id  int         NOT NULL,
    state       smallint    NOT NULL,
    level       smallint    NOT NULL,
    version     int         NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL,
    finished_at timestamptz,
    deadline    timestamptz,
    namespace   text        NOT NULL,
    flow        text        NOT NULL,
    queue       text        NOT NULL,
    trigger     text        NOT NULL,
    params      bytea       NOT NULL,
    tags        jsonb,
    trace_id    uuid,
    stuck       text, -- code of the fault that keeps the engine from deciding this run
    error       bytea,
    PRIMARY KEY (run_id)
) PARTITION BY RANGE (run_id);
CREATE INDEX run_open ON ax.run (run_id) WHERE finished_at IS NULL;

-- A row for every day of partitions. Whoever opens an ended run again holds its day FOR SHARE; retention marks a
-- day that it drops.
CREATE TABLE ax.partition (
    day      date    PRIMARY KEY,
    dropping boolean NOT NULL DEFAULT false
);

-- Idempotency keys of starts.
CREATE TABLE ax.run_key (
    namespace  text        NOT NULL,
    flow       text        NOT NULL,
    key        text        NOT NULL,
    run_id     uuid        NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (namespace, flow, key)
);
CREATE INDEX run_key_expires ON ax.run_key (expires_at);

CREATE TABLE ax.stage (
    run_id       uuid        NOT NULL,
    ord          smallint    NOT NULL,
    generation   smallint    NOT NULL DEFAULT 1,
    state        smallint    NOT NULL,
    max_attempts smallint, -- raised by an operator's retry; null: the graph's
    shard_total  int,      -- frozen by the plan; null before
    succeeded    int         NOT NULL DEFAULT 0, -- the four counts are stored once, when the stage is decided
    failed       int         NOT NULL DEFAULT 0,
    skipped      int         NOT NULL DEFAULT 0,
    cancelled    int         NOT NULL DEFAULT 0,
    since        timestamptz NOT NULL DEFAULT now(), -- when it began to wait
    ready_at     timestamptz,
    finished_at  timestamptz,
    cut          bytea, -- how indices map to data when that is computed (JSON)
    reason       text,
    PRIMARY KEY (run_id, ord)
) PARTITION BY RANGE (run_id);

-- Keys and inputs of listed shards, 256 to a row: chunk c holds the indices from 256 c on.
CREATE TABLE ax.shard_input (
    run_id     uuid     NOT NULL,
    ord        smallint NOT NULL,
    generation smallint NOT NULL,
    chunk      int      NOT NULL,
    keys       text[],
    inputs     bytea[],
    PRIMARY KEY (run_id, ord, generation, chunk)
) PARTITION BY RANGE (run_id);

-- Finished work. Never updated. The columns are ordered by width to keep the row small.
CREATE TABLE ax.result (
    run_id        uuid        NOT NULL,
    worker_id     uuid        NOT NULL,
    execution_id  uuid        NOT NULL,
    ready_at      timestamptz NOT NULL,
    dispatched_at timestamptz NOT NULL,
    started_at    timestamptz NOT NULL,
    finished_at   timestamptz NOT NULL,
    shard         int         NOT NULL, -- -1: the plan task
    epoch         int         NOT NULL, -- the leader's, that handed it out
    ord           smallint    NOT NULL,
    generation    smallint    NOT NULL,
    attempt       smallint    NOT NULL,
    delivery      smallint    NOT NULL,
    outcome       smallint    NOT NULL,
    output        bytea,
    error         bytea,
    PRIMARY KEY (run_id, ord, generation, shard, attempt, delivery)
) PARTITION BY RANGE (run_id);

-- What columns cannot say: operator acts, seizures, reruns.
CREATE TABLE ax.journal (
    run_id     uuid        NOT NULL,
    id         uuid        NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    ord        smallint,
    generation smallint,
    kind       text        NOT NULL,
    actor      text        NOT NULL,
    detail     jsonb,
    PRIMARY KEY (run_id, id)
) PARTITION BY RANGE (run_id);

-- May be handed out, from not_before on.
CREATE TABLE ax.ready (
    id         uuid           PRIMARY KEY,
    run_id     uuid           NOT NULL,
    not_before timestamptz    NOT NULL,
    ready_at   timestamptz    NOT NULL,
    version_id int            NOT NULL,
    n          int            NOT NULL,
    ord        smallint       NOT NULL,
    generation smallint       NOT NULL,
    kind       smallint       NOT NULL, -- 0 shards, 1 the plan task
    attempt    smallint       NOT NULL,
    delivery   smallint       NOT NULL,
    losses     smallint       NOT NULL,
    level      smallint       NOT NULL,
    namespace  text           NOT NULL,
    queue      text           NOT NULL,
    key        text,
    todo       int4multirange NOT NULL,
    CONSTRAINT ready_holds_work CHECK (n > 0 AND NOT isempty(todo))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
CREATE INDEX ready_window ON ax.ready (namespace, queue, level, not_before, id);
CREATE INDEX ready_stage ON ax.ready (run_id, ord);

-- Handed to a worker. The id is the execution id, new at every hand-out. todo is in no index, so that
-- its updates stay HOT.
CREATE TABLE ax.flight (
    id            uuid           PRIMARY KEY,
    run_id        uuid           NOT NULL,
    worker_id     uuid           NOT NULL,
    ready_at      timestamptz    NOT NULL,
    dispatched_at timestamptz    NOT NULL,
    version_id    int            NOT NULL,
    epoch         int            NOT NULL,
    par           int            NOT NULL, -- granted parallelism
    ord           smallint       NOT NULL,
    generation    smallint       NOT NULL,
    kind          smallint       NOT NULL,
    attempt       smallint       NOT NULL,
    delivery      smallint       NOT NULL,
    losses        smallint       NOT NULL,
    level         smallint       NOT NULL,
    namespace     text           NOT NULL,
    queue         text           NOT NULL,
    key           text,
    todo          int4multirange NOT NULL
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
CREATE INDEX flight_worker ON ax.flight (worker_id);
CREATE INDEX flight_stage ON ax.flight (run_id, ord);

-- Will not run unless somebody acts.
CREATE TABLE ax.parked (
    id         uuid           PRIMARY KEY,
    run_id     uuid           NOT NULL,
    parked_at  timestamptz    NOT NULL,
    ready_at   timestamptz    NOT NULL,
    version_id int            NOT NULL,
    n          int            NOT NULL,
    ord        smallint       NOT NULL,
    generation smallint       NOT NULL,
    kind       smallint       NOT NULL,
    attempt    smallint       NOT NULL,
    delivery   smallint       NOT NULL,
    losses     smallint       NOT NULL,
    level      smallint       NOT NULL,
    reason     smallint       NOT NULL,
    namespace  text           NOT NULL,
    queue      text           NOT NULL,
    key        text,
    todo       int4multirange NOT NULL,
    CONSTRAINT parked_holds_work CHECK (n > 0 AND NOT isempty(todo))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
CREATE INDEX parked_stage ON ax.parked (run_id, ord);
CREATE INDEX parked_aligned ON ax.parked (run_id, ord) WHERE reason = 4;

CREATE TABLE ax.worker (
    id         uuid        PRIMARY KEY,
    beat       bigint      NOT NULL DEFAULT 0,
    seen_at    timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    state      smallint    NOT NULL, -- 0 active, 1 draining
    urgent     int         NOT NULL, -- slots kept for P0
    cpu        real        NOT NULL DEFAULT 0, -- share of the machine, 0..1
    memory     real        NOT NULL DEFAULT 0, -- share of the machine, 0..1
    namespace  text        NOT NULL,
    host       text        NOT NULL,
    pid        int         NOT NULL,
    labels     text[]      NOT NULL,
    handlers   jsonb       NOT NULL, -- handler key to pool size
    running    jsonb       NOT NULL DEFAULT '[]' -- what has run for longer than a beat
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

-- What is asked of a worker; it answers by acting, and its next beat clears what is gone.
CREATE TABLE ax.ask (
    execution_id uuid        NOT NULL,
    kind         smallint    NOT NULL, -- 1 cancel, 2 give back what has not started
    worker_id    uuid        NOT NULL,
    asked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (execution_id, kind)
);
CREATE INDEX ask_worker ON ax.ask (worker_id);

CREATE TABLE ax.setting (
    name       text        PRIMARY KEY,
    value      jsonb       NOT NULL,
    version    int         NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- What the overview shows: how much is started and finished, and which runs need a person.

-- +goose Up

-- How much was started and how it ended, in the minute from then on; after an hour, in the quarter. Workers add what they have done to
-- rows of their own with their heartbeats, the leader adds runs, and makes one row of those of all sources after the minute.
CREATE TABLE ax.throughput (
    namespace text        NOT NULL,
    kind      smallint    NOT NULL, -- 0 tasks, 1 runs
    minute    timestamptz NOT NULL,
    queue     text        NOT NULL, -- of tasks; '' for runs
    source    uuid        NOT NULL, -- the worker; nil: the leader
    started   bigint      NOT NULL,
    succeeded bigint      NOT NULL,
    failed    bigint      NOT NULL,
    PRIMARY KEY (namespace, kind, minute, queue, source)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

-- Up to when the leader has counted runs: one row.
CREATE TABLE ax.counted (
    until timestamptz NOT NULL
);

-- Few runs are ever in these.
CREATE INDEX run_stuck ON ax.run (namespace, run_id) WHERE finished_at IS NULL AND stuck IS NOT NULL;
CREATE INDEX run_late ON ax.run (namespace, run_id) WHERE finished_at IS NULL AND late_noted_at IS NOT NULL;

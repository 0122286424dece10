-- What handlers log, written by workers in batches.

-- +goose Up

-- A line of one execution. The id is minted by the worker from the database's time, so a run's ids are in the order of time. tx is
-- the transaction that stored the line: lines become visible later than they were logged and not in order, and by tx a
-- reader tells those that it cannot have seen (sql/queries/logs.sql).
CREATE TABLE ax.log (
    run_id       uuid        NOT NULL,
    id           uuid        NOT NULL,
    execution_id uuid        NOT NULL,
    worker_id    uuid        NOT NULL,
    at           timestamptz NOT NULL,
    tx           xid8        NOT NULL DEFAULT pg_current_xact_id(),
    shard        int         NOT NULL, -- -1: the plan task
    seq          int         NOT NULL, -- number of the line in its execution, dropped ones counted
    dropped      int         NOT NULL, -- lines of the execution that were dropped since the one before
    ord          smallint    NOT NULL,
    generation   smallint    NOT NULL,
    attempt      smallint    NOT NULL,
    delivery     smallint    NOT NULL,
    level        smallint    NOT NULL, -- slog's: -4 debug, 0 info, 4 warn, 8 error
    message      text        NOT NULL,
    attributes   text, -- a JSON object; not jsonb, which refuses numbers that JSON allows
    PRIMARY KEY (run_id, id)
) PARTITION BY RANGE (run_id);
CREATE INDEX log_task ON ax.log (run_id, ord, shard, id);
CREATE INDEX log_news ON ax.log (run_id, tx, id);
CREATE INDEX log_loud ON ax.log (run_id, id) WHERE level >= 4;

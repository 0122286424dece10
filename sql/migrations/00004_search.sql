-- Finding runs and failures. A search goes by one of these orders, each newest first, and looks at the rest of what was asked
-- run by run (see sql/queries/search.sql).

-- +goose Up
CREATE INDEX run_recent ON ax.run (namespace, run_id);
CREATE INDEX run_flow ON ax.run (namespace, flow, run_id);
-- Most runs succeed; an order by that state would be the namespace's, and its entries a third of what an end writes here.
CREATE INDEX run_state ON ax.run (namespace, state, run_id) WHERE state <> 10;

-- What runs are found by beside that: tag:name=value of every tag, param:name=value of params that the flow declares
-- searchable. Runs without either have no rows.
CREATE TABLE ax.run_label (
    run_id    uuid NOT NULL,
    namespace text NOT NULL,
    label     text NOT NULL,
    PRIMARY KEY (namespace, label, run_id)
) PARTITION BY RANGE (run_id);

-- Failed attempts of a stage, by time. Successes are in no index but the key.
CREATE INDEX result_failed ON ax.result (run_id, ord, finished_at, generation, shard, attempt, delivery) WHERE outcome NOT IN (10, 13);

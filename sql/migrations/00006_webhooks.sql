-- Webhooks: what AX tells other systems of runs, and when a run is late.

-- +goose Up

CREATE TABLE ax.webhook (
    id            uuid        PRIMARY KEY,
    namespace     text        NOT NULL,
    name          text        NOT NULL,
    url           text        NOT NULL,
    secret        bytea       NOT NULL, -- signing needs it; sealed where a payload codec is configured
    events        text[]      NOT NULL,
    flows         text[]      NOT NULL DEFAULT '{}', -- empty: all
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by    text        NOT NULL,
    failing_since timestamptz, -- nothing was taken since
    disabled_at   timestamptz, -- the receiver has said that it is gone
    UNIQUE (namespace, name)
);

-- What is to be told, and what became of it. A row is written in the transaction of what it tells. It does not reference its
-- webhook, because then deleting one could hold up the end of a run.
CREATE TABLE ax.delivery (
    id           uuid        PRIMARY KEY,
    webhook_id   uuid        NOT NULL,
    namespace    text        NOT NULL,
    event        text        NOT NULL,
    run_id       uuid, -- null: a ping
    state        text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts     int         NOT NULL DEFAULT 0,
    tried        int         NOT NULL DEFAULT 0, -- attempts since it was last asked for; pauses go by it
    asked_at     timestamptz NOT NULL, -- when it was last asked for: tries end a day later
    next_at      timestamptz NOT NULL, -- of the next attempt; while one is made, when it counts as lost
    status       int, -- HTTP status of the last answer
    error        text, -- of the last attempt
    data         jsonb       NOT NULL DEFAULT '{}', -- the run as it was then
    created_at   timestamptz NOT NULL,
    delivered_at timestamptz
);
CREATE INDEX delivery_due ON ax.delivery (next_at) WHERE state = 'pending';
CREATE INDEX delivery_turn ON ax.delivery (webhook_id, next_at) WHERE state = 'pending';
CREATE INDEX delivery_page ON ax.delivery (webhook_id, created_at, id);

-- When it was noted that a run is open past its deadline.
ALTER TABLE ax.run ADD COLUMN late_noted_at timestamptz;
CREATE INDEX run_deadline ON ax.run (deadline) WHERE finished_at IS NULL AND late_noted_at IS NULL AND deadline IS NOT NULL;

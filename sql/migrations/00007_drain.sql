-- Draining workers on an operator's word, and dead letters by age.

-- +goose Up

-- When an operator asked the worker to drain; null: nobody did. Its next beat tells it.
ALTER TABLE ax.worker ADD COLUMN drain_asked_at timestamptz;

-- Dead letters in the order that they came in.
CREATE INDEX parked_dead_id ON ax.parked (namespace, id) WHERE reason IN (1, 6, 8);

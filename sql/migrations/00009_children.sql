-- The runs that a run has started, by their age.

-- +goose Up

CREATE INDEX child_of_parent ON ax.child (parent_run, child_run);

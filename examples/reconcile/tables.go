package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/stage"
)

// schema makes the tables anew, so that every run starts from nothing.
const schema = `
	DROP TABLE IF EXISTS recon_run, recon_order, recon_payment, recon_difference;
	CREATE TABLE recon_run (run uuid PRIMARY KEY);
	CREATE TABLE recon_order (id bigint PRIMARY KEY, cents bigint NOT NULL);
	CREATE TABLE recon_payment (id bigint PRIMARY KEY, order_id bigint NOT NULL, cents bigint NOT NULL);
	CREATE INDEX ON recon_payment (order_id);
	CREATE TABLE recon_difference (order_id bigint PRIMARY KEY, kind text NOT NULL, ordered bigint NOT NULL, paid bigint NOT NULL);`

// createTables is the handler of the stage "create-tables".
func createTables(ctx context.Context, _ Params) (func(context.Context, pgx.Tx) (struct{}, error), error) {
	run, err := runOf(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		if _, err := tx.Exec(ctx, schema); err != nil {
			return struct{}{}, fmt.Errorf("making the tables: %w", err)
		}
		if _, err := tx.Exec(ctx, `INSERT INTO recon_run VALUES ($1)`, run); err != nil {
			return struct{}{}, fmt.Errorf("taking the tables: %w", err)
		}
		return struct{}{}, nil
	}, nil
}

// mustOwn returns an error if another run has made the tables anew since. Every transaction begins with it.
func mustOwn(ctx context.Context, tx pgx.Tx, run uuid.UUID) error {
	var owner uuid.UUID
	if err := tx.QueryRow(ctx, `SELECT run FROM recon_run`).Scan(&owner); err != nil {
		return fmt.Errorf("asking whose the tables are: %w", err)
	}
	if owner != run {
		return stage.Permanent(fmt.Errorf("run %s has made the tables anew: let one run end before you start another", owner))
	}
	return nil
}

// runOf returns the run that a handler's context belongs to.
func runOf(ctx context.Context) (uuid.UUID, error) {
	info, ok := stage.InfoFrom(ctx)
	if !ok {
		return uuid.Nil, errors.New("this context is not a stage handler's")
	}
	return info.Run, nil
}

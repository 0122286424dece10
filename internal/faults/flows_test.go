package faults

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
	"axflow/worker"
)

// params of every flow here.
type params struct {
	Shards int      `json:"shards"`
	Gates  []string `json:"gates"` // where handlers wait to be let pass
	Fail   bool     `json:"fail"`  // the shards of plain fail in their first attempt
}

type nothing = struct{}

// flows are the flows of all tests; process and test make the same ones, so that versions are equal.
type flows struct {
	door *doorway

	// work is a stage, many shards after it, and their sum: shard i returns i.
	work *flow.Flow[params]
	last *stage.Stage[params, int]
	// single is one stage.
	single *flow.Flow[params]
	// effects is a sharded InTx stage, each shard of which writes one row of the table effect, beside a
	// sharded stage that writes nothing.
	effects *flow.Flow[params]
}

// gates that handlers have.
const (
	gateMany     = "many"     // in a shard of work
	gateCompute  = "compute"  // in a shard of effects, before its transaction
	gateInserted = "inserted" // inside its transaction, after the row was written
	gatePlain    = "plain"    // in a shard of the stage beside it
)

// effectTable has no unique key: an effect that is doubled is to be seen.
const effectTable = "CREATE TABLE effect (run uuid NOT NULL, shard int NOT NULL, execution uuid NOT NULL)"

func newFlows(door *doorway) *flows {
	f := &flows{door: door}
	// Tiny by declaration, so that a worker is handed more than it can start at once.
	tiny := stage.Cost(time.Millisecond)

	first := stage.New("first", func(context.Context, params) (nothing, error) { return nothing{}, nil })
	many := shard.New("many", plan, f.many, tiny).After(first)
	f.last = stage.New("last", func(ctx context.Context, _ params) (int, error) {
		sum := 0
		for _, i := range many.Outputs(ctx) {
			sum += i
		}
		return sum, nil
	}).After(many)
	f.work = flow.New("work", first, many, f.last)

	f.single = flow.New("single", stage.New("only", func(context.Context, params) (nothing, error) { return nothing{}, nil }))

	effect := worker.InTxShards("effect", plan, f.effect)
	plain := shard.New("plain", plan, f.plain, stage.Retry{InitialInterval: 50 * time.Millisecond})
	f.effects = flow.New("effects", effect, plain)
	return f
}

func (f *flows) definitions() []flow.Definition {
	return []flow.Definition{f.work, f.single, f.effects}
}

func plan(_ context.Context, p params) (shard.Plan, error) { return shard.N(p.Shards), nil }

func (f *flows) gate(ctx context.Context, p params, point string) error {
	if !slices.Contains(p.Gates, point) {
		return nil
	}
	return f.door.wait(ctx, point)
}

func (f *flows) many(ctx context.Context, p params, s shard.Shard) (int, error) {
	return s.Index, f.gate(ctx, p, gateMany)
}

var errFirst = errors.New("the first attempt fails")

func (f *flows) plain(ctx context.Context, p params, s shard.Shard) (int, error) {
	if err := f.gate(ctx, p, gatePlain); err != nil {
		return 0, err
	}
	if info, _ := stage.InfoFrom(ctx); p.Fail && info.Attempt == 1 {
		return 0, errFirst
	}
	return s.Index, nil
}

func (f *flows) effect(ctx context.Context, p params, s shard.Shard) (func(context.Context, pgx.Tx) (int, error), error) {
	if err := f.gate(ctx, p, gateCompute); err != nil {
		return nil, err
	}
	info, _ := stage.InfoFrom(ctx)
	return func(ctx context.Context, tx pgx.Tx) (int, error) {
		if _, err := tx.Exec(ctx, "INSERT INTO effect VALUES ($1, $2, $3)", info.Run, s.Index, info.Execution); err != nil {
			return 0, err
		}
		return s.Index, f.gate(ctx, p, gateInserted)
	}, nil
}

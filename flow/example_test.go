package flow_test

import (
	"context"
	"fmt"

	"axflow/flow"
	"axflow/shard"
	"axflow/stage"
)

// Params are a run's parameters. Their JSON Schema drives the trigger form and the API's checks.
type Params struct {
	Date string `json:"date" jsonschema:"format=date,title=Business date"`
}

type Orders struct {
	Rows int64 `json:"rows"`
}

type Diff struct {
	Rows int64 `json:"rows"`
}

const maxID = 10_000_000

var (
	pull   = stage.New("pull-orders", pullOrders)
	clean  = stage.New("clean", cleanOrders).After(pull)
	recon  = shard.New("reconcile", planRecon, reconShard).After(clean)
	report = stage.New("report", writeReport, stage.Retry{MaxAttempts: 5}).After(recon)

	daily = flow.New("daily-recon", pull, clean, recon, report).With(flow.Owner("finance-data"))
)

func pullOrders(context.Context, Params) (Orders, error) { return Orders{Rows: maxID}, nil }

func cleanOrders(ctx context.Context, _ Params) (Orders, error) {
	return pull.Output(ctx) // typed: an Orders
}

func planRecon(ctx context.Context, _ Params) (shard.Plan, error) {
	orders, err := clean.Output(ctx)
	if err != nil {
		return shard.Plan{}, err
	}
	return shard.Count(orders.Rows).Base(50_000).Between(1, 512), nil
}

func reconShard(_ context.Context, _ Params, s shard.Shard) (Diff, error) {
	lo, hi := s.Range(0, maxID)
	return Diff{Rows: hi - lo}, nil
}

func writeReport(ctx context.Context, p Params) (string, error) {
	var rows int64
	for _, diff := range recon.Outputs(ctx) { // a stream
		rows += diff.Rows
	}
	return fmt.Sprintf("%s: %d rows", p.Date, rows), nil
}

func Example() {
	for ord, s := range daily.Graph().Stages {
		fmt.Println(ord, s.Name, s.Kind, s.Upstreams)
	}
	fmt.Println(daily.DecodeCheck([]byte(`{"date": "2026-01-31"}`)))
	fmt.Println(daily.DecodeCheck([]byte(`{"day": "2026-01-31"}`)))
	// Output:
	// 0 pull-orders single []
	// 1 clean single [0]
	// 2 reconcile sharded [1]
	// 3 report single [2]
	// <nil>
	// flow "daily-recon": reading params: unknown field "day": remove it or correct its name
}

func ExampleBuild() {
	a := stage.New("a", pullOrders, stage.Limit(-1))
	b := stage.New("b", pullOrders).After(a)
	a.After(b)
	_, err := flow.Build("wrong", a, b)
	fmt.Println(err)
	// Output:
	// flow "wrong" is wrong in 2 ways:
	//   - stage "a": Limit is -1: use a positive number, or 0 for no limit
	//   - stages wait for each other in a circle, a -> b -> a: remove one After
}

func ExampleResolve() {
	// pull-orders has failed; the others wait.
	states := map[int]stage.StageState{0: stage.StageFailed, 1: stage.StageWaiting, 2: stage.StageWaiting, 3: stage.StageWaiting}
	status := func(ord int) (flow.Status, bool) {
		s, ok := states[ord]
		return flow.Status{State: s}, ok
	}
	g := daily.Graph()
	for _, d := range flow.Resolve(g, status, g.Dependents(0)) {
		fmt.Printf("%s: %v (%s)\n", g.Stages[d.Ord].Name, d.Act, d.Reason)
	}
	// Output:
	// clean: fail_upstream (all_success: of 1 upstream 1 failed ("pull-orders"))
	// reconcile: fail_upstream (all_success: of 1 upstream 1 upstream_failed ("clean"))
	// report: fail_upstream (all_success: of 1 upstream 1 upstream_failed ("reconcile"))
}

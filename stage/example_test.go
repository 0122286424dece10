package stage_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axflow/stage"
)

type Params struct {
	Date string `json:"date"`
}

type Orders struct {
	Rows int `json:"rows"`
}

var pull = stage.New("pull-orders", pullOrders)

var load = stage.New("load-orders", loadOrders,
	stage.Retry{MaxAttempts: 5, NonRetryable: []string{"bad_date"}},
	stage.Timeout{Execution: 10 * time.Minute, Heartbeat: time.Minute},
	stage.Priority(stage.P1),
	stage.Limit(4),
	stage.Requires("warehouse"),
).After(pull)

func pullOrders(_ context.Context, p Params) (Orders, error) {
	if p.Date == "" {
		return Orders{}, stage.Permanent(errors.New("no date is given"))
	}
	return Orders{Rows: 1200}, nil
}

func loadOrders(ctx context.Context, p Params) (string, error) {
	orders, err := pull.Output(ctx) // an Orders
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d rows of %s", orders.Rows, p.Date), nil
}

// A stage is a name, a handler and policies; After says what it waits for. A handler reads the output of an
// upstream from that stage's own variable, with its type.
func Example() {
	// A test gives the handler its upstreams' outputs through an Env of its own.
	ctx := stage.WithEnv(context.Background(), memory{outputs: map[*stage.Def][]byte{
		pull.Def(): []byte(`{"rows": 1200}`),
	}})
	fmt.Println(loadOrders(ctx, Params{Date: "2026-01-31"}))
	// Output: 1200 rows of 2026-01-31 <nil>
}

func ExampleRule_Decide() {
	// Of three upstreams one failed and two are still running.
	so := stage.Counts{N: 3, F: 1}
	fmt.Println(stage.AllSuccess.Decide(so)) // whatever the others do
	fmt.Println(stage.OneFailed.Decide(so))
	fmt.Println(stage.OneSuccess.Decide(so))
	// Output:
	// upstream_failed
	// run
	// wait
}

func ExampleRetry_Delay() {
	r := load.Def().Retry // in normal form: defaults are filled in
	for attempt := 1; attempt < r.MaxAttempts; attempt++ {
		fmt.Println(r.Delay(attempt, 0))
	}
	// Output:
	// 2s
	// 4s
	// 8s
	// 16s
}

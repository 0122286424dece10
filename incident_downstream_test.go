package axflow_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"axflow"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/stage"
	"axflow/worker"
)

// What 500 tasks depend on is dead for a while. The breaker opens after a few of them have failed; the others wait and none
// of their attempts is burnt; single probes look whether it lives again; and when it does, everything comes to its end.
func TestIncidentDeadDownstream(t *testing.T) {
	const tasks, slots, failures = 500, 8, 5
	var dead atomic.Bool
	dead.Store(true)
	var calls, refused atomic.Int64
	f := flow.New("outage", shard.New("load", func(context.Context, struct{}) (shard.Plan, error) { return shard.N(tasks), nil },
		func(context.Context, struct{}, shard.Shard) (struct{}, error) {
			calls.Add(1)
			if dead.Load() {
				refused.Add(1)
				return struct{}{}, errors.New("dial tcp 10.0.0.7:5432: connect: connection refused")
			}
			return struct{}{}, nil
		},
		stage.Breaker{Failures: failures, CoolDown: 300 * time.Millisecond},
		stage.Retry{MaxAttempts: 20, InitialInterval: 10 * time.Millisecond, Jitter: stage.NoJitter}))
	l := open(t, func(c *axflow.Config) { c.TuneWorker = func(w *worker.Config) { w.Slots = slots } }, f)
	id := start(l, f, struct{}{})
	l.eventually("the circuit does not open", `SELECT count(*) = 1 FROM ax.circuit WHERE kind = 'handler' AND name = 'outage/load' AND state > 0
		AND last_error LIKE '%connection refused%'`)
	l.eventually("what has not started does not come back", `SELECT coalesce(sum(n), 0) >= $2 FROM ax.ready WHERE run_id = $1`, id, tasks-1)
	opened := refused.Load()
	if opened > failures+slots {
		t.Errorf("%d tasks failed before the circuit was open, want %d and those that ran, %d at most", opened, failures, failures+slots)
	}
	// Probes come one by one, each after a cool-down.
	pgtest.Eventually(t, 60*time.Second, func() (bool, string) { return refused.Load() >= opened+3, "nothing probes" })
	want(t, "attempts of what never started", l.count(`SELECT count(*) FROM ax.ready WHERE run_id = $1 AND attempt = 1`, id) > 0, true)
	dead.Store(false)
	l.ends(id, stage.RunSucceeded)
	burnt := refused.Load()
	want(t, "calls", calls.Load(), tasks+burnt)
	want(t, "attempts burnt", l.count(`SELECT count(*) FROM ax.result WHERE run_id = $1 AND outcome = 11`, id), int(burnt))
	l.eventually("the circuit stays open", `SELECT count(*) = 0 FROM ax.circuit WHERE state > 0`)
	if moves := l.count(`SELECT count(*) FROM ax.audit WHERE target LIKE '%outage/load%'`); moves < 4 {
		t.Errorf("%d moves of the circuit are in the audit, want its opening, its probes and its closing", moves)
	}
}

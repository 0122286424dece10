package faults

import (
	"testing"
	"time"
)

// A worker is stopped inside a transaction that has locked its flight, and perhaps the stage. That keeps nobody else's
// work from being seized when its worker dies meanwhile; and when the stopped one goes on, every shard is finished once.
func TestWorkerStoppedInTransaction(t *testing.T) {
	for _, c := range []struct {
		name   string
		params params
		point  string
		// lock makes the worker wait inside its transaction, after it has locked its flight. It names the stage.
		stage, lock string
	}{
		// Failures: first the flights and stages are locked, then the client says where the shards go.
		{"reporting failures", params{Shards: 2, Gates: []string{gatePlain}, Fail: true}, gatePlain, "plain",
			"SELECT FROM ax.stage WHERE run_id = $1 AND ord = $2 FOR UPDATE"},
		// InTx: the flight is locked from the finish to the commit. The finish waits for its own result's key.
		{"committing effects", params{Shards: 1, Gates: []string{gateInserted}}, gateInserted, "effect",
			`INSERT INTO ax.result (run_id, ord, worker_id, execution_id, ready_at, dispatched_at, started_at, finished_at,
			                        shard, epoch, generation, attempt, delivery, outcome)
			 VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), now(), now(), now(), now(), 0, 1, 1, 1, 1, 10)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			attempts(t, func(s *site) {
				s.shortLives()
				s.engine("engine")
				a := s.worker("a")
				_, enough := s.registered(a)
				run := s.begin(s.effects, c.params)
				s.gates.await(c.params.Shards, "shards of a", at("a", c.point))
				s.until("the other stage's end", "SELECT count(*) = 1 FROM ax.stage WHERE run_id = $1 AND state = 10", run)
				release := s.hold(c.lock, run, s.ord(s.effects, c.stage))
				s.gates.open()
				s.until("a waits in its transaction", "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "+workers+")")
				a.stop()
				enough()
				release()
				s.until("a's transaction is open", "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND "+workers+")")

				// Another worker dies with work meanwhile.
				s.until("a is buried", "SELECT NOT EXISTS (SELECT 1 FROM ax.worker)")
				s.gates.keep(func(*arrival) bool { return true })
				b := s.worker("b")
				other := s.begin(s.work, params{Shards: 3, Gates: []string{gateMany}})
				s.gates.await(3, "shards of b", at("b", gateMany))
				b.kill()
				s.gates.open()
				s.worker("c")
				begun := time.Now()
				s.ended(other)
				s.t.Logf("what the dead worker held has ended after %v", time.Since(begun))
				a.cont()
				s.ended(run)
				s.settled()
			})
		})
	}
}

package explain_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"axflow/engine/control"
	"axflow/engine/dispatch/board"
	"axflow/engine/explain"
	"axflow/flow"
	"axflow/sql/span"
	"axflow/stage"
)

// single is a flow of one stage.
func single(name string, opts ...stage.Option) *flow.Flow[params] {
	return flow.New(name, stage.New("a", nop, opts...))
}

// Every reason why something is not running has its sentence.
func TestReasons(t *testing.T) {
	site := newSite(t)
	idle := single("idle")

	t.Run("no engine", func(t *testing.T) {
		s := site.on(t)
		run := s.start(idle)
		r := s.why(run)
		says(t, r.Diagnosis, "no engine has ever led this database (1 stage undecided)")
		says(t, r.Next, "ax server")
		s.lead()
		s.exec(`UPDATE ax.lease SET expires_at = now() - interval '40 s'`)
		says(t, s.why(run, "a").Diagnosis, "no engine leads: the lease of engine-1/42 (epoch 7) ran out 40 s ago")
		s.lead()
	})

	t.Run("no worker", func(t *testing.T) {
		s := site.on(t)
		run := s.start(idle)
		r := s.why(run, "a", 0)
		says(t, shut(t, r.Gates, board.GateCapability).Reason, "no live worker can run idle/a@", ": 0 of 0")
		says(t, r.Diagnosis, "no live worker can run idle/a@")
		says(t, r.Next, "start a worker")
		if r.State != "ready" {
			t.Errorf("state %s, want ready", r.State)
		}
	})

	busy := single("busy")
	worker := site.worker(1, nil, busy)

	t.Run("next", func(t *testing.T) {
		s := site.on(t)
		run := s.start(busy)
		r := s.why(run)
		says(t, r.Diagnosis, "a: next to be handed out")
		if !r.Stages[0].Groups[0].NextGrant() {
			t.Errorf("it is not the next grant: %+v", r.Stages[0].Groups[0])
		}
	})

	t.Run("turn", func(t *testing.T) {
		s := site.on(t)
		var run uuid.UUID
		for range 3 {
			run = s.start(busy)
		}
		s.exec(`INSERT INTO ax.learned (handler, mean_ns, samples) VALUES ($1, 60000000000, 10) ON CONFLICT DO NOTHING`, busy.Graph().HandlerKey(0))
		r := s.why(run, "a", 0)
		g := shut(t, r.Gates, board.GateTurn)
		says(t, g.Reason, "3 ahead at P2")
		if *g.Used != 3 {
			t.Errorf("%d ahead, want 3", *g.Used)
		}
	})

	t.Run("capacity", func(t *testing.T) {
		s := site.on(t)
		run := s.start(busy)
		s.clear(run, 0, stage.StageRunning, 1)
		s.flight(row{run: run, todo: "{[0,1)}", worker: worker, ago: 12 * time.Second})
		r := s.why(run, "a")
		says(t, r.Diagnosis, "in flight on worker box/99 for 12 s", "its start is not reported yet", "dispatch time-out in 48 s", "heartbeat is")
		other := s.start(busy)
		r = s.why(other, "a", 0)
		says(t, shut(t, r.Gates, board.GateCapacity).Reason, "worker pools full: 1/1 slots")
		s.exec(`UPDATE ax.worker SET running = jsonb_build_array(jsonb_build_object('execution', (SELECT id FROM ax.flight WHERE run_id = $2), 'index', 0,
			'started', to_char(clock_timestamp() - interval '10 s', 'YYYY-MM-DD"T"HH24:MI:SS.USOF":00"'))) WHERE id = $1`, worker, run)
		says(t, s.why(run, "a", 0).Diagnosis, "running for 10 s, execution time-out in 59 min 50 s")
		s.exec(`DELETE FROM ax.flight WHERE run_id = $1`, run)
	})

	t.Run("worker gone", func(t *testing.T) {
		s := site.on(t)
		run := s.start(busy)
		s.clear(run, 0, stage.StageRunning, 1)
		gone := uuid.New()
		s.flight(row{run: run, todo: "{[0,1)}", worker: gone})
		says(t, s.why(run, "a").Diagnosis, "in flight on worker "+gone.String()+", which is gone: the leader hands it out again")
		s.exec(`DELETE FROM ax.flight WHERE run_id = $1`, run)
	})

	t.Run("labels", func(t *testing.T) {
		s := site.on(t)
		f := single("labelled", stage.Requires("gpu"))
		s.worker(1, []string{"ssd"}, f)
		run := s.start(f)
		says(t, s.why(run).Diagnosis, "needs label gpu: 0 of 1 live workers")
	})

	t.Run("limit", func(t *testing.T) {
		s := site.on(t)
		f := single("limited", stage.Limit(1))
		w := s.worker(4, nil, f)
		holder := s.start(f)
		s.clear(holder, 0, stage.StageRunning, 1)
		s.flight(row{run: holder, todo: "{[0,1)}", worker: w, ago: 90 * time.Second})
		run := s.start(f)
		r := s.why(run, "a", 0)
		g := shut(t, r.Gates, board.GateLimit)
		says(t, g.Reason, "default/limited/a 1/1", "oldest holder run "+holder.String(), "1 min 30 s")
		if g.Holder == nil || *g.Holder != holder || *g.Used != 1 || *g.Limit != 1 {
			t.Errorf("%+v, want 1 of 1 held by %s", g, holder)
		}
		says(t, r.Next, "raise the limit")
	})

	t.Run("not due", func(t *testing.T) {
		s := site.on(t)
		f := single("delayed", stage.Delay(time.Hour))
		s.worker(1, nil, f)
		run := s.start(f)
		r := s.why(run, "a", 0)
		says(t, r.Diagnosis, "not due yet: in ")
		if g := shut(t, r.Gates, board.GateNotBefore); g.Until == nil || g.Until.Sub(r.At) < 50*time.Minute || g.Until.Sub(r.At) > time.Hour {
			t.Errorf("the gate opens at %v, an hour after the start is right", g.Until)
		}
		if r.State != "delayed" {
			t.Errorf("state %s, want delayed", r.State)
		}
	})

	t.Run("retry", func(t *testing.T) {
		s := site.on(t)
		f := single("retried", stage.Retry{MaxAttempts: 6})
		w := s.worker(1, nil, f)
		run := s.start(f)
		s.clear(run, 0, stage.StageRunning, 1)
		s.result(run, 0, 0, 3, stage.Failed, w, "the warehouse is asleep")
		s.ready(row{run: run, todo: "{[0,1)}", attempt: 4, due: 300 * time.Second})
		r := s.why(run)
		says(t, r.Diagnosis, "a: retry 3 of 5, due in ", "last error: the warehouse is asleep (E1)")
		if r.Stages[0].Groups[0].Fate != explain.FateRetrying {
			t.Errorf("fate %s", r.Stages[0].Groups[0].Fate)
		}
	})

	t.Run("paused", func(t *testing.T) {
		s := site.on(t)
		f := single("paused")
		s.worker(1, nil, f)
		run := s.start(f)
		for _, h := range []struct{ kind, name, want string }{
			{"run", run.String(), "the run is paused by kim for 2 min: looking at it"},
			{"flow", "paused", "flow paused is paused by kim for 2 min: looking at it"},
			{"queue", "default", "queue default is paused by kim for 2 min: looking at it"},
		} {
			s.exec(`INSERT INTO ax.hold (namespace, kind, name, actor, reason, held_at) VALUES ('default', $1, $2, 'kim', 'looking at it', now() - interval '2 min')`, h.kind, h.name)
			r := s.why(run)
			says(t, r.Diagnosis, h.want)
			g := shut(t, s.why(run, "a", 0).Gates, board.GatePaused)
			if g.By != "kim" || g.Since == nil {
				t.Errorf("%s: %+v", h.kind, g)
			}
			s.exec(`DELETE FROM ax.hold`)
		}
	})

	t.Run("stuck", func(t *testing.T) {
		s := site.on(t)
		run := s.start(busy)
		s.exec(`UPDATE ax.run SET stuck = 'bad_graph' WHERE run_id = $1`, run)
		r := s.why(run)
		says(t, r.Diagnosis, "the run is stuck: the engine cannot decide it (bad_graph)")
		// What is ready is handed out all the same; only decisions are not made.
		for _, g := range s.why(run, "a", 0).Gates {
			if g.Name == explain.GateStuck {
				t.Errorf("a ready task has the gate %+v", g)
			}
		}
		s.clear(run, 0, stage.StageRunning, 1)
		shut(t, s.why(run, "a").Gates, explain.GateStuck)
	})

	t.Run("budget", func(t *testing.T) {
		s := site.on(t)
		f := single("hasty", stage.Timeout{Overall: 10 * time.Minute})
		w := s.worker(1, nil, f)
		run := s.start(f)
		s.exec(`INSERT INTO ax.expiry (run_id, ord, generation, expires_at) VALUES ($1, 0, 1, now() - interval '3 s')
			ON CONFLICT (run_id, ord) DO UPDATE SET expires_at = excluded.expires_at`, run)
		says(t, shut(t, s.why(run, "a", 0).Gates, explain.GateBudget).Reason, "overall budget of 10 min ran out 3")
		s.clear(run, 0, stage.StageRunning, 1)
		s.result(run, 0, 0, 2, stage.Failed, w, "too slow")
		s.parked(row{run: run, todo: "{[0,1)}", attempt: 2, reason: span.Expired, ago: time.Minute})
		r := s.why(run, "a", 0)
		says(t, r.Diagnosis, "expired 1 min ago: the stage's overall budget of 10 min ran out in attempt 2: too slow (E1)")
		if r.State != "expired" {
			t.Errorf("state %s", r.State)
		}
	})

	t.Run("dead", func(t *testing.T) {
		s := site.on(t)
		f := single("deadly")
		w := s.worker(1, nil, f)
		run := s.start(f)
		s.clear(run, 0, stage.StageFailed, 1)
		s.result(run, 0, 0, 3, stage.Failed, w, "the sums differ")
		s.parked(row{run: run, todo: "{[0,1)}", attempt: 3, reason: span.Dead, ago: 5 * time.Second})
		s.exec(`UPDATE ax.run SET state = 11, finished_at = clock_timestamp() WHERE run_id = $1`, run)
		r := s.why(run)
		says(t, r.Diagnosis, "failed after", "stages: 1 failed", "a: failed", "dead for 5", "after 3 attempts: the sums differ (E1)")
		says(t, r.Next, "ax run retry")
		task := s.why(run, "a", 0)
		if task.State != "dead" || len(task.Past.Last) != 1 || task.Past.Last[0].Worker != w || task.Past.Attempts != 3 {
			t.Errorf("%s, past %+v", task.State, task.Past)
		}
	})

	t.Run("parked", func(t *testing.T) {
		s := site.on(t)
		for _, c := range []struct {
			reason span.ParkReason
			state  string
			want   string
		}{
			{span.Poison, "dead", "of its workers died while they held it alone"},
			{span.Discarded, "discarded", "discarded by an operator"},
			{span.Cancelled, "cancelled", "cancelled 3"},
			{span.Skipped, "skipped", "ago by an operator"},
		} {
			run := s.start(busy)
			s.clear(run, 0, stage.StageRunning, 1)
			s.parked(row{run: run, todo: "{[0,1)}", attempt: 1, reason: c.reason, losses: 3, ago: 3 * time.Second})
			r := s.why(run, "a", 0)
			says(t, r.Diagnosis, c.want)
			if r.State != c.state {
				t.Errorf("%d: state %s, want %s", c.reason, r.State, c.state)
			}
			// Nothing is left to run, so the stage waits for the engine's decision.
			shut(t, s.why(run, "a").Gates, explain.GateDecision)
			s.exec(`UPDATE ax.run SET state = 12, finished_at = now() WHERE run_id = $1`, run)
		}
	})

	t.Run("lost decision", func(t *testing.T) {
		s := site.on(t)
		run := s.start(busy)
		s.clear(run, 0, stage.StageRunning, 1)
		r := s.why(run)
		says(t, r.Diagnosis, "a: ", "all its tasks have ended: the engine decides the stage")
		s.clear(run, 0, stage.StageSucceeded, 1)
		says(t, s.why(run).Diagnosis, "all stages have ended: the engine ends the run")
	})

	t.Run("not there", func(t *testing.T) {
		s := site.on(t)
		run := s.start(busy)
		seven := 7
		for _, target := range []explain.Target{{Run: uuid.New()}, {Run: run, Stage: "b"}, {Run: run, Stage: "a", Shard: &seven}} {
			_, err := explain.Explain(s.ctx, explain.Source{Pool: s.pool, Namespace: "default"}, target)
			var refused *control.Error
			if !errors.As(err, &refused) || refused.Code != control.CodeNotFound {
				t.Errorf("%+v: %v, want not_found", target, err)
			}
		}
		if _, err := explain.Explain(s.ctx, explain.Source{Pool: s.pool, Namespace: "other"}, explain.Target{Run: run}); err == nil {
			t.Error("a run of another namespace is explained")
		}
	})
}

package explain_test

import (
	"testing"
	"time"

	"axflow/engine/control"
	"axflow/engine/dispatch/board"
	"axflow/stage"
)

// What operators and the leader hold, limit and pace.
func TestReasonsOfPolicies(t *testing.T) {
	site := newSite(t)
	site.lead()

	t.Run("circuit", func(t *testing.T) {
		s := site.on(t)
		f := single("circled", stage.Breaker{}, stage.Downstream("warehouse"))
		s.worker(1, nil, f)
		run := s.start(f)
		for _, c := range []struct {
			kind, name, set, want string
		}{
			{"downstream", "warehouse", "state = 1, failures = 5, opened_at = now(), until = now() + interval '30 s', last_error = 'connection refused'",
				", 5 failures, last: connection refused"},
			{"handler", "circled/a", "state = 1, failures = 5, opened_at = now(), until = now() + interval '30 s', last_error = 'boom'", "5 failures, last: boom"},
			{"downstream", "warehouse", "state = 1, manual = true, actor = 'kim', reason = 'migration'", "was opened by kim (migration) and stays open until somebody closes it"},
		} {
			s.exec(`INSERT INTO ax.circuit (namespace, kind, name, state, actor) VALUES ('default', $1, $2, 1, 'leader/7')`, c.kind, c.name)
			s.exec(`UPDATE ax.circuit SET ` + c.set)
			r := s.why(run, "a", 0)
			g := shut(t, r.Gates, board.GateBreaker)
			says(t, g.Reason, "circuit "+c.name, c.want)
			if r.Diagnosis != g.Reason {
				t.Errorf("the diagnosis is %q, want the circuit's", r.Diagnosis)
			}
			if g.By == "" && g.Until == nil {
				t.Error("the gate says neither who opened it nor until when")
			}
			s.exec(`DELETE FROM ax.circuit`)
		}
		// Half-open, one task probes, and the others wait for it.
		w := s.worker(5, nil, f)
		s.exec(`INSERT INTO ax.circuit (namespace, kind, name, state, failures, actor) VALUES ('default', 'downstream', 'warehouse', 2, 5, 'leader/7')`)
		probe := s.start(f)
		s.clear(probe, 0, stage.StageRunning, 1)
		s.flight(row{run: probe, todo: "{[0,1)}", worker: w})
		says(t, s.why(run, "a", 0).Diagnosis, "circuit warehouse is half-open: one task at a time probes it, 5 failures")
		s.exec(`INSERT INTO ax.setting (name, value) VALUES ('breaker', 'false')`)
		says(t, s.why(run, "a", 0).Diagnosis, "next to be handed out")
		s.exec(`DELETE FROM ax.setting`)
		s.exec(`DELETE FROM ax.circuit`)
	})

	t.Run("pressure", func(t *testing.T) {
		s := site.on(t)
		f := single("pressed", stage.Queue("etl"), stage.Priority(stage.P4))
		s.worker(1, nil, f)
		run := s.start(f)
		s.exec(`INSERT INTO ax.queue (namespace, name, capacity, depth, pressure, published_at) VALUES ('default', 'etl', 200, 196, 3, now() - interval '2 s')`)
		r := s.why(run, "a", 0)
		g := shut(t, r.Gates, board.GatePressure)
		says(t, g.Reason, "queue etl is under pressure: 196/200 tasks (98 %)")
		if *g.Used != 196 || *g.Limit != 200 || g.AgeS < 2 || g.AgeS > 60 {
			t.Errorf("%+v", g)
		}
		says(t, r.Next, "drained")
	})

	t.Run("queue limit", func(t *testing.T) {
		s := site.on(t)
		f := single("queued", stage.Queue("small"))
		w := s.worker(5, nil, f)
		s.exec(`INSERT INTO ax.queue (namespace, name, concurrency) VALUES ('default', 'small', 1)`)
		holder := s.start(f)
		s.clear(holder, 0, stage.StageRunning, 1)
		s.flight(row{run: holder, todo: "{[0,1)}", worker: w, queue: "small", ago: time.Minute})
		g := shut(t, s.why(s.start(f), "a", 0).Gates, board.GateLimit)
		says(t, g.Reason, "queue default/small 1/1", "oldest holder run "+holder.String(), "for 1 min")
	})

	t.Run("key", func(t *testing.T) {
		s := site.on(t)
		f := single("keyed", stage.Key{From: "params.customer", Limit: 1})
		w := s.worker(5, nil, f)
		holder := s.start(f)
		s.clear(holder, 0, stage.StageRunning, 1)
		s.flight(row{run: holder, todo: "{[0,1)}", worker: w, key: "keyed/a/42"})
		run := s.start(f)
		s.clear(run, 0, stage.StageRunning, 1)
		s.ready(row{run: run, todo: "{[0,1)}", key: "keyed/a/42"})
		g := shut(t, s.why(run, "a", 0).Gates, board.GateLimit)
		says(t, g.Reason, "key default/keyed/a/42 1/1", "oldest holder run "+holder.String())
		s.clear(run, 0, stage.StageRunning, 1)
		s.ready(row{run: run, todo: "{[0,1)}", key: "keyed/a/43"})
		says(t, s.why(run, "a", 0).Diagnosis, "next to be handed out")
	})

	t.Run("rates", func(t *testing.T) {
		s := site.on(t)
		f := single("paced", stage.Rate{Starts: 1, Per: time.Hour})
		g := single("retried", stage.RetryWindow{Retries: 1, Per: time.Hour})
		s.worker(5, nil, f, g)
		const fill = `INSERT INTO ax.rate (name, width_ms, slot, counts, unstarted)
			VALUES ($1, 225000, (extract(epoch FROM now()) * 1000)::bigint / 225000, array_append(array_fill(0, ARRAY[16]), 1), 0)`
		s.exec(fill, "rate/default/paced/a")
		s.exec(fill, "retry/default/retried/a")
		x := shut(t, s.why(s.start(f), "a", 0).Gates, board.GateRate)
		if *x.Used != 1 || *x.Limit != 1 || x.Until == nil {
			t.Errorf("%+v", x)
		}
		says(t, x.Reason, "the next in")
		run := s.start(g)
		says(t, s.why(run, "a", 0).Diagnosis, "next to be handed out") // a first attempt is not in the window
		s.clear(run, 0, stage.StageRunning, 1)
		s.ready(row{run: run, todo: "{[0,1)}", attempt: 2})
		shut(t, s.why(run, "a", 0).Gates, board.GateRetryWindow)
	})

	t.Run("levels", func(t *testing.T) {
		s := site.on(t)
		f := single("ranked")
		s.worker(1, nil, f)
		s.start(f, control.Start{Level: level(stage.P0)})
		g := shut(t, s.why(s.start(f, control.Start{Level: level(stage.P5)}), "a", 0).Gates, board.GateTurn)
		says(t, g.Reason, "P0")
	})
}

package explain_test

import (
	"context"
	"testing"
	"time"

	"axflow/engine/explain"
	"axflow/flow"
	"axflow/shard"
	"axflow/sql/span"
	"axflow/stage"
)

// A graph's stages: waiting, planning, sharded, aligned, sub-flows.
func TestReasonsOfGraphs(t *testing.T) {
	site := newSite(t)
	site.lead()
	pull := stage.New("pull", nop)
	recon := shard.New("recon", noPlan, nopShard).After(pull)
	book := shard.Aligned("book", recon, nopShard)
	report := stage.New("report", nop).After(book)
	f := flow.New("daily", pull, recon, book, report)
	const pullOrd, reconOrd, bookOrd = 0, 1, 2
	worker := site.worker(200, nil, f)

	t.Run("waiting", func(t *testing.T) {
		s := site.on(t)
		run := s.start(f)
		r := s.why(run, "report")
		says(t, r.Diagnosis, `waiting: all_success: of 1 upstream 1 undecided: "book" is waiting (for "pull")`)
		shut(t, r.Gates, explain.GateUpstream)
		says(t, s.why(run, "recon").Diagnosis, `"pull" is running (next to be handed out)`)
		r = s.why(run)
		says(t, r.Diagnosis, "pull: next to be handed out (and 3 other stages)")
		if len(r.Stages) != 4 || r.Stages[0].Stage != "pull" {
			t.Errorf("%d stages, the first %s; want 4, pull first", len(r.Stages), r.Stages[0].Stage)
		}
	})

	t.Run("to be decided", func(t *testing.T) {
		s := site.on(t)
		run := s.start(f)
		s.clear(run, pullOrd, stage.StageSucceeded, 1)
		g := shut(t, s.why(run, "recon").Gates, explain.GateDecision)
		says(t, g.Reason, "it is to be decided (plan: all_success: of 1 upstream 1 succeeded)")
	})

	t.Run("cancelled run", func(t *testing.T) {
		s := site.on(t)
		run := s.start(f)
		s.exec(`UPDATE ax.run SET state = 2 WHERE run_id = $1`, run)
		says(t, s.why(run).Diagnosis, "the run is being cancelled")
		shut(t, s.why(run, "recon").Gates, explain.GateCancel)
		s.exec(`UPDATE ax.stage SET state = 3 WHERE run_id = $1 AND ord = 0`, run)
		shut(t, s.why(run, "pull").Gates, explain.GateCancel)
	})

	t.Run("plan", func(t *testing.T) {
		s := site.on(t)
		run := s.start(f)
		s.clear(run, pullOrd, stage.StageSucceeded, 1)
		s.clear(run, reconOrd, stage.StagePlanning, -1)
		s.ready(row{run: run, ord: reconOrd, todo: "{[-1,0)}", kind: span.Plan})
		says(t, s.why(run, "recon").Diagnosis, "its plan: next to be handed out")
		r := s.why(run, "recon", 5)
		says(t, r.Diagnosis, "its shards wait for the stage's plan: its plan: next")
		shut(t, r.Gates, explain.GatePlan)
		if r := s.why(run, "recon", -1); r.State != "ready" {
			t.Errorf("the plan's state is %s", r.State)
		}
	})

	t.Run("shards by fate", func(t *testing.T) {
		s := site.on(t)
		s.exec(`DELETE FROM ax.ready`) // other runs' work is not to be ahead
		run := s.start(f)
		s.clear(run, pullOrd, stage.StageSucceeded, 1)
		s.clear(run, reconOrd, stage.StageRunning, 1000)
		s.ready(row{run: run, ord: reconOrd, todo: "{[400,1000)}"})
		s.ready(row{run: run, ord: reconOrd, todo: "{[10,15)}", attempt: 2, due: time.Hour})
		s.flight(row{run: run, ord: reconOrd, todo: "{[300,350)}", worker: worker})
		s.flight(row{run: run, ord: reconOrd, todo: "{[350,400)}", worker: worker})
		for i, index := range []int{7, 8} {
			s.result(run, reconOrd, index, 3, stage.Failed, worker, "cause "+string(rune('A'+i)))
			s.parked(row{run: run, ord: reconOrd, todo: "{[" + []string{"7,8", "8,9"}[i] + ")}", attempt: 3, reason: span.Dead, fingerprint: string(rune('A' + i))})
		}
		r := s.why(run, "recon")
		tasks := map[explain.Fate]int{}
		dead := 0
		for _, g := range r.Groups {
			tasks[g.Fate] += g.Tasks
			if g.Fate == explain.FateDead {
				dead++
			}
		}
		want := map[explain.Fate]int{explain.FateReady: 600, explain.FateRetrying: 5, explain.FateInFlight: 100, explain.FateDead: 2, explain.FateSucceeded: 293}
		for fate, n := range want {
			if tasks[fate] != n {
				t.Errorf("%d %s, want %d", tasks[fate], fate, n)
			}
		}
		if dead != 2 {
			t.Errorf("%d groups of dead shards, want one for each error", dead)
		}
		says(t, r.Diagnosis, "293 of 1,000 shards done", "1 dead (dead for", "cause A", "600 ready (next to be handed out)")
		if r := s.why(run, "recon", 100); r.State != "succeeded" {
			t.Errorf("shard 100: %s", r.State)
		}
		if r := s.why(run, "recon", 500); r.State != "ready" {
			t.Errorf("shard 500: %s", r.State)
		}
	})

	t.Run("aligned", func(t *testing.T) {
		s := site.on(t)
		run := s.start(f)
		s.clear(run, pullOrd, stage.StageSucceeded, 1)
		s.clear(run, reconOrd, stage.StageRunning, 10)
		s.clear(run, bookOrd, stage.StageRunning, 10)
		s.ready(row{run: run, ord: reconOrd, todo: "{[3,4)}", attempt: 2, due: time.Hour})
		s.result(run, reconOrd, 3, 1, stage.Failed, worker, "locked")
		s.parked(row{run: run, ord: bookOrd, todo: "{[3,4)}", reason: span.Aligned})
		s.parked(row{run: run, ord: bookOrd, todo: "{[4,5)}", reason: span.UpstreamFailed})
		r := s.why(run, "book", 3)
		says(t, r.Diagnosis, `waits for shard 3 of "recon", which is retrying: retry 1 of 2, due in `, "locked")
		says(t, s.why(run, "book", 4).Diagnosis, `the shards of "recon" that it follows have failed`)
		says(t, s.why(run, "book").Diagnosis, "8 of 10 shards done", `1 waiting aligned (waits for the same shards of "recon")`)
	})

	t.Run("sub-flow", func(t *testing.T) {
		s := site.on(t)
		inside := stage.New("a", nop)
		child := flow.New("child", inside)
		parent := flow.New("parent", flow.Sub("sub", child, inside, func(context.Context, params) (params, error) { return params{}, nil }))
		s.worker(1, nil, child, parent)
		run, inner := s.start(parent), s.start(child)
		s.clear(run, 0, stage.StageRunning, 1)
		s.parked(row{run: run, todo: "{[0,1)}", reason: span.Child})
		s.exec(`INSERT INTO ax.child (parent_run, ord, generation, shard, attempt, child_run) VALUES ($1, 0, 1, 0, 1, $2)`, run, inner)
		for _, r := range []*explain.Report{s.why(run, "sub", 0), s.why(run, "sub"), &s.why(run).Stages[0]} {
			says(t, r.Diagnosis, "waits for run "+inner.String()+" of its sub-flow child")
			if r.Child == nil || r.Child.Run != inner {
				t.Fatalf("the sub-flow's run is not explained: %+v", r)
			}
			says(t, r.Child.Diagnosis, "a: next to be handed out")
		}
	})

	t.Run("past", func(t *testing.T) {
		s := site.on(t)
		run := s.start(f)
		s.clear(run, pullOrd, stage.StageSucceeded, 1)
		s.result(run, pullOrd, 0, 1, stage.Failed, worker, "first try")
		s.result(run, pullOrd, 0, 2, stage.Succeeded, worker, "")
		s.exec(`INSERT INTO ax.journal (run_id, id, ord, kind, actor, detail) VALUES ($1, gen_random_uuid(), 0, 'rerun', 'kim', '{"reason": "new data"}')`, run)
		r := s.why(run, "pull", 0)
		says(t, r.Diagnosis, "succeeded in attempt 2 after 2 s")
		if p := r.Past; p.Why != "it has no upstreams" || p.Results != 2 || p.Workers != 1 || len(p.Last) != 2 || p.Last[1].Error != "first try (E1)" ||
			len(p.Acts) != 1 || p.Acts[0].Actor != "kim" || p.Acts[0].Reason != "new data" {
			t.Errorf("past %+v", p)
		}
		if p := s.why(run, "pull").Past; p.Results != 2 || p.Attempts != 2 || p.Partial {
			t.Errorf("the stage's past: %+v", p)
		}
	})
}

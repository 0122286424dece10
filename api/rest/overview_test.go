package rest_test

import (
	"net/http"
	"testing"

	"axflow/api/gen"
	"axflow/engine/control"
)

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func TestOverview(t *testing.T) {
	s := newStand(t)
	s.failed()
	s.exec(`UPDATE ax.lease SET epoch = 7`)
	s.exec(`INSERT INTO ax.throughput (namespace, kind, minute, queue, source, started, succeeded, failed)
		SELECT n, k, date_trunc('minute', now()) - ago, CASE k WHEN 0 THEN 'default' ELSE '' END, gen_random_uuid(), 10, 6, 3
		FROM (VALUES ('default'), ('default'), ('other')) AS n (n), (VALUES (0), (1)) AS k (k),
		     (VALUES (interval '0'), (interval '30 minutes'), (interval '5 hours'), (interval '30 hours')) AS a (ago)`)
	s.exec(`INSERT INTO ax.hold (namespace, kind, name, actor, reason, held_at) VALUES ('default', 'queue', 'nightly', 'ada', 'it is Sunday', now() - interval '2 hours'),
		('default', 'flow', 'recon', 'bob', '', now() - interval '2 hours'), ('default', 'run', 'x', 'bob', '', now()), ('other', 'queue', 'theirs', 'eve', '', now())`)
	for window, runs := range map[string]int{"1h": 40, "24h": 60} {
		o := good[gen.Overview](s, http.StatusOK, "GET", "/api/v1/overview?window="+window, "")
		steps := map[string]int{"1h": 60, "24h": 96}[window]
		if len(o.Runs.Started) != steps || len(o.Tasks.Failed) != steps || o.At.Before(o.From) || o.At.Sub(o.From).Seconds() > float64(steps*o.StepS) {
			t.Errorf("%s: %d steps of %d s from %s, at %s", window, len(o.Runs.Started), o.StepS, o.From, o.At)
		}
		if sum(o.Runs.Started) != runs || sum(o.Tasks.Succeeded) != runs/10*6 || sum(o.Tasks.Failed) != runs/10*3 {
			t.Errorf("%s: %d started, %d succeeded, %d failed", window, sum(o.Runs.Started), sum(o.Tasks.Succeeded), sum(o.Tasks.Failed))
		}
		if o.Runs.Started[steps-1] < 20 { // of two sources, in the step that goes on
			t.Errorf("%s: the last step has %d", window, o.Runs.Started[steps-1])
		}
		if o.Leader == nil || !o.Leader.Leading || o.Leader.Epoch != 7 || o.Workers == nil || o.Workers.Count != 1 || o.Workers.Slots != 4 {
			t.Errorf("%s: leader %+v, workers %+v", window, o.Leader, o.Workers)
		}
		var kinds []gen.AttentionKind
		for _, a := range o.Attention {
			kinds = append(kinds, a.Kind)
		}
		want := []gen.AttentionKind{gen.AttentionKindQueuePaused, gen.AttentionKindDeadLetters, gen.AttentionKindHoldOld}
		if len(kinds) != len(want) {
			t.Fatalf("%s: %v, want %v", window, kinds, want)
		}
		for i, kind := range want {
			if kinds[i] != kind {
				t.Errorf("%s: %v, want %v", window, kinds, want)
			}
		}
		if dead := o.Attention[1]; dead.Count != 1 || dead.Flow == nil || *dead.Flow != "recon" || dead.Stage == nil || *dead.Stage != "parts" {
			t.Errorf("%s: %+v", window, dead)
		}
	}
}

// Without a leader and without workers the overview says so first.
func TestOverviewOfNobody(t *testing.T) {
	s := newStand(t)
	s.start()
	s.exec(`DELETE FROM ax.worker`)
	s.exec(`UPDATE ax.lease SET expires_at = now() - interval '1 minute'`)
	o := good[gen.Overview](s, http.StatusOK, "GET", "/api/v1/overview", "")
	if len(o.Attention) < 2 || o.Attention[0].Rank != 0 || o.Attention[1].Rank != 0 || o.Leader.Leading {
		t.Errorf("%+v %+v", o.Attention, o.Leader)
	}
	if len(o.Queues) != 1 || o.Queues[0].Depth != 1 || o.Queues[0].DrainS != nil {
		t.Errorf("%+v", o.Queues)
	}
}

func TestPreviousAndUsual(t *testing.T) {
	s := newStand(t)
	v := s.registered("default", plainFlow("plain"))
	first := s.begin("default", "test", control.Start{Version: v, Params: []byte(`{"a": 1}`)})
	s.begin("other", "test", control.Start{Version: s.registered("other", plainFlow("plain"))})
	second := s.begin("default", "test", control.Start{Version: v, Params: []byte(`{"a": 1}`)})
	third := s.begin("default", "test", control.Start{Version: v, Params: []byte(`{"a": 2}`)})
	s.refused(http.StatusNotFound, gen.ProblemCodeNotFound, "GET", "/api/v1/runs/"+third.String()+"/previous", "")
	s.exec(`UPDATE ax.run SET state = 10, finished_at = created_at + interval '40 seconds' WHERE run_id = $1`, first)
	s.exec(`UPDATE ax.run SET state = 11, finished_at = created_at + interval '5 seconds' WHERE run_id = $1`, second)
	s.exec(`UPDATE ax.stage SET state = 10, ready_at = since, finished_at = since + interval '30 seconds' WHERE run_id = $1`, first)
	if got := good[gen.Run](s, http.StatusOK, "GET", "/api/v1/runs/"+third.String()+"/previous", ""); got.Id != first {
		t.Errorf("the one before is %s, want %s", got.Id, first)
	}
	u := good[gen.RunUsual](s, http.StatusOK, "GET", "/api/v1/runs/"+third.String()+"/usual", "")
	if u.Samples != 1 || u.P50S == nil || *u.P50S != 40 || len(u.Stages) == 0 || u.Stages[0].P50S != 30 {
		t.Errorf("%+v", u)
	}
	list := good[gen.FlowUsualList](s, http.StatusOK, "GET", "/api/v1/usual", "")
	if len(list.Items) != 1 || list.Items[0].Flow != "plain" || list.Items[0].P95S != 40 {
		t.Errorf("%+v", list)
	}
	recent := good[gen.RecentParamsList](s, http.StatusOK, "GET", "/api/v1/flows/plain/recent-params", "")
	if len(recent.Items) != 2 || recent.Items[0].Run != third || recent.Items[1].Run != second || recent.Items[1].Runs != 2 {
		t.Errorf("%+v", recent)
	}
	if one := good[gen.RecentParamsList](s, http.StatusOK, "GET", "/api/v1/flows/plain/recent-params?limit=1", ""); len(one.Items) != 1 {
		t.Errorf("%+v", one)
	}
}

func TestTimelineAndFailuresOfAStage(t *testing.T) {
	s := newStand(t)
	run := s.failed()
	f := good[gen.StageFailureList](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/stages/parts/failures", "")
	if len(f.Items) != 1 || f.Items[0].Shards != "2" || f.Items[0].Dead != 1 || f.Items[0].Attempts < 1 || f.Items[0].ExampleShard != 2 {
		t.Errorf("%+v", f)
	}
	line := good[gen.Timeline](s, http.StatusOK, "GET", "/api/v1/runs/"+run.String()+"/timeline", "")
	var results int
	if err := s.pool.QueryRow(s.ctx, `SELECT count(*) FROM ax.result WHERE run_id = $1 AND shard >= 0`, run).Scan(&results); err != nil {
		t.Fatal(err)
	}
	finished, failed := 0, 0
	for _, st := range line.Stages {
		if st.Density != nil {
			finished, failed = finished+sum(st.Density.Finished), failed+sum(st.Density.Failed)
			if last := st.Density.Running[len(st.Density.Running)-1]; last != 0 {
				t.Errorf("%s: %d run at the end", st.Name, last)
			}
		}
		finished += len(st.Attempts)
	}
	if finished != results || failed != 1 {
		t.Errorf("%d finished, %d failed; want %d, 1", finished, failed, results)
	}
}

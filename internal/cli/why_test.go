package cli_test

import (
	"strings"
	"testing"

	"axflow/flow"
	"axflow/internal/pgtest"
)

func TestWhyNothingRuns(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	var s started
	x.answer(0, &s, "run", "start", "daily-recon", "--param", "date=x")
	stdout, _ := x.ax(0, "why", s.Run)
	lines := strings.Split(stdout, "\n")
	if !strings.HasPrefix(lines[0], "no engine has ever led this database") || !strings.HasPrefix(lines[1], "next: start an engine: `ax server`") {
		t.Errorf("it begins with\n%s\n%s", lines[0], lines[1])
	}
	says(t, stdout, "run "+s.Run+" of flow daily-recon: running", "-- leader", "pull, running: no engine", "reconcile, waiting:", "started by cli")
	stdout, _ = x.ax(0, "why", s.Run[:13]+"/reconcile")
	says(t, stdout, "stage reconcile of run "+s.Run, "-- upstream", `all_success: of 1 upstream 1 undecided: "pull" is running`)
	stdout, _ = x.ax(0, "why", s.Run+"/pull/0")
	says(t, stdout, "shard 0 of stage pull", "-- capability", "no live worker can run daily-recon/pull@", "ok not_before")

	var r struct {
		State, Diagnosis string
		Gates            []struct {
			Name, Reason string
			Open         bool
		}
	}
	x.answer(0, &r, "why", s.Run+"/pull/0")
	if r.State != "ready" || len(r.Gates) < 4 || r.Gates[0].Name != "leader" || r.Gates[0].Open {
		t.Errorf("%+v", r)
	}

	for want, args := range map[string][]string{
		"needs RUN":                    {"why"},
		"no run's id":                  {"why", "daily"},
		"names no stage":               {"why", s.Run + "/"},
		`"x" is no shard`:              {"why", s.Run + "/pull/x"},
		`"-2" is no shard`:             {"why", s.Run + "/pull/-2"},
		"neither RUN nor RUN/STAGE":    {"why", s.Run + "/pull/0/1"},
		"`ax advise` takes only FLOW":  {"advise", "a", "b"},
		"--window 0s is outside 1s..2": {"advise", "--window", "0"},
	} {
		_, stderr := x.ax(2, args...)
		says(t, stderr, want)
	}
	_, stderr := x.ax(1, "why", s.Run+"/nothing")
	says(t, stderr, `no stage "nothing"`, "pull, reconcile, report")
	_, stderr = x.ax(1, "why", s.Run+"/pull/3")
	says(t, stderr, "no index 3", "its index is 0")
}

func TestWhyItFailedAndAdvice(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	x.dev()
	var s started
	x.answer(3, &s, "run", "start", "daily-recon", "--params", `{"date":"2026-03-01","bad":true}`, "--wait")
	stdout, _ := x.ax(0, "why", s.Run)
	says(t, strings.SplitN(stdout, "\n", 2)[0], "failed after", "reconcile: failed", "297 of 300 shards succeeded", "3 dead (dead for", "the sums differ")
	says(t, stdout, "next: see to the error, then retry: `ax run retry "+s.Run+" reconcile`")
	stdout, _ = x.ax(0, "why", s.Run+"/reconcile/107")
	says(t, stdout, "shard 107 of stage reconcile", "dead", "after 1 attempt of 3 (not retryable): the sums differ", "attempt 1: failed after", "1 result by 1 worker,")
	stdout, _ = x.ax(0, "why", s.Run+"/reconcile/108")
	says(t, stdout, "succeeded in attempt 1")
	stdout, _ = x.ax(0, "why", s.Run+"/report")
	says(t, stdout, "upstream failed: all_success: of 1 upstream")

	stdout, _ = x.ax(0, "advise", "daily-recon")
	says(t, stdout, "297", "too loose: what hangs is found late", "1.0s", "too few samples: 1 of 100", "daily-recon/reconcile", "capacity by queue", "default")
	var advice struct {
		Timeouts []struct {
			Stage, Fit string
			Samples    int
		}
		Handlers []struct{ Stage string }
	}
	x.answer(0, &advice, "advise")
	if len(advice.Timeouts) != 3 || len(advice.Handlers) != 2 {
		t.Fatalf("%+v", advice)
	}
	for _, a := range advice.Timeouts {
		if a.Stage == "reconcile" && (a.Samples != 297 || a.Fit != "too_loose") {
			t.Errorf("%+v", a)
		}
	}
	_, stderr := x.ax(1, "advise", "weekly")
	says(t, stderr, `no flow "weekly"`)
}

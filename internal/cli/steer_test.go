package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"axflow/api/gen"
	"axflow/flow"
	"axflow/internal/pgtest"
)

// Dead letters: listed by error, inspected, replayed by the leader after a canary, counted as succeeded by hand.
func TestDeadLetters(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	x.dev()
	var s started
	x.answer(3, &s, "run", "start", "daily-recon", "--params", `{"date":"2026-03-01","bad":true}`, "--wait")
	var list gen.DeadGroupList
	x.answer(0, &list, "dlq", "list")
	groups := list.Items
	if len(groups) != 1 || groups[0].Stage != "reconcile" || groups[0].Count != 3 || groups[0].Runs != 1 || groups[0].Example.Message != "the sums differ" {
		t.Fatalf("dlq list: %+v", groups)
	}
	stdout, _ := x.ax(0, "dlq", "show", s.Run, "reconcile", "207")
	says(t, stdout, "reconcile shard 207", "dead", "failed", "the sums differ")
	stdout, _ = x.ax(0, "why", s.Run+"/reconcile/207")
	says(t, stdout, "the sums differ")

	// The canary dies again: the other two stay.
	var job gen.Replay
	x.answer(0, &job, "dlq", "replay", "--fingerprint", groups[0].Fingerprint, "--canary", "1", "--dry-run")
	if job.Total != 3 {
		t.Errorf("dlq replay --dry-run: %+v, want 3 tasks", job)
	}
	x.answer(0, &job, "dlq", "replay", "--fingerprint", groups[0].Fingerprint, "--canary", "1", "--reason", "the source was mended")
	var jobs gen.ReplayList
	pgtest.Eventually(t, limit, func() (bool, string) {
		x.answer(0, &jobs, "dlq", "replays")
		return len(jobs.Items) == 1 && jobs.Items[0].State == gen.ReplayStateStopped, fmt.Sprintf("the replay is to stop: %+v", jobs)
	})
	if j := jobs.Items[0]; *j.Id != *job.Id || j.Moved != 1 || j.Failed != 1 {
		t.Errorf("dlq replays: %+v, want one moved and failed", jobs)
	}

	var d gen.ActResult
	x.answer(0, &d, "run", "mark-success", s.Run, "reconcile", "--shards", "7,107,207", "--reason", "booked by hand", "--dry-run")
	if !d.DryRun || len(d.Touched) == 0 {
		t.Errorf("mark-success --dry-run: %+v", d)
	}
	x.ax(3, "run", "watch", s.Run) // a dry run changes nothing
	x.ax(0, "run", "mark-success", s.Run, "reconcile", "--shards", "7,107,207", "--reason", "booked by hand")
	stdout, _ = x.ax(0, "run", "watch", s.Run)
	says(t, stdout, "succeeded after", "shards 300 succeeded, 0 failed")
	stdout, _ = x.ax(0, "audit", "--target", "run/"+s.Run)
	says(t, stdout, "booked by hand", "cli:")
	stdout, _ = x.ax(0, "dlq", "list")
	says(t, stdout, "no dead letters")
	x.ax(0, "doctor", "--ended")
}

// A paused run says so and goes on when it is resumed; what is paused is found by filter; queues, pools, circuits and
// switches are set and listed.
func TestSteering(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	x.dev()
	x.ax(0, "queue", "pause", "default", "--reason", "a migration")
	var s started
	x.answer(0, &s, "run", "start", "daily-recon", "--param", "date=x", "--tag", "team=risk")
	var stdout string
	pgtest.Eventually(t, limit, func() (bool, string) { // an engine that has not begun to lead is named first
		stdout, _ = x.ax(0, "why", s.Run)
		return strings.Contains(stdout, "queue resume default"), stdout
	})
	says(t, stdout, "queue default is paused by cli:", "a migration")
	x.ax(0, "run", "pause", "--tag", "team=risk")
	x.ax(0, "queue", "resume", "default")
	stdout, _ = x.ax(0, "why", s.Run)
	says(t, stdout, "paused", "run resume")
	stdout, _ = x.ax(0, "run", "priority", s.Run, "P0")
	says(t, stdout, "P0")
	x.ax(0, "run", "demote", s.Run)
	x.ax(0, "run", "level", s.Run, "declared")
	var shown gen.RunDetail
	if x.answer(0, &shown, "run", "show", s.Run); shown.Run.Level != gen.LevelP2 {
		t.Errorf("the level is %s once an operator's is taken back, want P2", shown.Run.Level)
	}

	var d gen.BulkResult
	x.answer(0, &d, "run", "cancel", "--flow", "daily-recon", "--dry-run")
	if !d.DryRun || len(d.Runs) != 1 || d.Runs[0].Run.String() != s.Run || len(d.Runs[0].Touched) == 0 {
		t.Errorf("cancel --dry-run: %+v", d)
	}
	x.ax(0, "run", "resume", s.Run)
	stdout, _ = x.ax(0, "run", "watch", s.Run)
	says(t, stdout, "succeeded after")
	stdout, _ = x.ax(0, "run", "cancel", "--flow", "nothing")
	says(t, stdout, "no run matches")

	x.ax(0, "queue", "set", "etl", "--capacity", "100", "--concurrency", "7")
	x.ax(0, "queue", "set", "etl", "--concurrency", "8") // the capacity stays
	var queues gen.QueueList
	x.answer(0, &queues, "queue", "list")
	if q := queues.Items; len(q) != 1 || q[0].Name != "etl" || q[0].Capacity != 100 || q[0].Concurrency != 8 {
		t.Errorf("queue list: %+v", queues)
	}
	_, stderr := x.ax(2, "queue", "set", "etl", "--refuse-at", "2")
	says(t, stderr, "refuse_at", "at most 1")
	x.ax(0, "pool", "set", "daily-recon/pull", "3")
	stdout, _ = x.ax(0, "pool", "list")
	says(t, stdout, "daily-recon/pull", "3 a worker, by cli:")
	x.ax(0, "circuit", "open", "warehouse", "--reason", "an upgrade")
	stdout, _ = x.ax(0, "circuit", "list")
	says(t, stdout, "downstream", "warehouse", "open", "an upgrade", "when closed by hand")
	x.ax(0, "circuit", "close", "warehouse")
	x.ax(0, "setting", "set", "aging", "off")
	stdout, _ = x.ax(0, "setting", "list")
	if !strings.Contains(stdout, "aging     off") {
		t.Errorf("setting list:\n%s", stdout)
	}
	_, stderr = x.ax(1, "setting", "set", "ageing", "off")
	says(t, stderr, "ageing", "aging")
	stdout, _ = x.ax(0, "worker", "list")
	says(t, stdout, "active")
	stdout, _ = x.ax(0, "flow", "pause", "daily-recon", "--dry-run")
	says(t, stdout, "dry run")
}

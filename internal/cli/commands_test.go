package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"axflow"
	"axflow/api/gen"
	"axflow/flow"
	"axflow/internal/pgtest"
	"axflow/shard"
	"axflow/stage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is how long anything may take on a loaded machine.
const limit = 60 * time.Second

type params struct {
	Date string `json:"date"`
	Bad  bool   `json:"bad,omitempty"`
	Hang bool   `json:"hang,omitempty"`
}

// daily pulls, reconciles in 300 shards, of which every hundredth can fail, and reports; it can be made to hang.
func daily() *flow.Flow[params] {
	pull := stage.New("pull", func(ctx context.Context, p params) (int, error) {
		if p.Hang {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return len(p.Date), nil
	})
	reconcile := shard.New("reconcile", func(context.Context, params) (shard.Plan, error) { return shard.N(300), nil },
		func(_ context.Context, p params, s shard.Shard) (struct{}, error) {
			if p.Bad && s.Index%100 == 7 {
				return struct{}{}, stage.Permanent(errors.New("the sums differ"))
			}
			return struct{}{}, nil
		}).After(pull)
	report := stage.New("report", func(context.Context, params) (string, error) { return "done", nil }).After(reconcile)
	return flow.New("daily-recon", pull, reconcile, report)
}

// text is a buffer that a command writes to while a test reads.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// terminal runs commands against one database.
type terminal struct {
	t     *testing.T
	url   string
	flows []flow.Definition
}

// ax runs a command and fails the test unless it ends with the code.
func (x terminal) ax(code int, args ...string) (stdout, stderr string) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, problems text
	got := axflow.Run(ctx, append([]string{"--database-url", x.url}, args...), &out, &problems, x.flows...)
	if got != code {
		x.t.Fatalf("ax %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(), problems.String())
	}
	return out.String(), problems.String()
}

// answer runs a command with --json and decodes what it says.
func (x terminal) answer(code int, into any, args ...string) {
	x.t.Helper()
	stdout, _ := x.ax(code, append(args, "--json")...)
	if err := json.Unmarshal([]byte(stdout), into); err != nil {
		x.t.Fatalf("ax %s: %v in %s", strings.Join(args, " "), err, stdout)
	}
}

// dev runs `dev` until the test ends; it must end well.
func (x terminal) dev(args ...string) *text {
	x.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var out text
	code := make(chan int, 1)
	go func() {
		code <- axflow.Run(ctx, append([]string{"--database-url", x.url, "dev"}, args...), &out, &out, x.flows...)
	}()
	x.t.Cleanup(func() {
		cancel()
		if got := <-code; got != 0 {
			x.t.Errorf("dev ended with %d:\n%s", got, out.String())
		}
		for _, want := range []string{"stopping", "stopped"} {
			if !strings.Contains(out.String(), want) {
				x.t.Errorf("dev does not say that it is %s:\n%s", want, out.String())
			}
		}
	})
	return &out
}

// started is what a start answers, or with --wait the run's result.
type started struct {
	Run, Flow, State string
	Existing, Ended  bool
}

func says(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestRunToTheEnd(t *testing.T) {
	x := terminal{t, pgtest.New(t, pgtest.Empty()).URL, []flow.Definition{daily()}}
	x.dev()
	x.ax(0, "migrate") // takes its turn with dev's
	stdout, _ := x.ax(0, "run", "start", "daily-recon", "--param", "date=2026-03-01", "--priority", "p1", "--tag", "team=recon", "--watch")
	says(t, stdout, "started run ", "daily-recon: run ", "succeeded after", "stages 3 succeeded; shards 300 succeeded, 0 failed")

	var list gen.RunList
	x.answer(0, &list, "run", "list")
	if len(list.Items) != 1 || list.Items[0].Flow != "daily-recon" || list.Items[0].State != gen.RunStateSucceeded || list.Items[0].Level != gen.LevelP1 {
		t.Fatalf("run list: %+v", list)
	}
	id := list.Items[0].Id.String()
	var run gen.RunDetail
	x.answer(0, &run, "run", "show", id)
	if run.Run.State != gen.RunStateSucceeded || run.Run.Tags["team"] != "recon" || len(run.Stages) != 3 {
		t.Errorf("run show: %+v", run)
	}
	var p params
	x.answer(0, &p, "run", "params", id)
	if p.Date != "2026-03-01" {
		t.Errorf("run params: %+v", p)
	}
	if s := run.Stages[1]; s.Name != "reconcile" || s.State != "succeeded" || s.Total != 300 || s.Succeeded != 300 {
		t.Errorf("stage 1: %+v", s)
	}
	stdout, _ = x.ax(0, "run", "show", id[:13]) // a unique beginning
	says(t, stdout, id, "daily-recon", "STAGE", "300/300", "team=recon", "P1")
	stdout, _ = x.ax(0, "run", "watch", id)
	says(t, stdout, "succeeded after")
	stdout, _ = x.ax(0, "run", "list", "--flow", "another")
	says(t, stdout, "no run matches")
	_, stderr := x.ax(1, "run", "cancel", id)
	says(t, stderr, "succeeded already")
	_, stderr = x.ax(1, "run", "retry", id)
	says(t, stderr, "no failed work")

	stdout, _ = x.ax(0, "run", "rerun", id, "report", "--reason", "a better template")
	says(t, stdout, "stage report")
	x.ax(0, "run", "watch", id)
	stdout, _ = x.ax(0, "doctor", "--ended")
	says(t, stdout, "nothing bad found")
}

func TestRunThatFails(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	x.dev()
	var s started
	x.answer(3, &s, "run", "start", "daily-recon", "--params", `{"date":"2026-03-01","bad":true}`, "--wait")
	if s.State != "failed" || s.Flow != "daily-recon" || !s.Ended {
		t.Errorf("run start: %+v", s)
	}
	stdout, _ := x.ax(0, "run", "show", s.Run)
	says(t, stdout, "297/300", "upstream failed", "the sums differ", "reconcile[207]")
	stdout, _ = x.ax(0, "run", "retry", s.Run)
	says(t, stdout, "goes on")
	_, stderr := x.ax(3, "run", "watch", s.Run)
	says(t, stderr, "has failed", "run show "+s.Run)
	_, stderr = x.ax(1, "run", "rerun", s.Run, "nothing")
	says(t, stderr, `no stage "nothing"`, "pull, reconcile, report")
}

func TestCancelAndDetach(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	x.dev()
	var s started
	stdout, stderr := x.ax(4, "run", "start", "daily-recon", "--params", `{"date":"x","hang":true}`, "--wait", "--timeout", "100ms", "--json")
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || s.State != "running" {
		t.Fatalf("%v in %s", err, stdout)
	}
	says(t, stderr, "stopped watching; run "+s.Run+" goes on")
	stdout, _ = x.ax(4, "run", "watch", s.Run, "--timeout", "100ms")
	says(t, stdout, "goes on")
	stdout, _ = x.ax(0, "run", "cancel", s.Run, "--force")
	says(t, stdout, "being cancelled")
	_, stderr = x.ax(3, "run", "watch", s.Run)
	says(t, stderr, "has been cancelled")
}

func TestSameKeySameRun(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	var first, second started
	x.answer(0, &first, "run", "start", "daily-recon", "--param", "date=x", "--key", "2026-03-01")
	x.answer(0, &second, "run", "start", "daily-recon", "--param", "date=x", "--key", "2026-03-01")
	if first.Existing || !second.Existing || first.Run != second.Run {
		t.Errorf("first %+v, second %+v; want the same run, existing the second time", first, second)
	}
	var other started
	x.answer(0, &other, "run", "start", "daily-recon", "--param", "date=x")
	_, stderr := x.ax(2, "run", "show", first.Run[:8])
	says(t, stderr, "several runs' ids begin with "+first.Run[:8])
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{daily()}}
	_, stderr := x.ax(0, "run", "start", "daily-recon", "--param", "date=x")
	says(t, stderr, "no engine has ever led this database", "`ax dev`")
}

func TestStartRefusesBadParams(t *testing.T) {
	url := pgtest.New(t).URL
	with := terminal{t, url, []flow.Definition{daily()}}
	with.ax(0, "run", "start", "daily-recon", "--param", "date=x") // registers the flow
	without := terminal{t, url, nil}
	for name, x := range map[string]terminal{"built in": with, "registered": without} {
		_, stderr := x.ax(2, "run", "start", "daily-recon", "--params", `{"date":1}`)
		says(t, stderr, "date")
		_, stderr = x.ax(2, "run", "start", "daily-recon", "--param", "date=x", "--param", "dat=y")
		says(t, stderr, "dat")
		_, stderr = x.ax(1, "run", "start", "daily")
		says(t, stderr, `no flow "daily"`, "did you mean daily-recon?", "there are daily-recon")
		_, stderr = x.ax(2, "run", "start", "daily-recon", "--priority", "P9")
		says(t, stderr, "P9")
		_, stderr = x.ax(2, "run", "start", "daily-recon", "--wait", "--watch")
		says(t, stderr, "exclude each other")
		if t.Failed() {
			t.Fatalf("with the flow %s", name)
		}
	}
	var list gen.RunList
	without.answer(0, &list, "run", "list")
	if len(list.Items) != 1 {
		t.Errorf("%d runs, want the one that was right", len(list.Items))
	}
}

func TestOldSchemaIsRefused(t *testing.T) {
	x := terminal{t, pgtest.New(t, pgtest.Empty()).URL, nil}
	for _, args := range [][]string{{"server"}, {"run", "list"}, {"doctor"}} {
		_, stderr := x.ax(1, args...)
		says(t, stderr, "older", "next: `ax migrate`")
	}
	stdout, _ := x.ax(0, "migrate")
	says(t, stdout, "up to date")
	x.ax(0, "run", "list")
}

func TestNewSchemaIsRefused(t *testing.T) {
	d := pgtest.New(t)
	if _, err := d.Pool.Exec(t.Context(), "INSERT INTO ax.schema_version (version_id, is_applied) VALUES (9999, true)"); err != nil {
		t.Fatal(err)
	}
	x := terminal{t, d.URL, nil}
	for _, args := range [][]string{{"server"}, {"migrate"}, {"dev"}} {
		_, stderr := x.ax(1, args...)
		says(t, stderr, "newer than this binary")
	}
}

func TestDoctorFindsWhatIsBroken(t *testing.T) {
	d := pgtest.New(t)
	x := terminal{t, d.URL, []flow.Definition{daily()}}
	var s started
	x.answer(0, &s, "run", "start", "daily-recon", "--param", "date=x")
	if _, err := d.Pool.Exec(t.Context(), "DELETE FROM ax.ready"); err != nil { // work is lost
		t.Fatal(err)
	}
	stdout, stderr := x.ax(1, "doctor")
	says(t, stdout, s.Run, "bad   history", "1 violation of what AX promises", "bad   leader", "next: start an engine")
	says(t, stderr, "2 checks found something bad")
	var found struct{ Violations []struct{ Rule, Run string } }
	x.answer(1, &found, "doctor")
	if len(found.Violations) != 1 || found.Violations[0].Run != s.Run {
		t.Errorf("doctor --json: %+v", found)
	}
}

func TestCalledWrongly(t *testing.T) {
	x := terminal{t, "postgres://nobody@127.0.0.1:1/nothing", nil}
	for want, args := range map[string][]string{
		`no command "ax rnu"`:       {"rnu"},
		`did you mean run?`:         {"rnu"},
		`no command "ax run strat"`: {"run", "strat"},
		"needs FLOW":                {"run", "start"},
		"takes only FLOW":           {"run", "start", "a", "b"},
		"takes no arguments":        {"migrate", "now"},
		"needs RUN, or flags that":  {"run", "rerun"},
		"needs STAGE":               {"run", "rerun", "01a2b3c4"},
		"takes only STAGE":          {"run", "skip", "a", "b", "--flow", "f"},
		"needs RUN and STAGE: shar": {"run", "retry", "01a2b3c4", "--shards", "3"},
		"write them as 3,7-9":       {"run", "skip", "01a2b3c4", "a", "--shards", "x"},
		`level "P9" is unknown`:     {"run", "priority", "01a2b3c4", "P9"},
		`run state "ended"`:         {"run", "cancel", "--state", "ended"},
		"is no JSON":                {"run", "mark-success", "01a2b3c4", "a", "--output", "{"},
		"write FLOW/STAGE":          {"pool", "set", "clean", "3"},
		"no number of slots":        {"pool", "set", "daily/clean", "many"},
		"neither on nor off":        {"setting", "set", "aging", "0"},
		"say what to replay":        {"dlq", "replay"},
		"say what to discard":       {"dlq", "discard"},
		"no replay's id":            {"dlq", "cancel", "x"},
		"unknown flag":              {"run", "list", "--nothing"},
		"--limit 0":                 {"run", "list", "--limit", "0"},
		"no run's id":               {"run", "show", "daily"},
		"too short":                 {"run", "show", "01a2"},
		"no flows built in":         {"worker"},
		`log level "loud"`:          {"run", "list", "--log-level", "loud"},
		`log format "xml"`:          {"run", "list", "--log-format", "xml"},
	} {
		_, stderr := x.ax(2, args...)
		says(t, stderr, want, "next: `ax")
	}
	_, stderr := x.ax(1, "run", "list")
	says(t, stderr, "connection refused", "next: see that PostgreSQL runs there")
	x.url = "postgres://u:hunter2@127.0.0.1:xx/nothing"
	_, stderr = x.ax(2, "run", "list")
	if strings.Contains(stderr, "hunter2") {
		t.Errorf("the password is shown: %s", stderr)
	}
}

func TestHelpAndVersion(t *testing.T) {
	x := terminal{t, "", []flow.Definition{daily()}}
	stdout, _ := x.ax(0)
	says(t, stdout, "dev", "server", "worker", "migrate", "doctor", "run", "version")
	stdout, _ = x.ax(0, "version")
	says(t, stdout, "flow daily-recon, version "+daily().Version()+", 3 stages")
}

func TestNoDatabase(t *testing.T) {
	t.Setenv("AX_DATABASE_URL", "")
	t.Setenv("AX_DATA_DIR", t.TempDir())
	x := terminal{t, "", []flow.Definition{daily()}}
	_, stderr := x.ax(2, "server")
	says(t, stderr, "set AX_DATABASE_URL or --database-url", "`ax dev`")
	for _, args := range [][]string{{"run", "list"}, {"worker"}, {"doctor"}, {"migrate"}} {
		_, stderr := x.ax(2, args...)
		says(t, stderr, "no database is named", "`ax dev` has not made one")
	}
}

// What its last stage returns nothing for has a result all the same; logs and events are one object a line.
func TestAQuietRun(t *testing.T) {
	quiet := flow.New("quiet", stage.New("say", func(ctx context.Context, _ struct{}) (struct{}, error) {
		stage.Log(ctx).Info("a word", "n", 7)
		return struct{}{}, nil
	}))
	x := terminal{t, pgtest.New(t).URL, []flow.Definition{quiet}}
	x.dev()
	var r gen.RunResult
	x.answer(0, &r, "run", "start", "quiet", "--wait") // it is built in, and so registered
	if r.State != gen.RunStateSucceeded || !r.Ended {
		t.Errorf("the result is %+v", r)
	}
	stdout, _ := x.ax(0, "run", "logs", r.Run.String(), "-f")
	says(t, stdout, "INFO  say  a word  n=7")
	stdout, _ = x.ax(0, "run", "logs", r.Run.String(), "--json", "--tail", "1")
	var line gen.LogLine
	if err := json.Unmarshal([]byte(stdout), &line); err != nil || line.Message != "a word" {
		t.Errorf("%v in %s", err, stdout)
	}
	stdout, _ = x.ax(0, "run", "watch", r.Run.String(), "--json")
	var d gen.RunDetail
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || strings.Count(stdout, "\n") != 1 || d.Run.State != gen.RunStateSucceeded {
		t.Errorf("%v in %s", err, stdout)
	}
	stdout, _ = x.ax(0, "run", "failures", r.Run.String())
	says(t, stdout, "nothing of it has failed")
	stdout, _ = x.ax(0, "shard", "show", r.Run.String(), "say")
	says(t, stdout, "shard 0", "succeeded")
	for want, args := range map[string][]string{"quiet": {"run", "start", "qu"}, r.Run.String(): {"run", "show", ""}, "say\t": {"run", "logs", r.Run.String(), ""}, "flow:quiet": {"run", "list", "flow:"}} {
		stdout, _ = x.ax(0, append([]string{"__complete"}, args...)...)
		says(t, stdout, want)
	}
}

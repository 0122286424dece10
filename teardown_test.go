package axflow_test

import (
	"context"
	"errors"
	"testing"

	"axflow"
	"axflow/flow"
	"axflow/stage"
)

type job struct {
	Fail string `json:"fail"` // the stage that fails
	Hang bool   `json:"hang"` // work waits for its cancellation
}

// Teardown runs whatever has become of what lies between, if setup has succeeded; only a forced cancel keeps it from running.
func TestSetupAndTeardown(t *testing.T) {
	working := make(chan struct{}, 1)
	step := func(name string) func(context.Context, job) (string, error) {
		return func(ctx context.Context, j job) (string, error) {
			if j.Fail == name {
				return "", stage.Permanent(errors.New(name + " is broken"))
			}
			if name == "work" && j.Hang {
				working <- struct{}{}
				<-ctx.Done()
				return "", ctx.Err()
			}
			return name, nil
		}
	}
	setup := stage.New("setup", step("setup"))
	work := stage.New("work", step("work")).After(setup)
	more := stage.New("more", step("more")).After(work)
	teardown := stage.New("teardown", step("teardown"), stage.Teardown[job](setup)).After(more)
	f := flow.New("cluster", setup, work, more, teardown)
	l := open(t, nil, f)
	const ok, failed, up, skipped, cancelled = stage.StageSucceeded, stage.StageFailed, stage.StageUpstreamFailed, stage.StageSkipped, stage.StageCancelled
	for _, c := range []struct {
		name   string
		job    job
		force  bool
		end    stage.RunState
		states map[string]stage.StageState
	}{
		{"all is well", job{}, false, stage.RunSucceeded, map[string]stage.StageState{"setup": ok, "work": ok, "more": ok, "teardown": ok}},
		{"work fails", job{Fail: "work"}, false, stage.RunFailed, map[string]stage.StageState{"work": failed, "more": up, "teardown": ok}},
		{"setup fails", job{Fail: "setup"}, false, stage.RunFailed, map[string]stage.StageState{"setup": failed, "work": up, "teardown": skipped}},
		{"teardown fails", job{Fail: "teardown"}, false, stage.RunFailed, map[string]stage.StageState{"more": ok, "teardown": failed}},
		{"cancelled", job{Hang: true}, false, stage.RunCancelled, map[string]stage.StageState{"setup": ok, "work": cancelled, "more": cancelled, "teardown": ok}},
		{"cancelled by force", job{Hang: true}, true, stage.RunCancelled, map[string]stage.StageState{"setup": ok, "work": cancelled, "more": cancelled, "teardown": cancelled}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &lab{t: t, ctx: l.ctx, p: l.p}
			id := start(l, f, c.job)
			if c.job.Hang {
				<-working
				if _, err := l.p.Client().Cancel(l.ctx, id, c.force, axflow.Who{Actor: "test"}); err != nil {
					t.Fatal(err)
				}
			}
			l.ends(id, c.end)
			l.wantStates(id, c.states)
		})
	}
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/client"
	"axflow/api/gen"
	"axflow/internal/watch"
	"axflow/stage"
)

// finishing says how a run's end is waited for.
type finishing struct {
	wait, watch, json bool
	timeout           time.Duration
}

func (a *app) watchCommand() *cobra.Command {
	f := finishing{watch: true}
	cmd := &cobra.Command{
		Use:   "watch RUN",
		Short: "Show a run's progress until its end",
		Long: "Show a run's progress until its end: redrawn in place in a terminal, a line a change elsewhere. Ctrl-C stops the watching, not the run.\n" +
			"With --json it writes the run's document at each change, one a line. Exit code 3 unless the run succeeds, 4 when the watching ended first.",
		Args: takes("RUN"), ValidArgsFunction: a.completing(nth(recentRuns)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd, args[0], func(ctx context.Context, s *session, id uuid.UUID) error {
				if f.json {
					return a.watchLines(ctx, s, id, f.timeout)
				}
				return a.finish(ctx, s, id, f)
			})
		},
	}
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "watch no longer than this")
	addJSON(cmd, &f.json)
	return cmd
}

// finish waits for a run's end, shows its progress or its result, and returns the exit code as an error.
func (a *app) finish(ctx context.Context, s *session, id uuid.UUID, f finishing) error {
	waiting, cancel := within(ctx, f.timeout)
	defer cancel()
	var state stage.RunState
	var err error
	if f.watch {
		out := a.Stdout
		if f.json {
			out = a.Stderr
		}
		live := watch.NewLive(watch.LiveConfig{API: s.api, Stream: s.cfg, Poll: s.poll()})
		defer live.Close()
		var last watch.Snapshot
		last, err = watch.Follow(waiting, watch.Config{Source: live, Run: id, Console: watch.NewConsole(watch.Detect(out, a.Getenv)), Detached: a.detached(id)})
		state = last.State
	} else {
		state, err = s.wait(waiting, id)
		if waiting.Err() != nil {
			a.complain("%s", a.detached(id))
			err = watch.ErrDetached
		}
	}
	if err != nil && !errors.Is(err, watch.ErrDetached) {
		return a.noStage(ctx, s, id, "", err)
	}
	if f.wait || f.json {
		if resultErr := a.tellResult(ctx, s, id, f); resultErr != nil && err == nil {
			return resultErr
		}
	}
	if err != nil {
		return err
	}
	return a.verdict(id, state)
}

// tellResult tells the run's result, also when the waiting has been given up.
func (a *app) tellResult(ctx context.Context, s *session, id uuid.UUID, f finishing) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	r, err := take(s.api.GetRunResultWithResponse(ctx, id, &gen.GetRunResultParams{}))
	switch {
	case isCode(err, gen.ProblemCodeForbidden) && !f.json: // the credential may not see outputs
		return nil
	case err != nil:
		return err
	case !f.json && !r.is.Ended:
		return nil
	default:
		return a.result(r, f.json)
	}
}

// within bounds a context, if there is a bound.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return context.WithCancel(ctx)
}

// poll is how often to look where nothing tells of changes: in this process that costs little.
func (s *session) poll() time.Duration {
	if s.target.remote() {
		return time.Second
	}
	return 200 * time.Millisecond
}

// longWait is how long one question waits for a run's end, in seconds.
const longWait = 25.0

// wait waits for a run's end. A server that does not answer for a while is asked again.
func (s *session) wait(ctx context.Context, id uuid.UUID) (stage.RunState, error) {
	patient := longWait
	for {
		r, err := take(s.api.GetRunResultWithResponse(ctx, id, &gen.GetRunResultParams{WaitS: &patient}))
		if isCode(err, gen.ProblemCodeForbidden) || isCode(err, gen.ProblemCodeInternal) { // the state may be had all the same
			return s.waitByState(ctx, id)
		}
		if err == nil && r.is.Ended {
			return stage.ParseRunState(string(r.is.State))
		}
		if err := pauseAfter(ctx, err); err != nil {
			return stage.RunRunning, err
		}
	}
}

// waitByState waits for one who may not see outputs.
func (s *session) waitByState(ctx context.Context, id uuid.UUID) (stage.RunState, error) {
	for {
		r, err := take(s.api.GetRunWithResponse(ctx, id))
		if err == nil && r.is.Run.FinishedAt != nil {
			return stage.ParseRunState(string(r.is.Run.State))
		}
		if err == nil {
			err = errNotYet
		}
		if err := pauseAfter(ctx, err); err != nil {
			return stage.RunRunning, err
		}
	}
}

// errNotYet says that there is nothing to say.
var errNotYet = errors.New("not yet")

// pauseAfter waits a little before trying again, if that makes sense after the error; nil needs no pause.
func pauseAfter(ctx context.Context, err error) error {
	var p *client.Error
	pause := time.Second
	switch {
	case err == nil:
		return ctx.Err()
	case errors.As(err, &p) && (p.Status/100 == 4 && p.Status != http.StatusTooManyRequests || p.Code == gen.ProblemCodeInternal):
		return err
	case p != nil && p.RetryAfterS != nil:
		pause = max(pause, seconds(*p.RetryAfterS))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// watchLines writes the run's document whenever it has changed.
func (a *app) watchLines(ctx context.Context, s *session, id uuid.UUID, timeout time.Duration) error {
	waiting, cancel := within(ctx, timeout)
	defer cancel()
	said := ""
	for {
		r, err := take(s.api.GetRunWithResponse(waiting, id))
		switch {
		case waiting.Err() != nil:
			a.complain("%s", a.detached(id))
			return watch.ErrDetached
		case err == nil:
			if now, err := json.Marshal([]any{r.is.Run, r.is.Stages, r.is.Holds}); err == nil && string(now) != said {
				said = string(now)
				if err := a.jsonLine(r.is); err != nil {
					return err
				}
			}
			if r.is.Run.FinishedAt != nil {
				state, err := stage.ParseRunState(string(r.is.Run.State))
				if err != nil {
					return err
				}
				return a.verdict(id, state)
			}
			err = errNotYet
		}
		if err := pauseAfter(waiting, err); err != nil && waiting.Err() == nil {
			return a.noStage(ctx, s, id, "", err)
		}
	}
}

func (a *app) detached(id uuid.UUID) string {
	return fmt.Sprintf("stopped watching; run %s goes on\n  look again: %s run watch %s\n  end it:     %s run cancel %s", id, a.Name, id, a.Name, id)
}

// verdict is the exit code of a run that was waited for.
func (a *app) verdict(id uuid.UUID, state stage.RunState) error {
	if state == stage.RunFailed || state == stage.RunCancelled {
		return coded{ExitRunEnded, fmt.Sprintf("run %s has %s: `%s run show %s` says why", id, past(gen.RunState(state.String())), a.Name, id)}
	}
	return nil
}

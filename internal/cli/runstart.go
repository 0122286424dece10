package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/internal/watch"
	"axflow/sql/versions"
	"axflow/stage"
)

// starting is what `run start` was asked.
type starting struct {
	params               string
	pairs, tags          []string
	key, priority, queue string
	delay, timeout       time.Duration
	wait, watch, json    bool
}

func (a *app) startCommand() *cobra.Command {
	var s starting
	cmd := &cobra.Command{
		Use:   "start FLOW",
		Short: "Start a run of a flow",
		Long: "Start a run of a flow, of the version built into this program, else of the newest that a worker has registered.\n" +
			"The params are checked against the flow's type before anything is stored.",
		Example: fmt.Sprintf("  %[1]s run start daily-recon --param date=2026-03-01 --watch\n  %[1]s run start daily-recon --params @params.json --key 2026-03-01 --wait", a.Name),
		Args:    takes("FLOW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if s.wait && s.watch {
				return usagef("--wait and --watch exclude each other: --watch waits as well")
			}
			return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error { return a.start(ctx, c, args[0], s) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.params, "params", "", "the params: JSON, @file, or - for stdin (default {})")
	f.StringArrayVar(&s.pairs, "param", nil, "one field of the params, name=value; may be repeated")
	f.StringVar(&s.key, "key", "", "idempotency key: the same key of the same flow again, within a week, is the same run")
	f.StringVar(&s.priority, "priority", "", "P0 (most urgent) to P5 (default P2)")
	f.StringVar(&s.queue, "queue", "", "the run's queue (default \"default\")")
	f.StringArrayVar(&s.tags, "tag", nil, "a tag, name=value; may be repeated")
	f.DurationVar(&s.delay, "delay", 0, "nothing of the run starts before")
	f.BoolVar(&s.wait, "wait", false, "wait for the run's end; exit code 3 unless it succeeds")
	f.BoolVar(&s.watch, "watch", false, "show the run's progress until its end; exit code 3 unless it succeeds")
	f.DurationVar(&s.timeout, "timeout", 0, "wait no longer than this; exit code 4 when it is over (the run goes on)")
	f.BoolVar(&s.json, "json", false, "answer in JSON")
	return cmd
}

func (a *app) start(ctx context.Context, c *control.Client, name string, s starting) error {
	v, start, err := a.prepare(ctx, c, name, s)
	if err != nil {
		return err
	}
	// In a transaction, whose commit tells the engine: this process may be gone before it could.
	var started []control.Started
	err = pgx.BeginFunc(ctx, c.Pool(), func(tx pgx.Tx) (err error) {
		started, err = c.StartTx(ctx, tx, control.Batch{Trigger: "cli", Delay: s.delay}, []control.Start{start})
		return err
	})
	if err != nil {
		return err
	}
	run := started[0]
	if !s.json {
		verb := "started"
		if run.Existing {
			verb = "started before with this key:"
		}
		a.say("%s run %s of %s", verb, run.Run, name)
	}
	if lacks, err := a.idle(ctx, c, v); err != nil {
		return err
	} else if lacks != "" {
		a.complain("note: %s", lacks)
	}
	state := stage.RunRunning
	if s.wait || s.watch {
		state, err = a.await(ctx, c, run.Run, s)
	}
	if s.json {
		if err := a.jsonOf(startedAnswer{run.Run, name, v.Hash, state.String(), run.Existing}); err != nil {
			return err
		}
	} else if s.wait && err == nil {
		a.say("run %s has %s", run.Run, state)
	}
	if err != nil {
		return err
	}
	return a.verdict(run.Run, state)
}

// startedAnswer is what `run start --json` answers.
type startedAnswer struct {
	Run      uuid.UUID `json:"run"`
	Flow     string    `json:"flow"`
	Version  string    `json:"version"`
	State    string    `json:"state"`
	Existing bool      `json:"existing"`
}

func (a *app) prepare(ctx context.Context, c *control.Client, name string, s starting) (*versions.Version, control.Start, error) {
	start := control.Start{Key: s.key, Queue: s.queue}
	if s.priority != "" {
		level, err := stage.ParseLevel(s.priority)
		if err != nil {
			return nil, start, usageError{err}
		}
		start.Level = &level
	}
	if s.delay < 0 || s.timeout < 0 {
		return nil, start, usagef("--delay and --timeout cannot be negative")
	}
	var err error
	if start.Tags, err = readTags(s.tags); err != nil {
		return nil, start, err
	}
	v, check, err := a.version(ctx, c, name)
	if err != nil {
		return nil, start, err
	}
	if start.Params, err = readParams(s.params, s.pairs, a.Stdin, v.Graph.ParamsSchema); err != nil {
		return nil, start, err
	}
	if err := check(start.Params); err != nil {
		return nil, start, usageError{err}
	}
	start.Version = v
	return v, start, nil
}

// await waits for the run's end, showing its progress or not.
func (a *app) await(ctx context.Context, c *control.Client, id uuid.UUID, s starting) (stage.RunState, error) {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	if s.watch {
		out := a.Stdout
		if s.json {
			out = a.Stderr
		}
		p, err := watch.Follow(ctx, watch.Config{Source: watch.Client(c), Run: id, Console: watch.NewConsole(watch.Detect(out, a.Getenv)), Detached: a.detached(id)})
		return p.State, err
	}
	state, err := c.Wait(ctx, id)
	if ctx.Err() != nil {
		a.complain("%s", a.detached(id))
		return stage.RunRunning, watch.ErrDetached
	}
	return state, err
}

func (a *app) detached(id uuid.UUID) string {
	return fmt.Sprintf("stopped watching; run %s goes on\n  look again: %s run watch %s\n  end it:     %s run cancel %s", id, a.Name, id, a.Name, id)
}

// verdict is the exit code of a run that was waited for.
func (a *app) verdict(id uuid.UUID, state stage.RunState) error {
	if state == stage.RunFailed || state == stage.RunCancelled {
		return coded{ExitRunEnded, fmt.Sprintf("run %s has %s: `%s run show %s` says why", id, past(state), a.Name, id)}
	}
	return nil
}

func past(state stage.RunState) string {
	if state == stage.RunCancelled {
		return "been cancelled"
	}
	return state.String()
}

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/internal/watch"
)

// deadFlags are the flags that pick dead letters.
type deadFlags struct {
	flow, stage, fingerprint, code, run, since, until string
}

func (f *deadFlags) add(cmd *cobra.Command) {
	l := cmd.Flags()
	l.StringVar(&f.flow, "flow", "", "only of this flow")
	l.StringVar(&f.stage, "stage", "", "only of this stage")
	l.StringVar(&f.fingerprint, "fingerprint", "", "only of this error, as `dlq list` shows it")
	l.StringVar(&f.code, "code", "", "only of errors with this code")
	l.StringVar(&f.run, "run", "", "only of this run")
	l.StringVar(&f.since, "since", "", "only what died at or after this time (2026-01-31, 2026-01-31T08:00:00Z, or an age such as 2h)")
	l.StringVar(&f.until, "until", "", "only what died before this time")
}

func (f *deadFlags) given() bool { return *f != deadFlags{} }

func (f *deadFlags) read(ctx context.Context, c *control.Client, most int) (control.DeadFilter, error) {
	out := control.DeadFilter{Flow: f.flow, Stage: f.stage, Fingerprint: f.fingerprint, Code: f.code, Most: most}
	var err error
	if f.run != "" {
		if out.Run, err = findRun(ctx, c, f.run); err != nil {
			return out, err
		}
	}
	if out.Since, err = readTime("--since", f.since, time.Now()); err != nil {
		return out, err
	}
	out.Until, err = readTime("--until", f.until, time.Now())
	return out, err
}

func (a *app) dlqCommand() *cobra.Command {
	return a.group("dlq", "Dead letters: work that is out of attempts",
		a.deadListCommand(), a.deadShowCommand(), a.deadReplayCommand(), a.deadDiscardCommand(),
		a.listing("jobs", "List replays, the newest first", "nothing has been replayed by filter", nil, listReplays),
		a.cancelReplayCommand())
}

// listedGroup is a group of dead letters in JSON.
type listedGroup struct {
	Flow        string    `json:"flow"`
	Stage       string    `json:"stage"`
	Fingerprint string    `json:"fingerprint"`
	Count       int       `json:"count"`
	Runs        int       `json:"runs"`
	Code        string    `json:"code"`
	Error       string    `json:"error"`
	Run         uuid.UUID `json:"example_run"`
	Index       int       `json:"example_index"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
}

func (a *app) deadListCommand() *cobra.Command {
	var flags deadFlags
	var most int
	return a.listing("list", "List dead letters by flow, stage and error", "there are no dead letters", func(cmd *cobra.Command) {
		flags.add(cmd)
		cmd.Flags().IntVar(&most, "limit", 100, "how many groups at most")
	}, func(ctx context.Context, c *control.Client) (table, any, error) {
		f, err := flags.read(ctx, c, most)
		if err != nil {
			return nil, nil, err
		}
		groups, err := c.DeadLetters(ctx, f)
		if err != nil {
			return nil, nil, err
		}
		t := table{{"FLOW", "STAGE", "FINGERPRINT", "TASKS", "RUNS", "LAST", "ERROR"}}
		list := make([]listedGroup, 0, len(groups))
		for _, g := range groups {
			list = append(list, listedGroup{g.Flow, g.Stage, g.Fingerprint, g.Count, g.Runs, g.Example.Code, g.Example.Message, g.ExampleRun, g.ExampleIndex, g.First, g.Last})
			t = append(t, []string{g.Flow, g.Stage, g.Fingerprint, fmt.Sprint(g.Count), fmt.Sprint(g.Runs), age(&g.Last), oneLine(g.Example.Message)})
		}
		return t, list, nil
	})
}

func (a *app) deadShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "show RUN STAGE [SHARD]", Short: "Show every attempt of one task, with its errors",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return takes("RUN", "STAGE", "SHARD")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			index := 0
			if len(args) == 3 {
				var err error
				if index, err = strconv.Atoi(args[2]); err != nil {
					return usagef("%q is no shard: give its number, or -1 for the plan", args[2])
				}
			}
			return a.withRun(cmd, args, func(ctx context.Context, c *control.Client, id uuid.UUID) error {
				x, err := c.Inspect(ctx, id, args[1], index)
				if err != nil {
					return a.withStages(ctx, c, id, err)
				}
				if asJSON {
					return a.jsonOf(inspectedTask(x))
				}
				return a.inspected(x)
			})
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	return cmd
}

// shownTask is what `dlq show --json` answers.
type shownTask struct {
	Run        uuid.UUID      `json:"run"`
	Stage      string         `json:"stage"`
	Index      int            `json:"index"`
	Generation int            `json:"generation"`
	Where      string         `json:"where"`
	Parked     string         `json:"parked,omitempty"`
	NotBefore  *time.Time     `json:"not_before,omitempty"`
	Attempts   []shownAttempt `json:"attempts"`
}

// shownAttempt is one execution of it.
type shownAttempt struct {
	Generation   int             `json:"generation"`
	Attempt      int             `json:"attempt"`
	Delivery     int             `json:"delivery"`
	Outcome      string          `json:"outcome"`
	Worker       uuid.UUID       `json:"worker"`
	Execution    uuid.UUID       `json:"execution"`
	ReadyAt      time.Time       `json:"ready_at"`
	DispatchedAt time.Time       `json:"dispatched_at"`
	StartedAt    time.Time       `json:"started_at"`
	FinishedAt   time.Time       `json:"finished_at"`
	Error        control.Failure `json:"error"`
	Output       json.RawMessage `json:"output,omitempty"`
}

func inspectedTask(x control.Inspection) shownTask {
	t := shownTask{Run: x.Run, Stage: x.Stage, Index: x.Index, Generation: x.Generation, Where: x.Where, Parked: x.Parked, NotBefore: x.NotBefore,
		Attempts: make([]shownAttempt, 0, len(x.Attempts))}
	for _, y := range x.Attempts {
		t.Attempts = append(t.Attempts, shownAttempt{y.Generation, y.Attempt, y.Delivery, y.Outcome.String(), y.Worker, y.Execution,
			y.ReadyAt, y.DispatchedAt, y.StartedAt, y.FinishedAt, y.Failure, y.Output})
	}
	return t
}

func (a *app) inspected(x control.Inspection) error {
	where := x.Where
	switch {
	case where == "":
		where = "waiting"
	case x.Parked != "":
		where = x.Parked
	}
	a.say("run %s stage %s index %d, generation %d: %s", x.Run, x.Stage, x.Index, x.Generation, where)
	if x.NotBefore != nil {
		a.say("due at %s", clockTime(*x.NotBefore))
	}
	if len(x.Attempts) == 0 {
		a.say("it has not run yet")
		return nil
	}
	t := table{{"GENERATION", "ATTEMPT", "OUTCOME", "STARTED", "TOOK", "WAITED", "WORKER", "ERROR"}}
	for _, y := range x.Attempts {
		attempt, worker := fmt.Sprint(y.Attempt), y.Worker.String()
		if y.Delivery > 1 {
			attempt += fmt.Sprintf(" (delivery %d)", y.Delivery)
		}
		if y.Worker == uuid.Nil {
			worker = "an operator"
		}
		t = append(t, []string{fmt.Sprint(y.Generation), attempt, y.Outcome.String(), clockTime(y.StartedAt), watch.Duration(y.FinishedAt.Sub(y.StartedAt)),
			watch.Duration(max(0, y.StartedAt.Sub(y.ReadyAt))), worker, oneLine(y.Failure.Message)})
	}
	if err := t.write(a.Stdout); err != nil {
		return err
	}
	if last := x.Attempts[len(x.Attempts)-1].Failure; last.Message != "" {
		a.say("\nlast error (%s):\n%s", last.Code, last.Message)
		if last.Stack != "" {
			a.say("\n%s", last.Stack)
		}
	}
	return nil
}

func (a *app) deadReplayCommand() *cobra.Command {
	var flags deadFlags
	var options control.ReplayOptions
	var who control.Who
	var asJSON bool
	cmd := &cobra.Command{Use: "replay", Short: "Have dead letters run again: throttled, and after a canary if asked for", Args: takes(),
		Long: "Have dead letters run again, as many further attempts as their stage's policy has.\n\nThe leader carries it out: --per-second throttles it, " +
			"--canary replays a few first and stops if one of them dies again. To replay one run or some of its shards at once, use `run retry`.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !flags.given() {
				return usagef("say what to replay: --flow, --stage, --fingerprint, --code, --run, --since or --until; `dlq list` shows what there is")
			}
			who.Actor = actor()
			return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				f, err := flags.read(ctx, c, 0)
				if err != nil {
					return err
				}
				job, err := c.ReplayWhere(ctx, f, options, who)
				if err != nil {
					return err
				}
				switch {
				case asJSON:
					return a.jsonOf(listedReplay(job))
				case who.DryRun:
					a.say("dry run: nothing was changed; it would replay %d tasks", job.Total)
				default:
					a.say("replay %s: %d tasks run again; `%s dlq jobs` shows how far it is", job.ID, job.Total, a.Name)
				}
				return nil
			})
		}}
	flags.add(cmd)
	addWho(cmd, &who)
	cmd.Flags().Float64Var(&options.PerSecond, "per-second", 0, "tasks a second that run again (default: as fast as it goes)")
	cmd.Flags().IntVar(&options.Canary, "canary", 0, "tasks that run again first; the rest follows when all of them have succeeded")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	return cmd
}

func (a *app) deadDiscardCommand() *cobra.Command {
	var flags deadFlags
	var who control.Who
	var asJSON bool
	cmd := &cobra.Command{Use: "discard", Short: "Give dead letters up: they stay failed and are listed no more", Args: takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !flags.given() {
				return usagef("say what to discard: --flow, --stage, --fingerprint, --code, --run, --since or --until; `dlq list` shows what there is")
			}
			who.Actor = actor()
			return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				f, err := flags.read(ctx, c, 0)
				if err != nil {
					return err
				}
				sweep, err := c.DiscardWhere(ctx, f, who)
				if err != nil {
					return err
				}
				return a.swept(sweep, who.DryRun, asJSON)
			})
		}}
	flags.add(cmd)
	addWho(cmd, &who)
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	return cmd
}

// replayed is one replay in JSON.
type replayed struct {
	Replay     uuid.UUID          `json:"replay"`
	State      string             `json:"state"`
	Filter     control.DeadFilter `json:"filter"`
	PerSecond  float64            `json:"per_second,omitempty"`
	Canary     int                `json:"canary,omitempty"`
	Total      int                `json:"total"`
	Moved      int                `json:"moved"`
	Failed     int                `json:"canary_failed"`
	Note       string             `json:"note,omitempty"`
	Actor      string             `json:"actor"`
	Reason     string             `json:"reason,omitempty"`
	CreatedAt  time.Time          `json:"created_at"`
	FinishedAt *time.Time         `json:"finished_at,omitempty"`
}

func listedReplay(j control.ReplayJob) replayed {
	return replayed{j.ID, j.State, j.Filter, j.Options.PerSecond, j.Options.Canary, j.Total, j.Moved, j.Failed, j.Note, j.Actor, j.Reason, j.CreatedAt, j.FinishedAt}
}

func listReplays(ctx context.Context, c *control.Client) (table, any, error) {
	jobs, err := c.Replays(ctx, uuid.Nil, 100)
	if err != nil {
		return nil, nil, err
	}
	t := table{{"REPLAY", "STATE", "TASKS", "MOVED", "CANARY FAILED", "STARTED", "BY", "NOTE"}}
	list := make([]replayed, 0, len(jobs))
	for _, j := range jobs {
		list = append(list, listedReplay(j))
		by := j.Actor
		if j.Reason != "" {
			by += ": " + j.Reason
		}
		t = append(t, []string{j.ID.String(), j.State, fmt.Sprint(j.Total), fmt.Sprint(j.Moved), fmt.Sprint(j.Failed), age(&j.CreatedAt), by, j.Note})
	}
	return t, list, nil
}

func (a *app) cancelReplayCommand() *cobra.Command {
	var who control.Who
	cmd := &cobra.Command{Use: "cancel REPLAY", Short: "End a replay; what it has moved goes on", Args: takes("REPLAY"), RunE: func(cmd *cobra.Command, args []string) error {
		id, err := uuid.Parse(args[0])
		if err != nil {
			return usagef("%q is no replay's id: `dlq jobs` shows them", args[0])
		}
		who.Actor = actor()
		return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
			if _, err := c.CancelReplay(ctx, id, who); err != nil {
				return err
			}
			a.say("replay %s is cancelled", id)
			return nil
		})
	}}
	cmd.Flags().StringVar(&who.Reason, "reason", "", "why; the audit keeps it")
	return cmd
}

package cli

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/engine/control"
	"axflow/internal/watch"
	"axflow/stage"
)

// maxList is the most runs that one list holds.
const maxList = 1000

// listedRun is one run in `run list --json`.
type listedRun struct {
	Run        uuid.UUID  `json:"run"`
	Flow       string     `json:"flow"`
	State      string     `json:"state"`
	Priority   string     `json:"priority"`
	Trigger    string     `json:"trigger"`
	CreatedAt  time.Time  `json:"created_at"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
	Stuck      string     `json:"stuck,omitempty"`
}

func (a *app) listCommand() *cobra.Command {
	var name, before string
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, the newest first",
		Args:  takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 || limit > maxList {
				return usagef("--limit %d is outside 1..%d: page on with --before RUN", limit, maxList)
			}
			return a.withClient(cmd.Context(), func(ctx context.Context, c *control.Client) error {
				last := uuid.Nil
				if before != "" {
					var err error
					if last, err = findRun(ctx, c, before); err != nil {
						return err
					}
				}
				rows, err := c.Runs(ctx, name, last, limit)
				if err != nil {
					return err
				}
				runs := make([]listedRun, len(rows))
				for i, r := range rows {
					runs[i] = listedRun{Run: r.RunID, Flow: r.Flow, State: stage.RunState(r.State).String(), Priority: levelName(r.Level),
						Trigger: r.Trigger, CreatedAt: r.CreatedAt, FinishedAt: r.FinishedAt}
					if r.Stuck != nil {
						runs[i].Stuck = *r.Stuck
					}
				}
				if asJSON {
					return a.jsonOf(runs)
				}
				return a.list(runs, name)
			})
		},
	}
	cmd.Flags().StringVar(&name, "flow", "", "only runs of this flow")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many at most")
	cmd.Flags().StringVar(&before, "before", "", "only runs older than this one, for the next page")
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	return cmd
}

func (a *app) list(runs []listedRun, name string) error {
	if len(runs) == 0 {
		of := ""
		if name != "" {
			of = " of flow " + name
		}
		a.say("no runs%s in namespace %s: `%s run start FLOW` starts one", of, a.flags.namespace, a.Name)
		return nil
	}
	t := table{{"RUN", "FLOW", "STATE", "PRIORITY", "TRIGGER", "STARTED", "TOOK"}}
	for _, r := range runs {
		took := ""
		if r.FinishedAt != nil {
			took = watch.Duration(r.FinishedAt.Sub(r.CreatedAt))
		}
		state := r.State
		if r.Stuck != "" {
			state += " (stuck: " + r.Stuck + ")"
		}
		t = append(t, []string{r.Run.String(), r.Flow, state, r.Priority, r.Trigger, clockTime(r.CreatedAt), took})
	}
	return t.write(a.Stdout)
}

func levelName(level int16) string { return stage.Level(level).String() }

func clockTime(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
)

func (a *app) showCommand() *cobra.Command {
	var asJSON bool
	var errorsMost int
	cmd := &cobra.Command{
		Use:   "show RUN [STAGE]",
		Short: "Show a run: its stages, what each has done, and the last errors; or one stage with its durations",
		Args: func(cmd *cobra.Command, args []string) error {
			if errorsMost < 0 || errorsMost > maxPage {
				return usagef("--errors %d is outside 0..%d", errorsMost, maxPage)
			}
			if len(args) == 2 {
				return nil
			}
			return takes("RUN")(cmd, args)
		},
		ValidArgsFunction: a.completing(nth(recentRuns, stagesOf)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withRun(cmd, args[0], func(ctx context.Context, s *session, id uuid.UUID) error {
				if len(args) == 2 {
					return a.showStage(ctx, s, id, args[1], asJSON)
				}
				r, err := take(s.api.GetRunWithResponse(ctx, id))
				if err != nil {
					return a.noStage(ctx, s, id, "", err)
				}
				if asJSON {
					return a.json(r.raw)
				}
				return a.showRun(ctx, s, r.is, errorsMost)
			})
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().IntVar(&errorsMost, "errors", 5, "how many of the last errors")
	return cmd
}

// maxShownParams bounds the params in the text; `run params` has all.
const maxShownParams = 400

func (a *app) showRun(ctx context.Context, s *session, d *gen.RunDetail, errorsMost int) error {
	r := d.Run
	a.fact("run", r.Id.String())
	a.fact("flow", r.Flow+", version "+r.Version)
	a.fact("state", string(r.State))
	a.fact("stuck", value(r.Stuck))
	for _, h := range d.Holds {
		a.fact("paused", watch.Held(string(h.Kind), h.Actor, value(h.Reason)))
	}
	a.fact("level", fmt.Sprintf("%s, queue %s, started by %s", r.Level, r.Queue, r.Trigger))
	if r.FinishedAt != nil {
		a.fact("started", fmt.Sprintf("%s, took %s", clockTime(r.CreatedAt), watch.Duration(r.FinishedAt.Sub(r.CreatedAt))))
	} else {
		a.fact("started", fmt.Sprintf("%s, %s ago", clockTime(r.CreatedAt), watch.Duration(d.At.Sub(r.CreatedAt))))
	}
	switch {
	case value(r.Late):
		a.fact("late", "since "+clockTime(value(r.LateAt)))
	case r.LateAt != nil && r.FinishedAt == nil:
		a.fact("late", "from "+clockTime(*r.LateAt)+" on")
	}
	if r.Parent != nil {
		a.fact("parent", fmt.Sprintf("run %s, stage %s, shard %d", r.Parent.Run, r.Parent.Stage, r.Parent.Shard))
	}
	if p, err := take(s.api.GetRunParamsWithResponse(ctx, r.Id)); err == nil { // not everybody may see them
		a.fact("params", shorten(oneLineJSON(*p.is), maxShownParams))
	}
	a.fact("tags", tagText(r.Tags))
	a.say("")
	if err := stageTable(d.Stages, d.At).write(a.Stdout); err != nil {
		return err
	}
	if errorsMost == 0 {
		return nil
	}
	f, err := take(s.api.ListFailuresWithResponse(ctx, r.Id, &gen.ListFailuresParams{Limit: &errorsMost}))
	if err != nil {
		return err
	}
	if len(f.is.Items) > 0 {
		a.say("\nlast errors, the newest first")
	}
	for _, x := range f.is.Items {
		a.say("  %s", failureLine(x, sharded(d, x.Stage), d.At))
	}
	return nil
}

// fact writes a name and what it is, unless that is nothing.
func (a *app) fact(name, is string) {
	if is != "" {
		a.say("%-10s%s", name, is)
	}
}

// sharded tells whether a stage is.
func sharded(d *gen.RunDetail, stage string) bool {
	for _, x := range d.Stages {
		if x.Name == stage {
			return x.Kind == gen.StageKindSharded
		}
	}
	return false
}

func stageTable(stages []gen.StageStatus, now time.Time) table {
	t := table{{"STAGE", "STATE", "DONE", "FAILED", "READY", "RUNNING", "PARKED", "TOOK", "REASON"}}
	for _, x := range stages {
		done := ""
		if x.Total >= 0 {
			done = watch.Count(x.Succeeded) + "/" + watch.Count(x.Total)
		}
		// What became ready at all has a time; of the rest the reason tells why it did not. The reason of what did
		// only says that it could.
		took, reason := "", ""
		if x.State == gen.StageStateSkipped || x.State == gen.StageStateUpstreamFailed {
			reason = value(x.Reason)
		} else if x.ReadyAt != nil {
			end := now
			if x.FinishedAt != nil {
				end = *x.FinishedAt
			}
			took = watch.Duration(end.Sub(*x.ReadyAt))
		}
		t = append(t, []string{x.Name, words(string(x.State)), done, some(x.Dead), some(x.Ready), some(x.InFlight), some(x.Parked), took, reason})
	}
	return t
}

// some leaves zero out: a table of zeros hides the numbers.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return watch.Count(n)
}

// failureLine tells a failed attempt.
func failureLine(x gen.Attempt, sharded bool, now time.Time) string {
	what := x.Stage
	switch {
	case x.Shard < 0:
		what += " (its plan)"
	case sharded:
		what += fmt.Sprintf("[%d]", x.Shard)
	}
	text := "no message"
	if x.Failure != nil {
		text = x.Failure.Message
		if x.Failure.Code != "" {
			text += " (" + x.Failure.Code + ")"
		}
	}
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ")
	return fmt.Sprintf("%s, attempt %d, %s %s ago: %s", what, x.Attempt, words(string(x.Outcome)), watch.Duration(now.Sub(x.FinishedAt)), text)
}

func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return fmt.Sprintf("%s... (%d bytes; `run params` has all)", text[:most], len(text))
}

func tagText(tags map[string]string) string {
	pairs := make([]string, 0, len(tags))
	for k, v := range tags {
		pairs = append(pairs, k+"="+v)
	}
	sort.Strings(pairs)
	return strings.Join(pairs, " ")
}

// oneLineJSON writes JSON without its line breaks.
func oneLineJSON(raw []byte) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	if short, err := json.Marshal(v); err == nil {
		return string(short)
	}
	return string(raw)
}

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

	"axflow/engine/control"
	"axflow/internal/watch"
	"axflow/sql/db"
	"axflow/stage"
)

// shownRun is what `run show --json` answers.
type shownRun struct {
	Run        uuid.UUID         `json:"run"`
	Flow       string            `json:"flow"`
	Version    string            `json:"version"`
	State      string            `json:"state"`
	Stuck      string            `json:"stuck,omitempty"`
	Priority   string            `json:"priority"`
	Queue      string            `json:"queue"`
	Trigger    string            `json:"trigger"`
	CreatedAt  time.Time         `json:"created_at"`
	FinishedAt *time.Time        `json:"finished_at,omitempty"`
	Params     json.RawMessage   `json:"params"`
	Tags       map[string]string `json:"tags,omitempty"`
	Error      string            `json:"error,omitempty"`
	Stages     []shownStage      `json:"stages"`
	Errors     []shownError      `json:"errors"`
}

// shownStage is one stage of it; total is -1 while its shards are not known.
type shownStage struct {
	Name       string     `json:"name"`
	State      string     `json:"state"`
	Reason     string     `json:"reason,omitempty"`
	Generation int        `json:"generation"`
	Total      int        `json:"total"`
	Succeeded  int        `json:"succeeded"`
	Failed     int        `json:"failed"`
	Ready      int        `json:"ready"`
	InFlight   int        `json:"in_flight"`
	Parked     int        `json:"parked"`
	ReadyAt    *time.Time `json:"ready_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// shownError is one failed attempt; shard -1 is the plan.
type shownError struct {
	Stage      string    `json:"stage"`
	Shard      int       `json:"shard"`
	Generation int       `json:"generation"`
	Attempt    int       `json:"attempt"`
	Outcome    string    `json:"outcome"`
	FinishedAt time.Time `json:"finished_at"`
	Error      string    `json:"error"`
	sharded    bool
}

func (a *app) showCommand() *cobra.Command {
	var asJSON bool
	var errorsMost int
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show a run: its stages, what each has done, and the last errors",
		Args:  takes("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if errorsMost < 0 || errorsMost > maxList {
				return usagef("--errors %d is outside 0..%d", errorsMost, maxList)
			}
			return a.withRun(cmd, args, func(ctx context.Context, c *control.Client, id uuid.UUID) error {
				p, err := c.Progress(ctx, id)
				if err != nil {
					return err
				}
				failures, err := c.Failures(ctx, id, errorsMost)
				if err != nil {
					return err
				}
				s := shown(&p, failures)
				if asJSON {
					return a.jsonOf(s)
				}
				return a.show(&s, p.At)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer in JSON")
	cmd.Flags().IntVar(&errorsMost, "errors", 5, "how many of the last errors")
	return cmd
}

func shown(p *control.Progress, failures []db.LastErrorsRow) shownRun {
	s := shownRun{Run: p.Run.RunID, Flow: p.Run.Flow, Version: p.Version.Hash, State: p.State.String(), Priority: levelName(p.Run.Level),
		Queue: p.Run.Queue, Trigger: p.Run.Trigger, CreatedAt: p.Run.CreatedAt, FinishedAt: p.Run.FinishedAt, Params: p.Run.Params,
		Error: errorText(p.Run.Error), Stages: []shownStage{}, Errors: []shownError{}}
	if !json.Valid(s.Params) {
		s.Params = json.RawMessage("null")
	}
	if p.Run.Stuck != nil {
		s.Stuck = *p.Run.Stuck
	}
	_ = json.Unmarshal(p.Run.Tags, &s.Tags) // stored from a map of strings
	for _, x := range p.Stages {
		s.Stages = append(s.Stages, shownStage{Name: x.Name, State: x.State.String(), Reason: x.Reason, Generation: x.Generation, Total: x.Total,
			Succeeded: x.Succeeded, Failed: x.Dead, Ready: x.Ready, InFlight: x.InFlight, Parked: x.Parked, ReadyAt: x.ReadyAt, FinishedAt: x.FinishedAt})
	}
	for _, f := range failures {
		spec := &p.Version.Graph.Stages[f.Ord]
		s.Errors = append(s.Errors, shownError{Stage: spec.Name, Shard: int(f.Shard), Generation: int(f.Generation), Attempt: int(f.Attempt),
			Outcome: stage.Outcome(f.Outcome).String(), FinishedAt: f.FinishedAt, Error: errorText(f.Error), sharded: spec.Kind != stage.Single})
	}
	return s
}

// errorText reads a stored error for people: an object's message with its code, else the text itself.
func errorText(raw []byte) string {
	var object struct{ Code, Message string }
	if json.Unmarshal(raw, &object) != nil || object.Message == "" {
		return strings.ToValidUTF8(string(raw), "�")
	}
	if object.Code != "" {
		return object.Message + " (" + object.Code + ")"
	}
	return object.Message
}

// maxShownParams bounds the params in the text; --json has all.
const maxShownParams = 400

func (a *app) show(s *shownRun, now time.Time) error {
	fact := func(name, value string) {
		if value != "" {
			a.say("%-10s%s", name, value)
		}
	}
	fact("run", s.Run.String())
	fact("flow", s.Flow+", version "+s.Version)
	fact("state", s.State)
	fact("stuck", s.Stuck)
	fact("error", s.Error)
	fact("priority", fmt.Sprintf("%s, queue %s, started by %s", s.Priority, s.Queue, s.Trigger))
	if s.FinishedAt != nil {
		fact("started", fmt.Sprintf("%s, took %s", clockTime(s.CreatedAt), watch.Duration(s.FinishedAt.Sub(s.CreatedAt))))
	} else {
		fact("started", fmt.Sprintf("%s, %s ago", clockTime(s.CreatedAt), watch.Duration(now.Sub(s.CreatedAt))))
	}
	fact("params", shorten(string(s.Params), maxShownParams))
	fact("tags", tagText(s.Tags))
	a.say("")
	if err := stageTable(s.Stages, now).write(a.Stdout); err != nil {
		return err
	}
	if len(s.Errors) > 0 {
		a.say("\nlast errors, the newest first")
	}
	for _, e := range s.Errors {
		a.say("  %s", e.line(now))
	}
	return nil
}

func stageTable(stages []shownStage, now time.Time) table {
	t := table{{"STAGE", "STATE", "DONE", "FAILED", "READY", "RUNNING", "PARKED", "TOOK", "REASON"}}
	for _, x := range stages {
		done := ""
		if x.Total >= 0 {
			done = watch.Count(x.Succeeded) + "/" + watch.Count(x.Total)
		}
		// What became ready at all has a time; of the rest the reason tells why it did not. The reason of what did
		// only says that it could.
		passedOver := x.State == stage.StageSkipped.String() || x.State == stage.StageUpstreamFailed.String()
		took, reason := "", ""
		if passedOver {
			reason = x.Reason
		} else if x.ReadyAt != nil {
			end := now
			if x.FinishedAt != nil {
				end = *x.FinishedAt
			}
			took = watch.Duration(end.Sub(*x.ReadyAt))
		}
		t = append(t, []string{x.Name, strings.ReplaceAll(x.State, "_", " "), done, some(x.Failed), some(x.Ready), some(x.InFlight), some(x.Parked),
			took, reason})
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

func (e *shownError) line(now time.Time) string {
	what := e.Stage
	switch {
	case e.Shard < 0:
		what += " (its plan)"
	case e.sharded:
		what += fmt.Sprintf("[%d]", e.Shard)
	}
	text := strings.ReplaceAll(strings.TrimSpace(e.Error), "\n", "\n      ")
	return fmt.Sprintf("%s, attempt %d, %s %s ago: %s", what, e.Attempt, strings.ReplaceAll(e.Outcome, "_", " "), watch.Duration(now.Sub(e.FinishedAt)), text)
}

func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return fmt.Sprintf("%s... (%d bytes; --json has all)", text[:most], len(text))
}

func tagText(tags map[string]string) string {
	pairs := make([]string, 0, len(tags))
	for k, v := range tags {
		pairs = append(pairs, k+"="+v)
	}
	sort.Strings(pairs)
	return strings.Join(pairs, " ")
}

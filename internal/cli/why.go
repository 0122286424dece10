package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/engine/explain"
	"axflow/internal/watch"
	"axflow/sql/span"
)

func (a *app) whyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why RUN[/STAGE[/SHARD]]",
		Short: "Say why a run, a stage or a shard is not running, or why it ran",
		Long: "Say why a run, a stage or a shard is not running, or why it ran and how often.\n\n" +
			"The first line is the diagnosis, the next what can be done; then come the gates that it has to pass, with their numbers.\n" +
			"SHARD is an index from 0 on, or \"plan\" for the task that computes a stage's shards.",
		Args: takes("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, p, err := readTarget(args[0])
			if err != nil {
				return err
			}
			return a.withRun(cmd, run, func(ctx context.Context, s *session, id uuid.UUID) error {
				r, err := take(s.api.ExplainRunWithResponse(ctx, id, &p))
				if err != nil {
					return a.noStage(ctx, s, id, value(p.Stage), err)
				}
				if asJSON {
					return a.json(r.raw)
				}
				a.why(r.is)
				return nil
			})
		},
		ValidArgsFunction: a.completing(nth(recentRuns)),
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// readTarget reads RUN, RUN/STAGE or RUN/STAGE/SHARD.
func readTarget(text string) (run string, p gen.ExplainRunParams, err error) {
	parts := strings.Split(text, "/")
	if len(parts) > 3 {
		return "", p, usagef("%q is neither RUN nor RUN/STAGE nor RUN/STAGE/SHARD", text)
	}
	if len(parts) > 1 {
		p.Stage = &parts[1]
		if parts[1] == "" {
			return "", p, usagef("%q names no stage after the slash", text)
		}
	}
	if len(parts) > 2 {
		index := span.PlanIndex
		if parts[2] != "plan" {
			if index, err = strconv.Atoi(parts[2]); err != nil || index < 0 {
				return "", p, usagef("%q is no shard: give an index from 0 on, or plan", parts[2])
			}
		}
		p.Shard = &index
	}
	return parts[0], p, nil
}

// signs are how a terminal shows whether a gate is open.
type signs struct{ open, closed string }

func (a *app) signs() signs {
	if t := watch.Detect(a.Stdout, a.Getenv); t.ASCII || !t.Live {
		return signs{"ok", "--"}
	}
	return signs{"✓", "✗"}
}

// why writes a report for people.
func (a *app) why(r *explain.Report) {
	a.say("%s", r.Diagnosis)
	if r.Next != "" {
		a.say("next: %s", a.commands(r.Next))
	}
	s := a.signs()
	a.say("\n%s", title(r))
	a.gates(s, "  ", r.Gates, r.Stage != "")
	a.groups(s, "  ", r.Groups, true)
	for i := range r.Stages {
		st := &r.Stages[i]
		a.say("\n  %s, %s: %s", st.Stage, words(st.State), strings.TrimPrefix(st.Diagnosis, words(st.State)+": "))
		a.gates(s, "    ", without(st.Gates, r.Gates), false)
		if len(st.Groups) != 1 || st.Groups[0].Diagnosis != st.Diagnosis { // else it was said already
			a.groups(s, "    ", st.Groups, false)
		}
		a.child(s, "    ", st.Child)
	}
	if r.More > 0 {
		a.say("\n  and %s more stages", watch.Count(r.More))
	}
	a.child(s, "  ", r.Child)
	a.past(r)
}

// title names what the report is about.
func title(r *explain.Report) string {
	text := fmt.Sprintf("run %s of flow %s", r.Run, r.Flow)
	if r.Stage != "" {
		text = fmt.Sprintf("stage %s of %s", r.Stage, text)
	}
	if r.Shard != nil {
		what := fmt.Sprintf("shard %d", *r.Shard)
		if *r.Shard == span.PlanIndex {
			what = "the plan"
		}
		text = what + " of " + text
	}
	return text + ": " + words(r.State)
}

func words(state string) string { return strings.ReplaceAll(state, "_", " ") }

// commands names this program in the commands that a report suggests.
func (a *app) commands(text string) string { return strings.ReplaceAll(text, "`ax ", "`"+a.Name+" ") }

// gates writes gates, the open ones only where all are asked for.
func (a *app) gates(s signs, indent string, gates []explain.Gate, all bool) {
	for _, g := range gates {
		sign := s.closed
		if g.Open {
			if !all {
				continue
			}
			sign = s.open
		}
		age := ""
		if g.AgeS >= 5 { // what is younger than two heartbeats is news
			age = fmt.Sprintf(" (as of %.0f s ago)", g.AgeS)
		}
		a.say("%s%-2s %-12s %s%s", indent, sign, g.Name, g.Reason, age)
	}
}

// without leaves out the gates that were shown before.
func without(gates, shown []explain.Gate) []explain.Gate {
	var rest []explain.Gate
	for _, g := range gates {
		if !slices.ContainsFunc(shown, func(x explain.Gate) bool { return x.Name == g.Name && x.Reason == g.Reason }) {
			rest = append(rest, g)
		}
	}
	return rest
}

// plural writes "1 worker", "2 workers".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return watch.Count(n) + " " + what + "s"
}

// groups writes what has become of a stage's tasks.
func (a *app) groups(s signs, indent string, groups []explain.Group, all bool) {
	for _, g := range groups {
		shards := ""
		if g.Shards != "" && g.Tasks > 1 {
			shards = " [" + g.Shards + "]"
		}
		why := ""
		if g.Diagnosis != words(string(g.Fate)) {
			why = ": " + g.Diagnosis
		}
		a.say("%s%s %s%s%s", indent, watch.Count(g.Tasks), words(string(g.Fate)), shards, why)
		if all {
			a.gates(s, indent+"  ", g.Gates, true)
			if g.Next != "" {
				a.say("%s  next: %s", indent, a.commands(g.Next))
			}
		}
	}
}

// child writes the run that something waits for.
func (a *app) child(s signs, indent string, r *explain.Report) {
	if r == nil {
		return
	}
	a.say("%ssub-flow: %s: %s", indent, title(r), r.Diagnosis)
	a.gates(s, indent+"  ", r.Gates, false)
}

// past writes why and how often something ran, and what was done to it.
func (a *app) past(r *explain.Report) {
	p := r.Past
	if p == nil {
		return
	}
	a.say("")
	if p.Why != "" {
		a.say("why    %s", p.Why)
	}
	if p.Generation > 1 {
		a.say("rerun  this is generation %d", p.Generation)
	}
	if p.Results > 0 {
		some := ""
		if p.Partial {
			some = " (of those looked at)"
		}
		a.say("ran    %s by %s, up to attempt %d%s", plural(p.Results, "result"), plural(p.Workers, "worker"), p.Attempts, some)
	}
	for _, x := range p.Last {
		line := fmt.Sprintf("  attempt %d: %s after %s, %s", x.Attempt, words(x.Outcome), took(x.FinishedAt.Sub(x.StartedAt)), clockTime(x.FinishedAt))
		if x.Delivery > 1 {
			line += fmt.Sprintf(", handed out %d times", x.Delivery)
		}
		if x.Error != "" {
			line += ": " + x.Error
		}
		a.say("%s", line)
	}
	for _, x := range p.Acts {
		line := fmt.Sprintf("  %s %s by %s", clockTime(x.At), x.Kind, x.Actor)
		if x.Stage != "" {
			line += ", stage " + x.Stage
		}
		if x.Reason != "" {
			line += ": " + x.Reason
		}
		a.say("%s", line)
	}
}

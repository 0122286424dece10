package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axflow/api/gen"
	"axflow/internal/watch"
)

// logging is what `run logs` was asked.
type logging struct {
	stage, level, q string
	shard           string
	attempt, tail   int
	follow, json    bool
}

func (a *app) logsCommand() *cobra.Command {
	var l logging
	cmd := &cobra.Command{
		Use:   "logs RUN [STAGE]",
		Short: "Print what the handlers of a run logged, the oldest first",
		Long: "Print what the handlers of a run logged (by stage.Log), the oldest first. With -f it goes on until the run has ended and everything has been read;\n" +
			"Ctrl-C stops the reading, not the run. With --json each line is a JSON object.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return takes("RUN")(cmd, args)
		},
		ValidArgsFunction: a.completing(nth(recentRuns, stagesOf)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				if l.stage != "" && l.stage != args[1] {
					return usagef("the stage is both %q and %q", args[1], l.stage)
				}
				l.stage = args[1]
			}
			p, err := l.ask()
			if err != nil {
				return err
			}
			return a.withRun(cmd, args[0], func(ctx context.Context, s *session, id uuid.UUID) error { return a.logs(ctx, s, id, l, p) })
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&l.follow, "follow", "f", false, "go on with what comes, until the run has ended")
	f.StringVar(&l.stage, "stage", "", "only of this stage")
	f.StringVar(&l.shard, "shard", "", "only of this shard of the stage, or plan")
	f.IntVar(&l.attempt, "attempt", 0, "only of this attempt of the shard")
	f.StringVar(&l.level, "level", "", "only lines of this level or above: debug, info, warn, error")
	f.StringVar(&l.q, "grep", "", "only lines whose message or attributes hold this text")
	f.IntVar(&l.tail, "tail", 0, "begin with the newest so many lines (at most 1000)")
	f.BoolVar(&l.json, "json", false, "write each line as a JSON object")
	a.completeFlag(cmd, "level", fixed("debug", "info", "warn", "error"))
	a.completeFlag(cmd, "stage", stagesOf)
	return cmd
}

// ask makes the question of the first page.
func (l *logging) ask() (gen.ListLogsParams, error) {
	most := maxPage
	p := gen.ListLogsParams{Stage: opt(l.stage), Attempt: opt(l.attempt), Q: opt(l.q), Tail: opt(l.tail), Limit: &most}
	if l.level != "" {
		level := gen.ListLogsParamsLevel(strings.ToLower(l.level))
		if !level.Valid() {
			return p, usagef("--level %q is unknown: use debug, info, warn or error", l.level)
		}
		p.Level = &level
	}
	if l.shard != "" {
		index, err := shardIndex(l.shard)
		if err != nil {
			return p, err
		}
		p.Shard = &index
	}
	switch {
	case l.shard != "" && l.stage == "":
		return p, usagef("--shard needs a stage: shards are those of a stage")
	case l.attempt != 0 && l.shard == "":
		return p, usagef("--attempt needs --shard: attempts are those of a shard")
	case l.tail < 0 || l.tail > maxPage:
		return p, usagef("--tail %d is outside 1..%d", l.tail, maxPage)
	}
	return p, nil
}

// logs reads pages until there is no more, or with follow until the run has ended.
func (a *app) logs(ctx context.Context, s *session, id uuid.UUID, l logging, p gen.ListLogsParams) error {
	for said := false; ; {
		r, err := take(s.api.ListLogsWithResponse(ctx, id, &p))
		if ctx.Err() != nil && l.follow {
			a.complain("%s", a.detached(id))
			return watch.ErrDetached
		}
		if err != nil && l.follow && said {
			if err = pauseAfter(ctx, err); err == nil { // a passing fault of the server's
				continue
			}
		}
		if err != nil {
			return a.noStage(ctx, s, id, l.stage, err)
		}
		for _, x := range r.is.Items {
			if err := a.logLine(x, l.json); err != nil {
				return err
			}
		}
		said = true
		switch {
		case value(r.is.Ended), !l.follow && (len(r.is.Items) == 0 || l.tail > 0):
			return nil
		case l.follow && len(r.is.Items) == 0:
			patient := longWait
			p.WaitS = &patient
		}
		p.Cursor, p.Tail = &r.is.NextCursor, nil
	}
}

// levels are how a line's level is written.
var levels = map[gen.LogLineLevel]string{gen.LogLineLevelDebug: "DEBUG", gen.LogLineLevelInfo: "INFO", gen.LogLineLevelWarn: "WARN", gen.LogLineLevelError: "ERROR"}

func (a *app) logLine(x gen.LogLine, asJSON bool) error {
	if asJSON {
		return a.jsonLine(x)
	}
	where := x.Stage
	switch {
	case x.Shard < 0:
		where += "[plan]"
	case x.Shard > 0:
		where += fmt.Sprintf("[%d]", x.Shard)
	}
	if x.Attempt > 1 {
		where += fmt.Sprintf("#%d", x.Attempt)
	}
	line := fmt.Sprintf("%s %-5s %s  %s", x.At.Local().Format("15:04:05.000"), levels[x.Level], where, strings.ReplaceAll(x.Message, "\n", "\n    "))
	if attributes := attributeText(x.Attributes); attributes != "" {
		line += "  " + attributes
	}
	if n := value(x.Dropped); n > 0 {
		a.say("             ... %s dropped here: it logged faster than is kept", plural(n, "line"))
	}
	a.say("%s", harmless(line))
	return nil
}

// attributeText writes attributes as key=value.
func attributeText(attributes map[string]any) string {
	parts := make([]string, 0, len(attributes))
	for k, v := range attributes {
		text, ok := v.(string)
		if !ok || strings.ContainsAny(text, " \"=\n\t") {
			raw, err := json.Marshal(v)
			if err != nil {
				continue
			}
			text = string(raw)
		}
		parts = append(parts, k+"="+text)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// harmless takes out what would move a terminal's cursor or change its colours.
func harmless(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
			return -1
		}
		return c
	}, text)
}

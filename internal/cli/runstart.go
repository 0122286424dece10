package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axflow/api/gen"
	"axflow/stage"
)

// starting is what `run start` was asked.
type starting struct {
	params        string
	pairs, tags   []string
	key, level    string
	queue, at     string
	keyTTL, delay time.Duration
	dryRun        bool
	finishing     finishing
	fields        []field      // of the flow's params
	flags         []*paramFlag // that set them
	version       string       // that is built in; "": the newest
	flow          string       // once it is known that there is one
	clashes       []string
}

// add adds the flags of every start.
func (s *starting) add(f *pflag.FlagSet) {
	f.StringVar(&s.params, "params", "", "the params: JSON, @file, or - for stdin (default {})")
	f.StringArrayVar(&s.pairs, "param", nil, "one field of the params, name=value; may be repeated")
	f.StringVar(&s.key, "key", "", "idempotency key: the same key of the same flow again, while it binds, is the same run")
	f.DurationVar(&s.keyTTL, "key-ttl", 0, "how long the key binds (default a week)")
	f.StringVar(&s.level, "level", "", "P0 (most urgent) to P5 (default P2)")
	f.StringVar(&s.level, "priority", "", "the same as --level")
	f.StringVar(&s.queue, "queue", "", "the run's queue (default \"default\")")
	f.StringArrayVar(&s.tags, "tag", nil, "a tag, name=value; may be repeated")
	f.DurationVar(&s.delay, "delay", 0, "nothing of the run starts before")
	f.StringVar(&s.at, "at", "", "nothing of the run starts before this time (2026-01-31T08:00:00Z, or a day)")
	f.BoolVar(&s.dryRun, "dry-run", false, "check the flow, the version and the params, and start nothing")
	f.BoolVar(&s.finishing.wait, "wait", false, "wait for the run's end; exit code 3 unless it succeeds")
	f.BoolVar(&s.finishing.watch, "watch", false, "show the run's progress until its end; exit code 3 unless it succeeds")
	f.DurationVar(&s.finishing.timeout, "timeout", 0, "wait no longer than this; exit code 4 when it is over (the run goes on)")
	f.BoolVar(&s.finishing.json, "json", false, "answer in JSON, as the API does: what was started, or with --wait the run's result")
}

func (a *app) startCommand() *cobra.Command {
	s := &starting{}
	a.starting = s
	cmd := &cobra.Command{
		Use:   "start FLOW",
		Short: "Start a run of a flow",
		Long: "Start a run of a flow, of the version built into this program, else of the newest that a worker has registered.\n\n" +
			"Each field of the flow's params is a flag: `run start FLOW --help` lists them. Fields of nested objects have dots, lists are\n" +
			"repeated. A field that has the name of another flag is set by --param name=value. The params are checked against the flow's\n" +
			"schema before anything is stored.",
		Example: fmt.Sprintf("  %[1]s run start daily-recon --date 2026-03-01 --watch\n  %[1]s run start daily-recon --params @params.json --key 2026-03-01 --wait", a.Name),
		Args:    takes("FLOW"), ValidArgsFunction: a.completing(nth(flowNames)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(ctx context.Context, x *session) error { return a.start(ctx, x, args[0], s) })
		},
	}
	s.add(cmd.Flags())
	a.completeFlag(cmd, "queue", queueNames)
	levels := fixed("P0", "P1", "P2", "P3", "P4", "P5")
	a.completeFlag(cmd, "level", levels)
	a.completeFlag(cmd, "priority", levels)
	return cmd
}

func (a *app) start(ctx context.Context, x *session, name string, s *starting) error {
	body, err := s.body(a, name)
	if err != nil {
		return err
	}
	r, err := takeAny[gen.StartedRun](answered(x.api.StartRunWithResponse(ctx, body)))
	if err != nil {
		return a.noFlow(ctx, x, name, err)
	}
	if s.dryRun {
		if s.finishing.json {
			return a.json(r.raw)
		}
		a.say("dry run: nothing was started; the params are good")
		return nil
	}
	id := value(r.is.Run)
	waits := s.finishing.wait || s.finishing.watch
	switch {
	case !s.finishing.json && r.is.Existing:
		a.say("started before with this key: run %s of %s", id, name)
	case !s.finishing.json:
		a.say("started run %s of %s", id, name)
	case !waits:
		if err := a.json(r.raw); err != nil {
			return err
		}
	}
	if lacks := x.idle(ctx, id); lacks != "" {
		a.complain("note: %s", a.commands(lacks))
	}
	if !waits {
		return nil
	}
	return a.finish(ctx, x, id, s.finishing)
}

// answered makes the interface of a call's answer.
func answered[R answer](r R, err error) (answer, error) { return r, err }

// body is what the API is asked.
func (s *starting) body(a *app, name string) (gen.NewRun, error) {
	body := gen.NewRun{Flow: name, Trigger: opt(gen.NewRunTriggerCli), Version: opt(s.version), Key: opt(s.key), KeyTtlS: opt(s.keyTTL.Seconds()), Queue: opt(s.queue), DelayS: opt(s.delay.Seconds()), DryRun: opt(s.dryRun)}
	switch {
	case s.finishing.wait && s.finishing.watch:
		return body, usagef("--wait and --watch exclude each other: --watch waits as well")
	case s.delay < 0 || s.finishing.timeout < 0 || s.keyTTL < 0:
		return body, usagef("--delay, --timeout and --key-ttl cannot be negative")
	case s.delay > 0 && s.at != "":
		return body, usagef("--delay and --at exclude each other: both say when the run may begin")
	case s.keyTTL > 0 && s.key == "":
		return body, usagef("--key-ttl is about a --key, and there is none")
	}
	if s.level != "" {
		l, err := stage.ParseLevel(s.level)
		if err != nil {
			return body, usageError{err}
		}
		body.Level = opt(gen.Level(l.String()))
	}
	if s.at != "" {
		t, ok := readMoment(s.at)
		if !ok {
			return body, usagef("--at %q is no time: write a day (2026-01-31) or a time (2026-01-31T08:00:00Z)", s.at)
		}
		body.StartAt = &t
	}
	var err error
	if body.Tags, err = readTags(s.tags); err != nil {
		return body, err
	}
	raw, err := readParams(s.params, s.pairs, s.flags, a.Stdin, s.fields)
	if err != nil {
		return body, err
	}
	body.Params = &raw
	if err := s.lacking(raw); err != nil {
		return body, err
	}
	if def := a.builtIn(name); def != nil {
		if err := def.DecodeCheck(raw); err != nil {
			return body, usageError{err}
		}
	}
	return body, nil
}

// lacking refuses params without what is required, which reads better than the API's word for it.
func (s *starting) lacking(raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil //nolint:nilerr // the API says what it thinks of it
	}
	var lacks []string
	for _, f := range s.fields {
		if f.required && f.fallback == "" && !holds(object, f.path) {
			lacks = append(lacks, "--"+f.name())
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return usagef("the params need %s", listed(lacks))
}

// holds tells whether nested objects have a value.
func holds(object map[string]json.RawMessage, path []string) bool {
	raw, ok := object[path[0]]
	if !ok || len(path) == 1 {
		return ok
	}
	var inner map[string]json.RawMessage
	return json.Unmarshal(raw, &inner) == nil && holds(inner, path[1:])
}

// idle says what keeps a run from getting on at all: that no engine leads, or that no worker has its stages; "" if nothing does. It is
// advice: things may be starting.
func (s *session) idle(ctx context.Context, id uuid.UUID) string {
	r, err := take(s.api.ExplainRunWithResponse(ctx, id, &gen.ExplainRunParams{}))
	if err != nil {
		return ""
	}
	for _, g := range r.is.Gates {
		if g.Name == "leader" && !g.Open {
			return r.is.Diagnosis + nextText(r.is.Next)
		}
	}
	for _, x := range r.is.Stages {
		for _, g := range x.Gates {
			if g.Name == "capability" && !g.Open {
				return x.Stage + ": " + g.Reason + nextText(x.Next)
			}
		}
		for _, group := range x.Groups {
			for _, g := range group.Gates {
				if g.Name == "capability" && !g.Open {
					return x.Stage + ": " + g.Reason + nextText(group.Next)
				}
			}
		}
	}
	return ""
}

func nextText(next string) string {
	if next == "" {
		return ""
	}
	return "; " + next
}

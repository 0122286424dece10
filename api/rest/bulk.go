package rest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/stage"
)

// ActOnRuns does to every run that a filter picks what the verb does to one.
func (h *Handlers) ActOnRuns(ctx context.Context, req gen.ActOnRunsRequestObject) (gen.ActOnRunsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	body := req.Body
	if err := misplaced(req.Verb, given{"/force", isTrue(body.Force), "cancel"}, given{"/level", body.Level != nil, "level"}, given{"/declared", isTrue(body.Declared), "level"},
		given{"/output", body.Output != nil, "mark-success"}, given{"/stage", body.Stage != nil, "retry, rerun, skip, mark-success, level, expedite, demote"}); err != nil {
		return nil, err
	}
	stageName := ""
	if body.Stage != nil {
		stageName = *body.Stage
	} else if listed(req.Verb, "rerun, skip, mark-success") {
		return nil, problem.Field("/stage", "the stage is missing: %q is about one stage of each run", req.Verb)
	}
	f, err := runFilter(ctx, body.Filter)
	if err != nil {
		return nil, err
	}
	w := who(ctx, body.Reason, body.DryRun)
	s, err := sweep(ctx, c, req.Verb, f, stageName, body, w)
	if err := h.partly(&s, req.Verb, err); err != nil {
		return nil, err
	}
	return gen.ActOnRuns200JSONResponse(swept(s, w)), nil
}

func sweep(ctx context.Context, c *control.Client, verb string, f control.Filter, stageName string, body *gen.BulkAct, w control.Who) (control.Sweep, error) {
	switch verb {
	case "cancel":
		return c.CancelWhere(ctx, f, isTrue(body.Force), w)
	case "pause":
		return c.PauseWhere(ctx, f, w)
	case "resume":
		return c.ResumeWhere(ctx, f, w)
	case "retry":
		if stageName != "" {
			return c.RetryStageWhere(ctx, f, stageName, w)
		}
		return c.RetryWhere(ctx, f, w)
	case "rerun":
		return c.RerunWhere(ctx, f, stageName, w)
	case "skip":
		return c.SkipWhere(ctx, f, stageName, w)
	case "mark-success":
		return c.MarkSuccessWhere(ctx, f, stageName, outputOf(body.Output), w)
	case "level":
		l, err := wanted{body.Level, body.Declared}.read()
		if err != nil {
			return control.Sweep{}, err
		}
		return c.SetLevelWhere(ctx, f, stageName, l, w)
	case "expedite":
		return c.ExpediteWhere(ctx, f, stageName, w)
	case "demote":
		return c.DemoteWhere(ctx, f, stageName, w)
	default:
		return control.Sweep{}, noVerb(verb)
	}
}

// partly makes a fault in the middle of a verb by filter an answer that tells what was done until then, and that there is more.
func (h *Handlers) partly(s *control.Sweep, verb string, err error) error {
	if err == nil || len(s.Runs) == 0 {
		return err
	}
	h.cfg.Logger.Error("a verb by filter ended early", "verb", verb, "runs", len(s.Runs), "err", err)
	s.More = true
	return nil
}

// runFilter reads a filter. It keeps lists apart that are there and empty: no run is any of nothing.
func runFilter(ctx context.Context, f gen.RunFilter) (control.Filter, error) {
	for _, l := range []struct {
		field string
		empty bool
	}{{"flows", f.Flows != nil && len(f.Flows) == 0}, {"states", f.States != nil && len(f.States) == 0}, {"queues", f.Queues != nil && len(f.Queues) == 0},
		{"runs", f.Runs != nil && len(f.Runs) == 0}, {"tags", f.Tags != nil && len(f.Tags) == 0}} {
		if l.empty {
			return control.Filter{}, problem.Field("/filter/"+l.field, "it is empty, and no run is any of nothing: name some, or leave it out")
		}
	}
	out := control.Filter{Flows: f.Flows, Queues: f.Queues, Tags: f.Tags, Runs: f.Runs, Within: within(ctx)}
	for i, s := range f.States {
		state, err := stage.ParseRunState(string(s))
		if err != nil {
			return control.Filter{}, problem.Field(fmt.Sprintf("/filter/states/%d", i), "%v", err)
		}
		out.States = append(out.States, state)
	}
	if f.Since != nil {
		out.Since = *f.Since
	}
	if f.Until != nil {
		out.Until = *f.Until
	}
	if f.Most != nil {
		if *f.Most < 1 {
			return control.Filter{}, problem.Field("/filter/most", "it is %d: use 1 to %d", *f.Most, control.MaxMost)
		}
		out.Most = *f.Most
	}
	return out, nil
}

// swept is what a verb by filter did.
func swept(s control.Sweep, w control.Who) gen.BulkResult {
	out := gen.BulkResult{DryRun: w.DryRun, Runs: make([]gen.BulkRun, len(s.Runs)), Failed: s.Failed(), More: s.More}
	for i, r := range s.Runs {
		out.Runs[i] = gen.BulkRun{Run: r.Run, Flow: r.Flow, Touched: touches(r.Touched)}
		if r.Err != nil {
			p := problem.From(r.Err)
			out.Runs[i].Error = &gen.BulkError{Code: p.Code, Detail: p.Detail}
		}
	}
	return out
}

// listed tells whether a word stands in a list with commas.
func listed(word, list string) bool { return slices.Contains(strings.Split(list, ", "), word) }

package rest

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
	"axflow/shard"
	"axflow/stage"
)

// ActOnRun steers a run.
func (h *Handlers) ActOnRun(ctx context.Context, req gen.ActOnRunRequestObject) (gen.ActOnRunResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	var body gen.RunAct
	if req.Body != nil {
		body = *req.Body
	}
	if err := misplaced(req.Verb, given{"/force", isTrue(body.Force), "cancel"}, given{"/level", body.Level != nil, "level"},
		given{"/declared", isTrue(body.Declared), "level"}); err != nil {
		return nil, err
	}
	w := who(ctx, body.Reason, body.DryRun)
	var touched []control.Touch
	switch req.Verb {
	case "cancel":
		touched, err = c.Cancel(ctx, req.Run, isTrue(body.Force), w)
	case "pause":
		touched, err = c.Pause(ctx, control.HoldRun, req.Run.String(), w)
	case "resume":
		touched, err = c.Resume(ctx, control.HoldRun, req.Run.String(), w)
	case "retry":
		touched, err = c.Retry(ctx, req.Run, w)
	case "level", "expedite", "demote":
		touched, err = moveLevel(ctx, c, req.Verb, req.Run, "", wanted{body.Level, body.Declared}, w)
	default:
		return nil, noVerb(req.Verb)
	}
	if err != nil {
		return nil, err
	}
	return gen.ActOnRun200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// ActOnStage steers a stage, or some of its shards.
func (h *Handlers) ActOnStage(ctx context.Context, req gen.ActOnStageRequestObject) (gen.ActOnStageResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	var body gen.StageAct
	if req.Body != nil {
		body = *req.Body
	}
	if err := misplaced(req.Verb, given{"/level", body.Level != nil, "level"}, given{"/declared", isTrue(body.Declared), "level"}, given{"/output", body.Output != nil, "mark-success"},
		given{"/shards", body.Shards != nil, "retry, rerun, skip, mark-success, replay, discard"}); err != nil {
		return nil, err
	}
	var set shard.Set
	if body.Shards != nil {
		if set, err = parseSet("/shards", *body.Shards); err != nil {
			return nil, err
		}
	}
	w := who(ctx, body.Reason, body.DryRun)
	touched, err := actOnStage(ctx, c, req, body, set, w)
	if err != nil {
		return nil, err
	}
	return gen.ActOnStage200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

func actOnStage(ctx context.Context, c *control.Client, req gen.ActOnStageRequestObject, body gen.StageAct, set shard.Set, w control.Who) ([]control.Touch, error) {
	switch req.Verb {
	case "retry":
		return c.RetryShards(ctx, req.Run, req.Stage, set, w)
	case "rerun":
		if body.Shards != nil {
			return c.RerunShards(ctx, req.Run, req.Stage, set, w)
		}
		return c.Rerun(ctx, req.Run, req.Stage, w)
	case "skip":
		if body.Shards != nil {
			return c.SkipShards(ctx, req.Run, req.Stage, set, w)
		}
		return c.Skip(ctx, req.Run, req.Stage, w)
	case "mark-success":
		return c.MarkSuccess(ctx, req.Run, req.Stage, set, outputOf(body.Output), w)
	case "replay":
		return c.Replay(ctx, req.Run, req.Stage, set, w)
	case "discard":
		return c.Discard(ctx, req.Run, req.Stage, set, w)
	case "level", "expedite", "demote":
		return moveLevel(ctx, c, req.Verb, req.Run, req.Stage, wanted{body.Level, body.Declared}, w)
	default:
		return nil, noVerb(req.Verb)
	}
}

// moveLevel is the verbs about levels, of a run (stageName "") or one of its stages.
func moveLevel(ctx context.Context, c *control.Client, verb string, run uuid.UUID, stageName string, to wanted, w control.Who) ([]control.Touch, error) {
	switch verb {
	case "expedite":
		return c.Expedite(ctx, run, stageName, w)
	case "demote":
		return c.Demote(ctx, run, stageName, w)
	}
	l, err := to.read()
	if err != nil {
		return nil, err
	}
	return c.SetLevel(ctx, run, stageName, l, w)
}

// HoldFlow pauses or resumes a flow.
func (h *Handlers) HoldFlow(ctx context.Context, req gen.HoldFlowRequestObject) (gen.HoldFlowResponseObject, error) {
	touched, w, err := h.hold(ctx, string(req.Hold), control.HoldFlow, req.Flow, req.Body)
	if err != nil {
		return nil, err
	}
	return gen.HoldFlow200JSONResponse{ActedJSONResponse: acted(touched, w)}, nil
}

// hold pauses or resumes a queue or a flow.
func (h *Handlers) hold(ctx context.Context, verb string, kind control.HoldKind, name string, body *gen.Act) ([]control.Touch, control.Who, error) {
	w := whoOf(ctx, body)
	c, err := h.client(ctx)
	if err != nil {
		return nil, w, err
	}
	var touched []control.Touch
	switch verb {
	case "pause":
		touched, err = c.Pause(ctx, kind, name, w)
	case "resume":
		touched, err = c.Resume(ctx, kind, name, w)
	default:
		err = noVerb(verb)
	}
	return touched, w, err
}

// whoOf says who acts, of acts that have no other fields.
func whoOf(ctx context.Context, body *gen.Act) control.Who {
	if body == nil {
		return who(ctx, nil, nil)
	}
	return who(ctx, body.Reason, body.DryRun)
}

// acted is the answer of an act.
func acted(touched []control.Touch, w control.Who) gen.ActedJSONResponse {
	return gen.ActedJSONResponse{DryRun: w.DryRun, Touched: touches(touched)}
}

func touches(touched []control.Touch) []gen.Touch {
	all := make([]gen.Touch, len(touched))
	for i, t := range touched {
		all[i] = gen.Touch{Stage: opt(t.Stage), Tasks: opt(t.Indices.Len()), Shards: opt(setText(t.Indices, 0)), What: t.What}
		if t.Run != uuid.Nil {
			all[i].Run = &t.Run
		}
	}
	return all
}

// given is a field of an act that only some verbs have.
type given struct {
	field string
	is    bool
	of    string // the verbs that have it, with commas
}

// misplaced refuses fields that the verb does not have, so that nobody believes that they were heeded.
func misplaced(verb string, fields ...given) error {
	p := problem.Error{Code: gen.ProblemCodeInvalid, Status: 422}
	for _, f := range fields {
		if f.is && !listed(verb, f.of) {
			p.Fields = append(p.Fields, gen.FieldError{Field: f.field, Detail: fmt.Sprintf("%q does not take it: it is of %s", verb, f.of)})
		}
	}
	if p.Fields == nil {
		return nil
	}
	p.Detail = p.Fields[0].Field + ": " + p.Fields[0].Detail
	return &p
}

// wanted is the level that the verb level is to set, or that it is to take the operator's back.
type wanted struct {
	level    *gen.Level
	declared *bool
}

// read returns the level; nil: the declared one.
func (w wanted) read() (*stage.Level, error) {
	switch {
	case isTrue(w.declared) && w.level != nil:
		return nil, problem.Field("/declared", "it does not go with level: give one of the two")
	case isTrue(w.declared):
		return nil, nil
	case w.level == nil:
		return nil, problem.Field("/level", "the level is missing: give P0 (most urgent) to P5, or declared")
	}
	l, err := levelFrom("/level", *w.level)
	return &l, err
}

// levelFrom reads a level.
func levelFrom(field string, l gen.Level) (stage.Level, error) {
	at, err := stage.ParseLevel(string(l))
	if err != nil {
		return 0, problem.Field(field, "%.20q is no level: use P0 (most urgent) to P5", string(l))
	}
	return at, nil
}

// outputOf is a given output; nil and null are none.
func outputOf(j *gen.Json) []byte {
	if j == nil || string(*j) == "null" {
		return nil
	}
	return *j
}

func noVerb(verb string) error { return problem.Field("verb", "there is no verb %.40q here", verb) }

func isTrue(b *bool) bool { return b != nil && *b }

// sweepTime is how long a verb by filter may work within one request; what is left is told by more.
const sweepTime = 20 * time.Second

// within is sweepTime, or less where the request must have ended before.
func within(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return sweepTime
	}
	return max(time.Millisecond, min(sweepTime, time.Until(end)*2/3))
}

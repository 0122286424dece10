package rest

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	"github.com/google/uuid"

	"axflow/api/gen"
	"axflow/api/problem"
	"axflow/engine/control"
)

const (
	// Between two looks for new lines a waiting request waits logLook at first, and at most logLookMost.
	logLook     = 250 * time.Millisecond
	logLookMost = time.Second
	// logSearch is how long lines are looked for that are there already, however short the wait.
	logSearch = 8 * time.Second
)

// ListLogs reads what handlers of a run logged; with wait_s it waits until there is something.
func (h *Handlers) ListLogs(ctx context.Context, req gen.ListLogsRequestObject) (gen.ListLogsResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	q := req.Params
	f, list, err := logFilter(req.Run, q)
	if err != nil {
		return nil, err
	}
	at, err := place(list, q.Cursor, 0)
	if err != nil {
		return nil, err
	}
	read := func() (control.LogPage, error) { return c.Logs(ctx, req.Run, f, at, pageSize(q.Limit)) }
	if q.Tail != nil {
		read = func() (control.LogPage, error) {
			return c.LogTail(ctx, req.Run, f, min(max(*q.Tail, 1), control.MaxLogLines))
		}
	}
	page, err := awaitLogs(ctx, read, waitFor(q.WaitS), func(next []byte) {
		at = next
		read = func() (control.LogPage, error) { return c.Logs(ctx, req.Run, f, at, pageSize(q.Limit)) }
	})
	if err != nil {
		return nil, err
	}
	out := gen.ListLogs200JSONResponse{Items: make([]gen.LogLine, len(page.Lines)), NextCursor: *pageCursor(list, page.Place), More: opt(page.More),
		Ended: opt(page.Ended)}
	for i := range page.Lines {
		out.Items[i] = h.logLine(ctx, page.Flow, &page.Lines[i])
	}
	return out, nil
}

// awaitLogs reads until there is a line, the end, or no time left; advance is told where to go on.
func awaitLogs(ctx context.Context, read func() (control.LogPage, error), wait time.Duration, advance func([]byte)) (control.LogPage, error) {
	begun := time.Now()
	for pause := logLook; ; pause = min(2*pause, logLookMost) {
		page, err := read()
		left := wait - time.Since(begun)
		if page.More {
			left = max(wait, logSearch) - time.Since(begun)
		}
		if err != nil || len(page.Lines) > 0 || page.Ended || left <= 0 {
			return page, err
		}
		advance(page.Place)
		if page.More { // the look was long and has found nothing yet
			pause = 0
		}
		timer := time.NewTimer(min(pause, left))
		select {
		case <-ctx.Done():
			timer.Stop()
			return page, nil // nobody waits any more, or the server is going: there is nothing so far
		case <-timer.C:
		}
		pause = max(pause, logLook/2)
	}
}

// logFilter is what is asked for, and the name of the list of it, by which cursors fit no other.
func logFilter(run uuid.UUID, q gen.ListLogsParams) (f control.LogFilter, list []string, err error) {
	list = []string{"logs", run.String()}
	switch {
	case q.Shard != nil && q.Stage == nil:
		return f, nil, problem.Field("shard", "a shard is of a stage: add stage")
	case q.Attempt != nil && q.Shard == nil:
		return f, nil, problem.Field("attempt", "an attempt is of a shard: add shard (0 for a stage without shards)")
	case q.Tail != nil && q.Cursor != nil:
		return f, nil, problem.Field("tail", "tail begins with the newest lines and cursor goes on from a place: pass one of them")
	}
	f.Shard = q.Shard
	if q.Stage != nil {
		f.Stage = *q.Stage
	}
	if q.Attempt != nil {
		f.Attempt = *q.Attempt
	}
	if q.Q != nil {
		f.Text = *q.Q
	}
	word := ""
	if q.Level != nil && *q.Level != gen.ListLogsParamsLevelDebug {
		word = string(*q.Level)
		f.Level = map[gen.ListLogsParamsLevel]slog.Level{gen.ListLogsParamsLevelInfo: slog.LevelInfo, gen.ListLogsParamsLevelWarn: slog.LevelWarn,
			gen.ListLogsParamsLevelError: slog.LevelError}[*q.Level]
	}
	shard := ""
	if q.Shard != nil {
		shard = strconv.Itoa(*q.Shard)
	}
	return f, append(list, f.Stage, shard, strconv.Itoa(f.Attempt), word, f.Text), nil
}

// waitFor is wait_s.
func waitFor(s *gen.Wait) time.Duration {
	if s == nil {
		return 0
	}
	return time.Duration(min(max(*s, 0), 30) * float64(time.Second))
}

// logLine is a line without what must not leave the server.
func (h *Handlers) logLine(ctx context.Context, flow string, l *control.LogLine) gen.LogLine {
	out := gen.LogLine{At: l.At, Level: logLevel(l.Level), Message: l.Message, Stage: l.Stage, Shard: l.Shard, Generation: &l.Generation, Attempt: l.Attempt,
		Execution: &l.Execution, Worker: &l.Worker, Dropped: opt(l.Dropped)}
	type text struct {
		Message    string          `json:"message"`
		Attributes json.RawMessage `json:"attributes,omitempty"`
	}
	said := text{l.Message, l.Attributes}
	if h.cfg.Redact != nil {
		raw, err := json.Marshal(said)
		if err != nil { // attributes that are no JSON
			raw, err = json.Marshal(text{Message: l.Message})
		}
		said = text{}
		if err == nil {
			raw = h.redact(ctx, Payload{Kind: "log", Flow: flow, Stage: l.Stage, JSON: raw})
			if json.Unmarshal(raw, &said) != nil { // withheld: a text that says so
				said = text{}
				_ = json.Unmarshal(raw, &said.Message)
			}
		}
	}
	out.Message = said.Message
	var members map[string]json.RawMessage // as they are: numbers keep their digits
	if said.Attributes != nil && json.Unmarshal(said.Attributes, &members) == nil {
		out.Attributes = make(map[string]any, len(members))
		for name, value := range members {
			out.Attributes[name] = value
		}
	}
	return out
}

func logLevel(l slog.Level) gen.LogLineLevel {
	switch {
	case l < slog.LevelInfo:
		return gen.LogLineLevelDebug
	case l < slog.LevelWarn:
		return gen.LogLineLevelInfo
	case l < slog.LevelError:
		return gen.LogLineLevelWarn
	}
	return gen.LogLineLevelError
}

// ListRunning lists what runs, with the progress that handlers report.
func (h *Handlers) ListRunning(ctx context.Context, req gen.ListRunningRequestObject) (gen.ListRunningResponseObject, error) {
	c, err := h.client(ctx)
	if err != nil {
		return nil, err
	}
	name := ""
	if req.Params.Stage != nil {
		name = *req.Params.Stage
	}
	all, err := c.Running(ctx, req.Run, name, pageSize(req.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := gen.ListRunning200JSONResponse{Items: make([]gen.Running, len(all))}
	for i, r := range all {
		out.Items[i] = gen.Running{Stage: r.Stage, Shard: r.Shard, Attempt: r.Attempt, Worker: r.Worker, Execution: r.Execution, StartedAt: r.StartedAt,
			Done: r.Done, Total: r.Total, Detail: opt(r.Detail), ReportedAt: r.ReportedAt}
	}
	return out, nil
}

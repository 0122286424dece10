package control

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"axflow/sql/db"
	"axflow/stage"
)

// MaxLogLines is the greatest number of lines in one answer.
const MaxLogLines = 1000

const (
	// logScan is how many lines are looked at at once for those asked for, and logBudget how long.
	logScan   = 5000
	logBudget = 2 * time.Second
	// logSettle is how long after a run's end its workers store lines of it, if nothing is wrong.
	logSettle = 2 * time.Second
	// logSettleShort is the same where not everything that has been stored is seen yet: see snapshot.short.
	logSettleShort = 30 * time.Second
)

// LogFilter picks lines of a run; the zero value picks all.
type LogFilter struct {
	Stage   string       // "": all
	Shard   *int         // of Stage; -1 is its plan; nil: all
	Attempt int          // 0: all
	Level   slog.Leveler // the least level; nil: all
	Text    string       // which the message or the attributes hold, in any case; "": all
}

// LogLine is what a handler has logged.
type LogLine struct {
	ID         uuid.UUID // of version 7: in the order of time
	At         time.Time // database time, as the worker knew it
	Level      slog.Level
	Message    string
	Attributes json.RawMessage // an object; nil for none
	Stage      string
	Shard      int // -1: the plan
	Generation int
	Attempt    int
	Delivery   int
	Execution  uuid.UUID
	Worker     uuid.UUID
	// Seq is the line's number in its execution from 1; dropped lines have numbers too.
	Seq int
	// Dropped is how many lines of the execution were dropped between the one before and this one.
	Dropped int
}

// LogPage is some lines of a run, in the order of time.
type LogPage struct {
	Lines []LogLine
	Flow  string
	// Place is where to go on: with more that is there already, and with what will come. It holds at most 350 bytes.
	Place []byte
	// More says that there may be more at once.
	More bool
	// Ended says that the run has ended a little while ago and everything has been read. Only a worker that cannot reach the database
	// may still hold lines.
	Ended bool
}

// Logs reads lines that handlers of a run have logged, at most so many (MaxLogLines). place is where the page before has
// ended; nil begins with the oldest line. Readers that follow see every line once, however late it was stored, and in the order of
// time but for late ones.
func (c *Client) Logs(ctx context.Context, run uuid.UUID, f LogFilter, place []byte, most int) (LogPage, error) {
	p, err := decodePlace(place)
	if err != nil {
		return LogPage{}, err
	}
	r, err := c.openLogs(ctx, run, f)
	if err != nil {
		return LogPage{}, err
	}
	most = min(max(most, 1), MaxLogLines)
	var ids []uuid.UUID
	begun := !p.upto.none() // what another answer has begun to read comes first
	for {
		if p.upto.none() {
			p.upto, p.pastTx, p.past = r.now, p.since.xmin, uuid.Nil
		}
		more, done, err := r.forward(ctx, &p, most-len(ids))
		if err != nil {
			return LogPage{}, err
		}
		ids = append(ids, more...)
		if done {
			p = logPlace{since: p.upto}
		}
		if !done || !begun || len(ids) == most {
			return r.page(ctx, ids, p, done && !begun)
		}
		begun = false
	}
}

// LogTail reads the newest lines, at most so many, and says where what comes later begins.
func (c *Client) LogTail(ctx context.Context, run uuid.UUID, f LogFilter, most int) (LogPage, error) {
	r, err := c.openLogs(ctx, run, f)
	if err != nil {
		return LogPage{}, err
	}
	ids, err := r.backward(ctx, min(max(most, 1), MaxLogLines))
	if err != nil {
		return LogPage{}, err
	}
	return r.page(ctx, ids, logPlace{since: r.now}, true)
}

// logReader reads a run's lines as of one moment.
type logReader struct {
	c     *Client
	run   uuid.UUID
	flow  string
	stage func(ord int16) string
	now   snapshot
	ended bool
	asked db.ScanLogsParams // the filter
	task  bool              // one task's
	all   bool              // nothing is left out
}

func (c *Client) openLogs(ctx context.Context, run uuid.UUID, f LogFilter) (*logReader, error) {
	if err := storable(named{"q", "the text", f.Text}); err != nil {
		return nil, err
	}
	rows, err := c.q.LogHead(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("reading run %s: %w", run, err)
	}
	if len(rows) == 0 || rows[0].Namespace != c.cfg.Namespace {
		return nil, notFound(run)
	}
	head := rows[0]
	v, err := c.cfg.Versions.Get(ctx, c.q, head.VersionID)
	if err != nil {
		return nil, err
	}
	now, err := parseSnapshot(head.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("reading what is visible: %w", err)
	}
	r := &logReader{c: c, run: run, flow: head.Flow, now: now.short(), asked: db.ScanLogsParams{RunID: run, Ord: -1, Shard: -2, Level: math.MinInt16}}
	r.stage = func(ord int16) string { return v.Graph.Stages[ord].Name }
	settle := logSettle
	if r.now.xmax != now.xmax {
		settle = logSettleShort
	}
	r.ended = stage.RunState(head.State).Ended() && head.FinishedAt != nil && head.Now.Sub(*head.FinishedAt) >= settle
	if f.Stage != "" {
		ord, ok := v.Graph.Ord(f.Stage)
		if !ok {
			return nil, &Error{Code: CodeNotFound, Field: "stage", Text: fmt.Sprintf("flow %s version %s has no stage %q", v.Flow, v.Hash, f.Stage)}
		}
		r.asked.Ord = int32(ord)
		if v.Graph.Stages[ord].Kind == stage.Single {
			r.asked.Shard, r.task = 0, true
		}
	}
	if f.Shard != nil {
		if f.Stage == "" {
			return nil, &Error{Code: CodeInvalid, Field: "shard", Text: "a shard is of a stage: name the stage too"}
		}
		if i := *f.Shard; i < math.MinInt32 || i > math.MaxInt32 {
			return nil, &Error{Code: CodeInvalid, Field: "shard", Text: fmt.Sprintf("there is no shard %d: their numbers begin at 0, and -1 is the plan", i)}
		}
		r.task = true
		r.asked.Shard = int32(max(-1, *f.Shard))
	}
	r.asked.Attempt = int32(min(max(f.Attempt, 0), math.MaxInt16))
	if f.Level != nil {
		r.asked.Level = int16(max(math.MinInt16, min(math.MaxInt16, f.Level.Level())))
	}
	r.asked.Text = f.Text
	r.all = f.Stage == "" && f.Shard == nil && f.Attempt <= 0 && f.Level == nil && f.Text == ""
	return r, nil
}

// portion is how many lines to look at for so many more.
func (r *logReader) portion(most int) int32 {
	if r.all {
		return int32(most)
	}
	return logScan
}

// forward looks for the next lines of p.upto, until it has found so many, has looked for long, or is done.
func (r *logReader) forward(ctx context.Context, p *logPlace, most int) (ids []uuid.UUID, done bool, err error) {
	for end := time.Now().Add(logBudget); len(ids) < most && time.Now().Before(end); {
		n := r.portion(most - len(ids))
		var rows []db.ScanNewLogsRow
		if p.since.none() {
			rows, err = r.scan(ctx, p.past, p.upto, n, false)
		} else {
			a := &r.asked
			rows, err = r.c.q.ScanNewLogs(ctx, db.ScanNewLogsParams{RunID: r.run, Ord: a.Ord, Shard: a.Shard, Attempt: a.Attempt, Level: a.Level, Text: a.Text,
				PastTx: fmt.Sprint(p.pastTx), Past: p.past, Upto: p.upto.String(), Since: p.since.String(), Most: n})
		}
		if err != nil {
			return nil, false, fmt.Errorf("looking for lines of run %s: %w", r.run, err)
		}
		for _, row := range rows {
			if row.Asked && len(ids) == most {
				return ids, false, nil
			}
			if row.Asked {
				ids = append(ids, row.ID)
			}
			p.past = row.ID
			if !p.since.none() {
				if p.pastTx, err = strconv.ParseUint(row.Tx, 10, 64); err != nil {
					return nil, false, err
				}
			}
		}
		if len(rows) < int(n) {
			return ids, true, nil
		}
	}
	return ids, false, nil
}

// backward looks for the newest lines.
func (r *logReader) backward(ctx context.Context, most int) (ids []uuid.UUID, err error) {
	past := uuid.Max
	for end := time.Now().Add(logBudget); len(ids) < most && time.Now().Before(end); {
		n := r.portion(most - len(ids))
		rows, err := r.scan(ctx, past, r.now, n, true)
		if err != nil {
			return nil, fmt.Errorf("looking for lines of run %s: %w", r.run, err)
		}
		for _, row := range rows {
			if row.Asked && len(ids) < most {
				ids = append(ids, row.ID)
			}
			past = row.ID
		}
		if len(rows) < int(n) {
			break
		}
	}
	return ids, nil
}

// scan looks at lines by the index that fits what is asked for.
func (r *logReader) scan(ctx context.Context, past uuid.UUID, upto snapshot, most int32, back bool) ([]db.ScanNewLogsRow, error) {
	a := r.asked
	a.Past, a.Upto, a.Most = past, upto.String(), most
	q := r.c.q
	switch loud := a.Level >= int16(slog.LevelWarn); {
	case r.task:
		t := db.ScanTaskLogsParams{RunID: a.RunID, Ord: int16(a.Ord), Shard: a.Shard, Attempt: a.Attempt, Level: a.Level, Text: a.Text, Past: a.Past, Upto: a.Upto, Most: a.Most}
		if back {
			return found(q.ScanTaskLogsBack(ctx, db.ScanTaskLogsBackParams(t)))
		}
		return found(q.ScanTaskLogs(ctx, t))
	case loud && back:
		return found(q.ScanLoudLogsBack(ctx, db.ScanLoudLogsBackParams(a)))
	case loud:
		return found(q.ScanLoudLogs(ctx, db.ScanLoudLogsParams(a)))
	case back:
		return found(q.ScanLogsBack(ctx, db.ScanLogsBackParams(a)))
	}
	return found(q.ScanLogs(ctx, a))
}

func found[R db.ScanLogsRow | db.ScanLogsBackRow | db.ScanLoudLogsRow | db.ScanLoudLogsBackRow | db.ScanTaskLogsRow | db.ScanTaskLogsBackRow](
	rows []R, err error) ([]db.ScanNewLogsRow, error) {
	out := make([]db.ScanNewLogsRow, len(rows))
	for i, row := range rows {
		r := db.ScanLogsRow(row)
		out[i].ID, out[i].Asked = r.ID, r.Asked
	}
	return out, err
}

// page reads the lines that were found.
func (r *logReader) page(ctx context.Context, ids []uuid.UUID, next logPlace, done bool) (LogPage, error) {
	page := LogPage{Flow: r.flow, Place: next.encode(), More: !done, Ended: done && r.ended}
	if len(ids) == 0 {
		return page, nil
	}
	rows, err := r.c.q.LogLines(ctx, db.LogLinesParams{RunID: r.run, Ids: ids})
	if err != nil {
		return LogPage{}, fmt.Errorf("reading lines of run %s: %w", r.run, err)
	}
	page.Lines = make([]LogLine, len(rows))
	for i, l := range rows {
		page.Lines[i] = LogLine{ID: l.ID, At: l.At, Level: slog.Level(l.Level), Message: l.Message, Stage: r.stage(l.Ord), Shard: int(l.Shard), Generation: int(l.Generation),
			Attempt: int(l.Attempt), Delivery: int(l.Delivery), Execution: l.ExecutionID, Worker: l.WorkerID, Seq: int(l.Seq), Dropped: int(l.Dropped)}
		if l.Attributes != "" {
			page.Lines[i].Attributes = json.RawMessage(l.Attributes)
		}
	}
	slices.SortStableFunc(page.Lines, func(a, b LogLine) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return page, nil
}

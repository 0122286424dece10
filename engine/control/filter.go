package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	axsql "axflow/sql"
	"axflow/sql/db"
	"axflow/stage"
)

// The limits of a verb by filter.
const (
	DefaultMost = 1_000   // runs that a verb by filter acts on when the filter does not say
	MaxMost     = 100_000 // runs that it can be asked to act on
)

// Filter picks runs of the client's namespace. What is left out does not restrict; a filter that restricts nothing is refused
// (CodeInvalid), since it would act on every run. Several fields must all hold; the values within one are alternatives,
// but tags must all be there.
type Filter struct {
	Flows  []string
	States []stage.RunState // default: the states that the verb can act on
	Queues []string         // the runs' queues, not their stages'
	Tags   map[string]string
	Since  time.Time // runs created at or after it
	Until  time.Time // runs created before it
	Runs   []uuid.UUID
	// Most is how many runs the verb acts on at most, oldest first. Default DefaultMost, at most MaxMost.
	Most int
	// Within ends the verb between two runs once it has taken that long; Sweep.More then says that there is more. 0: no limit.
	Within time.Duration
}

// sweepPage is how many runs a verb by filter looks for at a time.
const sweepPage = 200

// sweep runs a verb on every run that a filter picks, one transaction a run. A refusal is the run's own; any other error ends the
// sweep.
func (c *Client) sweep(ctx context.Context, f Filter, defaults []stage.RunState, verb func(context.Context, uuid.UUID) ([]Touch, error)) (Sweep, error) {
	p, most, err := f.params(c.cfg.Namespace, defaults)
	if err != nil {
		return Sweep{}, err
	}
	var s Sweep
	began := time.Now()
	for {
		p.Most = int32(min(sweepPage, most-len(s.Runs)+1))
		rows, err := c.q.FilterRuns(ctx, p)
		if err != nil {
			return s, fmt.Errorf("looking for runs: %w", err)
		}
		for _, r := range rows {
			if len(s.Runs) == most || len(s.Runs) > 0 && f.Within > 0 && time.Since(began) > f.Within {
				s.More = true
				return s, nil
			}
			touched, err := verb(ctx, r.RunID)
			var refused *Error
			if err != nil && !errors.As(err, &refused) {
				return s, err
			}
			s.Runs = append(s.Runs, RunResult{Run: r.RunID, Flow: r.Flow, Touched: touched, Err: err})
			p.After = r.RunID
		}
		if len(rows) < int(p.Most) {
			return s, nil
		}
	}
}

// params checks a filter.
func (f Filter) params(namespace string, defaults []stage.RunState) (db.FilterRunsParams, int, error) {
	p := db.FilterRunsParams{Namespace: namespace, Flows: f.Flows, Queues: f.Queues, Runs: f.Runs}
	invalid := func(field, format string, args ...any) (db.FilterRunsParams, int, error) {
		return p, 0, &Error{Code: CodeInvalid, Field: "/filter" + field, Text: fmt.Sprintf(format, args...)}
	}
	for _, x := range []struct {
		field string
		texts []string
	}{{"/flows", f.Flows}, {"/queues", f.Queues}} {
		for i, t := range x.texts {
			if err := text(fmt.Sprintf("/filter%s/%d", x.field, i), "the name", t); err != nil {
				return p, 0, err
			}
		}
	}
	if err := checkTags("/filter/tags", f.Tags); err != nil {
		return p, 0, err
	}
	if len(f.Flows)+len(f.States)+len(f.Queues)+len(f.Tags)+len(f.Runs) == 0 && f.Since.IsZero() && f.Until.IsZero() {
		return invalid("", "the filter restricts nothing and would pick every run: name flows, states, queues, tags, runs or a time")
	}
	most := f.Most
	switch {
	case most == 0:
		most = DefaultMost
	case most < 0 || most > MaxMost:
		return invalid("/most", "the filter asks for at most %d runs: use 1 to %d", most, MaxMost)
	}
	if len(f.Runs) > MaxMost {
		return invalid("/runs", "the filter names %d runs: name at most %d", len(f.Runs), MaxMost)
	}
	states := f.States
	if len(states) == 0 {
		states = defaults
	}
	p.States = numbers(states)
	if len(f.Tags) > 0 {
		text, err := json.Marshal(f.Tags)
		if err != nil {
			return invalid("/tags", "the tags cannot be encoded: %v", err)
		}
		p.Tags = text
	}
	if !f.Since.IsZero() {
		p.Since = &f.Since
		// Ids are minted from the database's time as the starter knows it, a little beside when the row was written.
		p.After = axsql.DayBound(axsql.Day(f.Since.AddDate(0, 0, -1)))
	}
	if !f.Until.IsZero() {
		p.Until = &f.Until
	}
	return p, most, nil
}

package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"axflow/shard"
	"axflow/sql/db"
	"axflow/sql/span"
	"axflow/sql/versions"
	"axflow/stage"
)

// DeadFilter picks dead letters: indices that are parked as dead, poisoned or expired. What is left out does not restrict.
type DeadFilter struct {
	Flow        string    `json:"flow,omitempty"`
	Stage       string    `json:"stage,omitempty"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	Run         uuid.UUID `json:"run,omitzero"`
	Code        string    `json:"code,omitempty"` // of the newest failed attempt's error, such as "handler_error"
	Since       time.Time `json:"since,omitzero"` // died at or after it
	Until       time.Time `json:"until,omitzero"` // died before it
	Most        int       `json:"most,omitempty"` // groups, or letters; default 100, at most 10,000
	// Within is Filter.Within, for DiscardWhere.
	Within time.Duration `json:"-"`
}

// DeadGroup is dead letters of one stage that failed for the same reason, as far as their errors tell: numbers, ids and
// addresses in them do not count.
type DeadGroup struct {
	Flow, Stage, Fingerprint string
	Count                    int // indices
	Runs                     int
	Example                  Failure // of the newest of them
	ExampleRun               uuid.UUID
	ExampleIndex             int
	First, Last              time.Time // when the first and the last of them died
}

// DeadLetter is dead indices of one run that share their fate.
type DeadLetter struct {
	ID          uuid.UUID // of the parked row
	Run         uuid.UUID
	Flow, Stage string
	Ord         int
	Generation  int
	Indices     shard.Set
	Attempt     int
	Reason      span.ParkReason // Dead, Poison or Expired
	Fingerprint string
	DiedAt      time.Time
	Failure     Failure // of the first of the indices
}

// Failure is an attempt's error as the worker told it; zero when there is none.
type Failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Stack     string `json:"stack,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
}

// Inspection is all that is known of one index of a stage.
type Inspection struct {
	Run        uuid.UUID
	Stage      string
	Ord, Index int
	Generation int        // the current one
	Where      string     // "ready", "in flight", "parked", "done", or "" while the stage waits or its shards are not known
	Parked     string     // why it is parked, such as "dead"; "" if it is not
	Attempts   []Attempt  // of all generations, oldest first
	NotBefore  *time.Time // if ready: when it may be handed out
}

// Attempt is one execution of an index, as its result row keeps it.
type Attempt struct {
	Generation, Attempt, Delivery                int
	Outcome                                      stage.Outcome
	Worker, Execution                            uuid.UUID // zero: an operator marked it
	ReadyAt, DispatchedAt, StartedAt, FinishedAt time.Time
	Failure                                      Failure
	Output                                       []byte
}

// ReplayOptions say how dead letters are replayed.
type ReplayOptions struct {
	// PerSecond is how many indices a second go back to ready. 0: as fast as it goes.
	PerSecond float64
	// Canary is how many indices are replayed first; the rest follows when all of them have ended well, and stays dead when one of
	// them dies again. 0: none.
	Canary int
}

// ReplayJob is a replay of dead letters by filter, which the leader carries out.
type ReplayJob struct {
	ID            uuid.UUID // zero in a dry run
	State         string    // "canary", "running", "done", "stopped" (the canary failed), "cancelled"
	Filter        DeadFilter
	Options       ReplayOptions
	Total         int // dead indices that matched at the start
	Moved         int // that went back to ready so far
	Failed        int // of the canary
	Note          string
	Actor, Reason string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	FinishedAt    *time.Time
}

// check refuses what can stand in no dead letter.
func (f DeadFilter) check() error {
	return storable(named{"/filter/flow", "the flow's name", f.Flow}, named{"/filter/stage", "the stage's name", f.Stage},
		named{"/filter/fingerprint", "the fingerprint", f.Fingerprint}, named{"/filter/code", "the code", f.Code})
}

// deadPage is how many parked rows are read at a time.
const deadPage = 500

// DeadAfter calls each for the dead letters of a namespace that a filter picks, in the order of their ids from after on
// (exclusive), until it returns false or an error.
func DeadAfter(ctx context.Context, q *db.Queries, cache *versions.Cache, namespace string, f DeadFilter, after uuid.UUID, each func(DeadLetter) (bool, error)) error {
	p := f.params(namespace)
	p.After = after
	for {
		rows, err := q.DeadRows(ctx, p)
		if err != nil {
			return fmt.Errorf("reading dead letters: %w", err)
		}
		for _, r := range rows {
			p.After = r.ID
			l, err := deadLetter(ctx, q, cache, r)
			if err != nil {
				return err
			}
			if !f.picks(l) {
				continue
			}
			if more, err := each(l); err != nil || !more {
				return err
			}
		}
		if len(rows) < deadPage {
			return nil
		}
	}
}

// params are what of the filter SQL decides; stage and code are in no column.
func (f DeadFilter) params(namespace string) db.DeadRowsParams {
	p := db.DeadRowsParams{Namespace: namespace, Flow: f.Flow, Fingerprint: f.Fingerprint, Most: deadPage}
	if f.Run != uuid.Nil {
		p.Run = &f.Run
	}
	if !f.Since.IsZero() {
		p.Since = &f.Since
	}
	if !f.Until.IsZero() {
		p.Until = &f.Until
	}
	return p
}

// picks decides the rest of the filter.
func (f DeadFilter) picks(l DeadLetter) bool {
	return (f.Stage == "" || f.Stage == l.Stage) && (f.Code == "" || f.Code == l.Failure.Code)
}

func deadLetter(ctx context.Context, q *db.Queries, cache *versions.Cache, r db.DeadRowsRow) (DeadLetter, error) {
	v, err := cache.Get(ctx, q, r.VersionID)
	if err != nil {
		return DeadLetter{}, err
	}
	set, err := shard.ParseSet(r.Todo)
	if err != nil {
		return DeadLetter{}, fmt.Errorf("reading parked row %s: %w", r.ID, err)
	}
	return DeadLetter{ID: r.ID, Run: r.RunID, Flow: r.Flow, Stage: v.Graph.Stages[r.Ord].Name, Ord: int(r.Ord), Generation: int(r.Generation),
		Indices: set, Attempt: int(r.Attempt), Reason: span.ParkReason(r.Reason), Fingerprint: r.Fingerprint, DiedAt: r.ParkedAt, Failure: failureOf(r.Error)}, nil
}

func (c *Client) dead(ctx context.Context, f DeadFilter, each func(DeadLetter)) error {
	if err := f.check(); err != nil {
		return err
	}
	return DeadAfter(ctx, c.q, c.cfg.Versions, c.cfg.Namespace, f, uuid.Nil, func(l DeadLetter) (bool, error) { each(l); return true, nil })
}

// failureOf reads an error as workers write it; what is none of theirs is a message.
func failureOf(text []byte) Failure {
	if len(text) == 0 {
		return Failure{}
	}
	var f Failure
	if err := json.Unmarshal(text, &f); err != nil {
		return Failure{Message: string(text)}
	}
	return f
}

// DeadLetters groups the dead letters by flow, stage and fingerprint, the largest group first.
func (c *Client) DeadLetters(ctx context.Context, f DeadFilter) ([]DeadGroup, error) {
	most, err := pageSize(f.Most, 10_000)
	if err != nil {
		return nil, err
	}
	type key struct{ flow, stage, fingerprint string }
	groups := make(map[key]*DeadGroup)
	runs := make(map[key]map[uuid.UUID]bool)
	if err := c.dead(ctx, f, func(l DeadLetter) {
		k := key{l.Flow, l.Stage, l.Fingerprint}
		g := groups[k]
		if g == nil {
			g = &DeadGroup{Flow: l.Flow, Stage: l.Stage, Fingerprint: l.Fingerprint, First: l.DiedAt}
			groups[k], runs[k] = g, make(map[uuid.UUID]bool)
		}
		g.Count += l.Indices.Len()
		runs[k][l.Run] = true
		if l.DiedAt.Before(g.First) {
			g.First = l.DiedAt
		}
		if !l.DiedAt.Before(g.Last) {
			g.Last, g.Example, g.ExampleRun, g.ExampleIndex = l.DiedAt, l.Failure, l.Run, l.Indices.Min()
		}
	}); err != nil {
		return nil, err
	}
	all := make([]DeadGroup, 0, len(groups))
	for k, g := range groups {
		g.Runs = len(runs[k])
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b DeadGroup) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return compare(a.Flow+"/"+a.Stage+"/"+a.Fingerprint, b.Flow+"/"+b.Stage+"/"+b.Fingerprint)
	})
	return all[:min(len(all), most)], nil
}

// DeadList lists dead letters, newest first. before is the id of the last letter of the page before, exclusive; the zero id
// means from the newest.
func (c *Client) DeadList(ctx context.Context, f DeadFilter, before uuid.UUID) ([]DeadLetter, error) {
	most, err := pageSize(f.Most, 10_000)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if before == uuid.Nil {
		before = uuid.Max
	}
	x := f.params(c.cfg.Namespace)
	p := db.NewestDeadParams{Namespace: x.Namespace, Before: before, Run: x.Run, Flow: x.Flow, Fingerprint: x.Fingerprint, Since: x.Since, Until: x.Until, Most: deadPage}
	if f.Stage == "" && f.Code == "" {
		p.Most = int32(min(most, deadPage))
	}
	var all []DeadLetter
	for {
		rows, err := c.q.NewestDead(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("reading dead letters: %w", err)
		}
		for _, r := range rows {
			p.Before = r.ID
			l, err := deadLetter(ctx, c.q, c.cfg.Versions, db.DeadRowsRow(r))
			if err != nil {
				return nil, err
			}
			if !f.picks(l) {
				continue
			}
			if all = append(all, l); len(all) == most {
				return all, nil
			}
		}
		if len(rows) < int(p.Most) {
			return all, nil
		}
	}
}

package metamorph

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"axflow/shard"
	"axflow/stage"
)

// The reasons for which rows are parked, as the tables say them.
const (
	parkedDead      = 1
	parkedCancelled = 2
	parkedSkipped   = 3
	parkedAligned   = 4
	parkedUpstream  = 5
	parkedPoison    = 6
	parkedExpired   = 8
	parkedDiscarded = 9
)

// runFacts is what the database says of a run that has ended.
type runFacts struct {
	id      uuid.UUID
	state   stage.RunState
	stages  map[string]*stageFacts
	journal []journalFact
}

type journalFact struct {
	kind, stage string
	at          time.Time
}

type stageFacts struct {
	ord, generation, total, limit         int // total -1: not planned; limit 0: the policy's
	state                                 stage.StageState
	verdict                               bool // it was stopped by failing fast
	byHand                                bool // an operator skipped or marked it
	succeeded, failed, skipped, cancelled int
	parked                                map[int]parkedFact
	results                               map[int][]resultFact // of its generation, by index
	older                                 []resultFact         // of generations before
}

type parkedFact struct{ reason, attempt int }

type resultFact struct {
	generation, index, attempt, delivery int
	outcome                              stage.Outcome
	dispatched, started                  time.Time
	message                              string
	byHand                               bool // an operator's word
}

func (s *stageFacts) parkedFor(reasons ...int) []int {
	var all []int
	for i, p := range s.parked {
		if slices.Contains(reasons, p.reason) {
			all = append(all, i)
		}
	}
	slices.Sort(all)
	return all
}

// same tells whether nothing has happened to a stage.
func (s *stageFacts) same(o *stageFacts) string {
	switch {
	case s.generation != o.generation || s.state != o.state || s.total != o.total:
		return fmt.Sprintf("it is %v in generation %d with %d shards, and was %v in generation %d with %d", s.state, s.generation, s.total, o.state, o.generation, o.total)
	case s.succeeded != o.succeeded || s.failed != o.failed || s.skipped != o.skipped || s.cancelled != o.cancelled:
		return fmt.Sprintf("its counts are %s and were %s", s.counts(), o.counts())
	}
	for i := range s.results {
		if len(s.results[i]) != len(o.results[i]) {
			return fmt.Sprintf("shard %d has %d results and had %d", i, len(s.results[i]), len(o.results[i]))
		}
	}
	return ""
}

func (s *stageFacts) counts() string {
	return fmt.Sprintf("%d/%d/%d/%d (succeeded/failed/skipped/cancelled)", s.succeeded, s.failed, s.skipped, s.cancelled)
}

// read reads a run.
func (c *cluster) read(number int) (*runFacts, error) {
	c.mu.Lock()
	id := c.runs[number]
	c.mu.Unlock()
	f := &runFacts{id: id, stages: make(map[string]*stageFacts)}
	spec := c.s.flow(c.s.run(number).Flow)
	graph := c.flows[spec.Name].Graph()
	byOrd := make(map[int]*stageFacts)
	name := func(ord int) string {
		if ord < 0 {
			return ""
		}
		return graph.Stages[ord].Name
	}
	if err := c.pool.QueryRow(c.ctx, "SELECT state FROM ax.run WHERE run_id = $1", id).Scan(&f.state); err != nil {
		return nil, fmt.Errorf("reading run %d: %w", number, err)
	}
	s := new(stageFacts)
	err := c.each(`SELECT ord, generation, coalesce(shard_total, -1), coalesce(max_attempts, 0), state, succeeded, failed, skipped, cancelled, verdict IS NOT NULL,
		coalesce(reason LIKE 'skipped by %' OR reason LIKE 'marked as %', false) FROM ax.stage WHERE run_id = $1`, id, []any{&s.ord, &s.generation, &s.total, &s.limit, &s.state, &s.succeeded, &s.failed, &s.skipped, &s.cancelled, &s.verdict, &s.byHand}, func() {
		copied := *s
		copied.parked, copied.results = make(map[int]parkedFact), make(map[int][]resultFact)
		byOrd[s.ord] = &copied
		f.stages[name(s.ord)] = &copied
	})
	if err != nil {
		return nil, err
	}
	var ord, generation, reason, attempt int
	var todo string
	err = c.each("SELECT ord, generation, reason, attempt, todo::text FROM ax.parked WHERE run_id = $1", id, []any{&ord, &generation, &reason, &attempt, &todo}, func() {
		set, err := shard.ParseSet(todo)
		if err != nil || byOrd[ord].generation != generation {
			return // the history checker tells
		}
		for i := range set.All() {
			byOrd[ord].parked[i] = parkedFact{reason, attempt}
		}
	})
	if err != nil {
		return nil, err
	}
	r := new(resultFact)
	err = c.each(`SELECT ord, generation, shard, attempt, delivery, outcome, dispatched_at, started_at, coalesce(convert_from(error, 'UTF8'), ''), worker_id = '00000000-0000-0000-0000-000000000000'
		FROM ax.result WHERE run_id = $1 ORDER BY ord, generation, shard, attempt, delivery`, id,
		[]any{&ord, &r.generation, &r.index, &r.attempt, &r.delivery, &r.outcome, &r.dispatched, &r.started, &r.message, &r.byHand}, func() {
			s := byOrd[ord]
			if r.generation != s.generation {
				s.older = append(s.older, *r)
				return
			}
			s.results[r.index] = append(s.results[r.index], *r)
		})
	if err != nil {
		return nil, err
	}
	var j journalFact
	err = c.each("SELECT kind, coalesce(ord, -1), at FROM ax.journal WHERE run_id = $1 ORDER BY at", id, []any{&j.kind, &ord, &j.at}, func() {
		j.stage = name(ord)
		f.journal = append(f.journal, j)
	})
	return f, err
}

// each reads rows one by one.
func (c *cluster) each(sql string, id uuid.UUID, into []any, do func()) error {
	rows, err := c.pool.Query(c.ctx, sql, id)
	if err == nil {
		_, err = pgx.ForEachRow(rows, into, func() error { do(); return nil })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Fields(sql)[0], err)
	}
	return nil
}
